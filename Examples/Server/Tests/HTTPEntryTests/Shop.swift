import BeeHiveRouting
import HTTPTypes
import Synchronization
import Testing

/// A target with remote actions and local ones.
private struct BookTarget: Target {
  static let actions: [Action<BookTarget>] = [
    Action("price", [Parameter("isbn", String.self)], exposure: .remote) { _, arguments in
      let isbn: String = try arguments["isbn"]
      return ["euro": isbn.utf8.count]
    },
    Action("sell", [Parameter("isbn", String.self)]) { _, _ in true },
    Action("nativeSell") { _, _ in true },
    Action("burn", exposure: .remote) { _, _ in throw Secret() },
  ]
}

/// An error whose words must not reach a client.
private struct Secret: Error, CustomStringConvertible {
  let description = "the password is swordfish"
}

/// A value that JSON has no form for.
private struct Opaque: Sendable {}

/// The routes and actions that these tests serve.
enum Shop {
  /// The routes and actions that take a form, and the orders that tests register.
  static let methods: [String: Set<HTTPRequest.Method>] = [
    "books.price": [.get, .post], "app://book/:id<Int>": [.get, .post], "app://order": [.post],
  ]

  static func router() throws -> Router {
    let router = Router()
    try router.mediator.register("books") { BookTarget() }
    try router.register("app://book/:id<Int>?from", exposure: .remote) { call in
      let (id, from): (Int, String?) = (try call["id"], try call["from"])
      return "book \(id), found by \(from ?? "chance")"
    }
    try router.register("app://done", exposure: .remote) { _ in }
    try router.register("app://opaque", exposure: .remote) { _ in Opaque() }
    try router.register("app://storeroom/:shelf<Int>") { _ in Issue.record("a client reached it") }
    // A remote handler whose own, local call goes wrong.
    try router.register("app://clumsy", exposure: .elevated) { [router] _ -> Bool in
      try await router.mediator.perform("books", "sell", ["ledger": "secret"])
    }
    try router.register("app://lost", exposure: .elevated) { [router] _ in
      try await router.open("app://vault")
    }
    return router
  }
}

/// A gate that lets callers pass once it is open, and counts them.
actor Gate {
  private var isOpen = false
  private var count = 0
  private var waiting: [CheckedContinuation<Void, Never>] = []
  private var watching: [(count: Int, continuation: CheckedContinuation<Void, Never>)] = []

  func pass() async {
    count += 1
    for watcher in watching where watcher.count <= count { watcher.continuation.resume() }
    watching.removeAll { $0.count <= count }
    if !isOpen { await withCheckedContinuation { waiting.append($0) } }
  }

  /// Waits until so many have come.
  func arrived(_ wanted: Int = 1) async {
    if count < wanted { await withCheckedContinuation { watching.append((wanted, $0)) } }
  }

  func open() {
    isOpen = true
    for one in waiting { one.resume() }
    waiting = []
  }
}
