import BeeHiveRouting
import Testing

/// How a destination is asked for: by URL or by names, as any object or strictly as its type, with the
/// object or with handlers that are told of it.
enum Asking: String, CaseIterable, Sendable {
  case makeByURL, makeByURLStrictly, performWithCompletion
  case makeByName, makeByNameStrictly, performByTargetURL

  /// Whether a target and its action answer, or a route.
  var isAction: Bool { [.makeByName, .makeByNameStrictly, .performByTargetURL].contains(self) }
}

/// What is given to the destination before it is made.
enum Preparation: String, CaseIterable, Sendable { case none, title, wrongTitle }

/// What is asked for.
enum Wanted: String, CaseIterable, Sendable { case editor, wrongID, missing }

/// What ZIKRouter tests: making a destination or performing a route, each with every handler, by name or
/// strictly by type.
@Suite("ZIKRouter")
struct ZIKRouterTests {
  let router = Router()
  let made = Log()

  init() throws {
    let made = made
    try router.register("app://editor/:id<Int>") { call in
      let editor = Editor(
        id: try call["id"], title: try call.userInfo.value("title", as: String?.self))
      await made.add("\(editor)")
      return editor
    }
    try router.mediator.register("pages") { Pages(made: made) }
  }

  @Test("Making and performing, with every preparation, plain and strict: what comes of each")
  func table() async throws {
    let cells: [Wanted: [Preparation: (route: String, action: String)]] = [
      .editor: [
        .none: ("7 -", "7 -"), .title: ("7 notes", "7 notes"),
        .wrongTitle: ("wrong-parameter", "wrong-parameter"),
      ],
      // A route whose type does not fit is none; an action is named, and told what it was given.
      .wrongID: [
        .none: ("no-route", "wrong-parameter"), .title: ("no-route", "wrong-parameter"),
        .wrongTitle: ("no-route", "wrong-parameter"),
      ],
      .missing: [
        .none: ("no-route", "no-action"), .title: ("no-route", "no-action"),
        .wrongTitle: ("no-route", "no-action"),
      ],
    ]
    var trials = 0
    for asking in Asking.allCases {
      for (wanted, row) in cells {
        for (preparation, cell) in row {
          let told = await ask(asking, wanted, preparation)
          let expected = asking.isAction ? cell.action : cell.route
          #expect(told == [expected], "\(asking) \(wanted) \(preparation)")
          let editors = expected.hasPrefix("7") ? [expected] : []
          #expect(await made.take() == editors, "\(asking) \(wanted) \(preparation): made once")
          trials += 1
        }
      }
    }
    #expect(trials == Asking.allCases.count * Wanted.allCases.count * Preparation.allCases.count)
  }

  /// What is told of one asking, in the order in which it is.
  private func ask(
    _ asking: Asking, _ wanted: Wanted, _ preparation: Preparation
  ) async -> [String] {
    var values: Arguments = [:]
    if preparation == .title { values.set("notes", for: "title") }
    if preparation == .wrongTitle { values.set(7, for: "title") }
    let id = wanted == .wrongID ? "seven" : "7"
    let action = wanted == .missing ? "reader" : "editor"
    var named = values
    named.set(wanted == .wrongID ? id as any Sendable : 7, for: "id")
    let url = "app://\(action)/\(id)"
    do {
      switch asking {
      case .makeByURL: return ["\(try await router.open(url, with: values))"]
      case .makeByURLStrictly:
        return ["\(try await router.object(for: url, as: Editor.self, with: values))"]
      case .makeByName:
        let page: any Sendable = try await router.mediator.perform("pages", action, named)
        return ["\(page)"]
      case .makeByNameStrictly:
        return ["\(try await router.mediator.perform("pages", action, named, as: Editor.self))"]
      case .performWithCompletion: return await perform(url, values)
      case .performByTargetURL: return await perform("app://pages/\(action)?id=\(id)", values)
      }
    } catch {
      return [(error as? RoutingError)?.code.rawValue ?? "\(error)"]
    }
  }

  /// What the handlers for success and failure are told: one of them, once.
  private func perform(_ url: String, _ values: Arguments) async -> [String] {
    let told = Log()
    let (done, continuation) = AsyncStream.makeStream(of: String.self)
    await router.open(url, with: values) { result in
      switch result {
      case .success(let value): continuation.yield("\(value)")
      case .failure(let error):
        continuation.yield((error as? RoutingError)?.code.rawValue ?? "\(error)")
      }
    }.value
    continuation.finish()
    for await line in done { await told.add(line) }
    return await told.lines
  }

  @Test(
    "Strict: another type than the declared one is an error that names both",
    arguments: [true, false])
  func testStrict(byURL: Bool) async throws {
    let error = await #expect(throws: RoutingError.self) {
      byURL
        ? try await router.object(for: "app://editor/7", as: String.self)
        : try await router.mediator.perform("pages", "editor", ["id": 7], as: String.self)
    }
    #expect(error?.code == .wrongResult)
    #expect(error?.message.contains("Editor") == true && error?.message.contains("String") == true)
  }

  @Test("Two parameters with different names on one level, and more than nine of them")
  func levels() async throws {
    let pattern = (0..<12).map { "/:p\($0)" }.joined()
    try router.answering("app:/" + pattern)
    let path = (0..<12).map { "/\($0)" }.joined()
    #expect(await router.answer("app:/" + path)?.hasSuffix("p8=8 p9=9") == true)
  }

  @Test("Adapter: the name that one module asks for leads to what another provides")
  func testAdapter() async throws {
    try router.calls.guardCalls(
      "adapter", .action("RequiredEditor", "editor"),
      then: .redirect(to: .action(target: "pages", action: "editor")))
    let editor: Editor = try await router.mediator.perform(
      "RequiredEditor", "editor", ["id": 7, "title": "notes"])
    #expect(editor == Editor(id: 7, title: "notes"))
    try router.register(["required-editor": "app://editor/7"])
    #expect(try await router.object(for: "required-editor", as: Editor.self) == Editor(id: 7))
  }

  @Test("Adapters in a circle: refused where they stand beforehand, else an error with the way")
  func testCircularAdapters() async throws {
    let error = #expect(throws: RoutingError.self) {
      try router.register(["required": "adapted", "adapted": "required"])
    }
    #expect(error?.code == .redirectLoop && error?.message.contains("→") == true)
    for (from, to) in [("A", "B"), ("B", "A")] {
      try router.calls.guardCalls(
        from, .action(from, "x"), then: .redirect(to: .action(target: to, action: "x")))
    }
    let loop = await #expect(throws: RoutingError.self) {
      try await router.mediator.perform("A", "x")
    }
    #expect(loop?.code == .redirectLoop && loop?.message.contains("A.x → B.x → A.x") == true)
  }

  @Test(
    "removeRoute: what was made goes when whoever asked lets it go, the route when it is taken out")
  func testRemoveRoute() async throws {
    let registration = try router.register("app://screen") { _ in Screen() }
    var screen: Screen? = try await router.object(for: "app://screen")
    weak let shown = screen
    #expect(shown != nil && screen != nil)
    screen = nil
    #expect(shown == nil)
    #expect(registration.cancel() && !router.canOpen("app://screen"))
  }

  @Test("Leaks: a call keeps nothing of what it was given, made or told")
  func testLeaks() async throws {
    try router.register("app://keeps") { call -> Screen in
      let _: Screen = try call["given"]
      return Screen()
    }
    var given: Screen? = Screen()
    weak let weakGiven = given
    weak var weakMade: Screen?
    do {
      let made: Screen = try await router.object(
        for: "app://keeps", with: ["given": try #require(given)])
      weakMade = made
      #expect(weakMade != nil)
    }
    given = nil
    #expect(weakGiven == nil && weakMade == nil)

    try router.mediator.register("screen") { Screen() }
    weak var kept: Screen?
    do { kept = try await router.mediator.perform("screen", "me", as: Screen.self) }
    #expect(kept != nil, "a target is kept until it is released")
    #expect(router.mediator.release("screen") && kept == nil)
  }

  @Test("AOP: told before and after whatever a route does, around those who decide")
  func testAOP() async throws {
    let (lines, continuation) = AsyncStream.makeStream(of: String.self)
    try router.register("app://aop") { _ in continuation.yield("performs") }
    router.calls.intercept("before") { _ in
      continuation.yield("decides")
      return .proceed
    }
    router.calls.observe { notice in
      switch notice {
      case .began: continuation.yield("will perform")
      case .ended(_, let error): continuation.yield("did perform, \(error == nil ? "well" : "not")")
      case .ruled: break
      }
    }
    try await router.open("app://aop")
    _ = await router.failure("app://none")
    continuation.finish()
    let log = Log()
    for await line in lines { await log.add(line) }
    #expect(
      await log.lines == [
        "will perform", "decides", "performs", "did perform, well",
        "will perform", "decides", "did perform, not",
      ])
  }
}

private struct Editor: Hashable, Sendable, CustomStringConvertible {
  var id: Int
  var title: String?
  var description: String { "\(id) \(title ?? "-")" }
}

private struct Pages: Target {
  let made: Log
  static let actions: [Action<Pages>] = [
    Action("editor", [Parameter("id", Int.self), Parameter("title", String?.self)]) {
      pages, values in
      let editor = Editor(id: try values["id"], title: try values["title"])
      await pages.made.add("\(editor)")
      return editor
    }
  ]
}

/// Something whose end can be seen.
private final class Screen: Target {
  static let actions: [Action<Screen>] = [Action("me") { screen, _ in screen }]
}
