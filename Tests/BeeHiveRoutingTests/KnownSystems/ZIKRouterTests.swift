import BeeHiveRouting
import Testing

/// What ZIKRouter tests: making a destination or performing a route, each with every handler, by name or
/// strictly by type.
@Suite("ZIKRouter")
struct ZIKRouterTests {
  let router = Router()

  init() throws {
    try router.register("app://editor/:id<Int>") { call in
      Editor(id: try call["id"], title: try call.userInfo.value("title", as: String?.self))
    }
  }

  @Test func testMakeDestination() async throws {
    #expect(try await router.object(for: "app://editor/7", as: Editor.self) == Editor(id: 7))
  }

  @Test func testMakeDestinationWithPreparation() async throws {
    let made: Editor = try await router.object(for: "app://editor/7", with: ["title": "notes"])
    #expect(made == Editor(id: 7, title: "notes"))
  }

  @Test func testPerformWithSuccess() async throws {
    #expect(await perform("app://editor/7") == "7")
  }

  @Test func testPerformWithError() async throws {
    #expect(await perform("app://editor/x") == "no-route")
    #expect(await perform("app://reader/7") == "no-route")
  }

  @Test("Strict: another type than the declared one is an error, and so is another parameter")
  func strict() async throws {
    await #expect(throws: RoutingError.self) {
      try await router.object(for: "app://editor/7", as: String.self)
    }
    await #expect(throws: RoutingError.self) {
      try await router.object(for: "app://editor/7", as: Editor.self, with: ["title": 7])
    }
  }

  @Test("Two parameters with different names on one level, and more than nine of them")
  func levels() async throws {
    let pattern = (0..<12).map { "/:p\($0)" }.joined()
    try router.answering("app:/" + pattern)
    let path = (0..<12).map { "/\($0)" }.joined()
    #expect(await router.answer("app:/" + path)?.hasSuffix("p8=8 p9=9") == true)
  }

  /// What the completion is told, in a word.
  private func perform(_ url: String) async -> String {
    await withCheckedContinuation { continuation in
      router.open(url) { result in
        switch result {
        case .success(let value): continuation.resume(returning: "\((value as? Editor)?.id ?? 0)")
        case .failure(let error):
          continuation.resume(returning: (error as? RoutingError)?.code.rawValue ?? "\(error)")
        }
      }
    }
  }
}

private struct Editor: Hashable, Sendable {
  var id: Int
  var title: String?
}
