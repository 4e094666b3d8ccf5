import BeeHive
import BeeHiveTesting
import Foundation
import Synchronization
import TestSupport
import Testing

private protocol Mail: Sendable { var server: String { get } }
private struct MockMail: Mail { let server: String }

/// A library in C with one module, one service, and a record that is rejected.
private let shop = Result {
  try Compiler.library(
    """
    #include <BeeHive.h>
    static bool set_up(const beehive_context *context) { return context != 0; }
    static const beehive_module_operations basket = {.set_up = set_up};
    static const int cart = 1;
    BEEHIVE_MODULE(Shop.Basket, &basket);
    BEEHIVE_SERVICE(Shop.Cart, Shop.PaperCart, &cart);
    BEEHIVE_SERVICE(Shop.Till, Shop.PaperTill, &cart, BEEHIVE_SCOPE("for ever"));
    """, as: "libshop.so")
}

/// The issues that a call records. These tests are about them; all other issues fail the test as usual.
private final class RecordedIssues: Sendable {
  @TaskLocal private static var current: RecordedIssues?
  private let issues = Mutex<[Issue]>([])

  /// Returns the issues that a call records.
  static func of(_ call: () -> Void) -> [Issue] {
    let recorded = RecordedIssues()
    $current.withValue(recorded, operation: call)
    return recorded.issues.withLock(\.self)
  }

  /// Keeps an issue that such a call records; returns any other issue.
  static func take(_ issue: Issue) -> Issue? {
    guard let current else { return issue }
    current.issues.withLock { $0.append(issue) }
    return nil
  }
}

@Suite("What tests of clients write", .compactMapIssues(RecordedIssues.take))
struct BeeHiveTestingTests {
  /// An expectation of the library, and the issue that it records; nil if it records none.
  struct Expectation: CustomTestStringConvertible, Sendable {
    var kind: RecordKind
    var name: String
    var implementation: String?
    var issue: String?

    var testDescription: String { "\(kind) \(name) → \(implementation ?? "–")" }
  }

  static let there =
    "it declares module Shop.Basket → basket, service Shop.Cart → Shop.PaperCart, libshop.so BeehiveRecords[2] rejected: "

  static let expectations = [
    Expectation(kind: .module, name: "Shop.Basket"),
    Expectation(kind: .service, name: "Shop.Cart", implementation: "Shop.PaperCart"),
    Expectation(kind: .service, name: "Cart", implementation: "PaperCart"),
    Expectation(
      kind: .module, name: "Shop.Cart", issue: "does not declare module Shop.Cart; \(there)"),
    Expectation(
      kind: .service, name: "Cart", implementation: "TinCart",
      issue: "does not declare service Cart → TinCart; \(there)"),
    Expectation(kind: .service, name: "Shop.Catr", issue: "; did you mean Shop.Cart?"),
    Expectation(
      kind: .service, name: "Shop.Till", issue: "does not declare service Shop.Till; \(there)"),
  ]

  @Test("a file is held to what it declares, and says what it has instead", arguments: expectations)
  func registered(_ expectation: Expectation) throws {
    let file = try shop.get()
    let issues = RecordedIssues.of {
      expectRegistered(file, expectation.kind, expectation.name, as: expectation.implementation)
    }
    #expect(issues.count == (expectation.issue == nil ? 0 : 1))
    for issue in issues {
      let said = issue.comments.map(\.rawValue)
      #expect(said.contains { $0.contains(expectation.issue ?? "") }, "\(said)")
    }
  }

  @Test("a file that cannot be read is an issue too")
  func unreadable() {
    let issues = RecordedIssues.of { expectRegistered("libnowhere.so", .module, "Shop.Basket") }
    #expect(issues.map { ($0.error as? ImageError)?.image } == [builtFile("libnowhere.so")])
    // A link leads to a release build.
    let built = URL(filePath: builtFile("libnowhere.so")).resolvingSymlinksInPath()
    #expect(built == Repository.products.appending(path: "libnowhere.so"))
    #expect(builtFile("./libnowhere.so") == "./libnowhere.so")
  }

  @Test("a Hive of an opened library has its entries alone, and what it does is recorded")
  func opening() async throws {
    let hive = try Hive(opening: shop.get())
    #expect(hive.entries.map(\.name) == ["Shop.Basket", "Shop.Cart", "Shop.Till"])
    let recorder = NoticeRecorder(hive, fromStart: true)
    #expect(recorder.notices.count == 3)
    try await hive.start()
    await hive.stop()
    #expect(recorder.steps.first == "Shop.Basket setUp")
    #expect(recorder.steps.last == "Shop.Basket unmount")
    #expect(throws: Problem.self) { try Hive(opening: "libnowhere.so") }
  }

  @Test("a recorder that is gone hears nothing")
  func forgotten() throws {
    let hive = Hive()
    var recorder: NoticeRecorder? = NoticeRecorder(hive)
    try hive.register(Int.self, instance: 1)
    #expect(recorder?.notices.count == 1)
    recorder = nil
    try hive.register(String.self, instance: "")
  }

  @Test("planted entries follow the rules of files")
  func planting() throws {
    let hive = try Hive(
      planting: Registrations(
        moduleClasses: [.init(moduleClass: "Shop.Shelf")],
        services: [.init(service: "Shop.Cart", impl: "Shop.TinCart")]))
    #expect(hive.entries.map(\.name) == ["Shop.Shelf", "Shop.Cart"])
    let twice = [
      Registrations.Service(service: "Shop.Cart", impl: "A"),
      .init(service: "Shop.Cart", impl: "A"),
    ]
    let problem = #expect(throws: Problem.self) {
      try Hive(planting: Registrations(services: twice))
    }
    #expect(problem?.code == .duplicate)
  }

  /// One Hive for tests that run concurrently.
  private static let shared = Hive()

  @Test(
    "a test has its override to itself, made anew for each case",
    .overriding((any Mail).self, in: shared, with: MockMail(server: "mock")), arguments: 0..<4)
  func overriding(_ index: Int) async throws {
    #expect(try Self.shared.service((any Mail).self).server == "mock")
    #expect(try await Task { try Self.shared.service((any Mail).self).server }.value == "mock")
    await #expect(throws: ServiceError.self) {
      try await Task.detached { try Self.shared.service((any Mail).self) }.value
    }
  }
}
