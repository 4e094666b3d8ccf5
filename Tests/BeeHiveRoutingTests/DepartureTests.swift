public import BeeHiveRouting
public import TestSupport
import Testing
import Threads

extension Departing: Target {
  /// An action that does nothing with its target.
  public static let actions: [Action<Departing>] = [Action("stay") { target, _ in target.stay() }]
}

@Suite("What leaves a router")
struct DepartureTests {
  private let router = Router()

  static let all: [Departure<Router>] = [
    Departure("a route's registration is cancelled") { router, make in
      let registration = try router.register("/a") { [object = make()] _ in object.stay() }
      registration.cancel()
    },
    Departure("a pattern is taken out") { router, make in
      try router.register("/a") { [object = make()] _ in object.stay() }
      #expect(router.deregister("/a"))
    },
    Departure("every route is taken out") { router, make in
      try router.register("/a") { [object = make()] _ in object.stay() }
      router.deregisterAll()
    },
    Departure("who answers what nobody answers is replaced") { router, make in
      router.unmatched { [object = make()] _ in object.stay() }
      router.unmatched { _ in }
    },
    Departure("a target is taken out") { router, make in
      try router.mediator.register("shop") { [object = make()] in object }
      #expect(router.mediator.deregister("shop"))
    },
    Departure("a fallback is replaced") { router, make in
      router.mediator.fallback { [object = make()] _ in object.stay() }
      router.mediator.fallback { _ in }
    },
    Departure("an observer of calls is taken out") { router, make in
      let observation = router.calls.observe { [object = make()] _ in object.stay() }
      observation.cancel()
    },
    Departure("an interceptor is taken out") { router, make in
      let interception = router.calls.intercept("a") { [object = make()] _ in
        object.stay()
        return .proceed
      }
      interception.cancel()
    },
    Departure("a named guard is replaced") { router, make in
      router.calls.define(guard: "healthy") { [object = make()] _ in
        object.stay()
        return true
      }
      router.calls.define(guard: "healthy") { _ in true }
    },
    Departure("a table whose guard was replaced is taken out") { router, make in
      router.calls.define(guard: "healthy") { [object = make()] _ in
        object.stay()
        return true
      }
      let block = rule("a", "{}", when: #"{"guard": "healthy"}"#, do: #"{"block": "no"}"#)
      let loaded = try router.calls.load(table(block))
      router.calls.define(guard: "healthy") { _ in true }
      loaded.cancel()
    },
  ]

  /// Takes each of the router's locks.
  private static func askAll(of router: Router) {
    _ = router.routes
    _ = router.mediator.declarations
    _ = router.calls.table
    router.calls.observe { _ in }.cancel()
    router.calls.define(guard: "another") { _ in true }
  }

  @Test("ends when no lock is held: it may ask the router", arguments: all)
  func asks(_ departure: Departure<Router>) {
    let hasAsked = Lock(false)
    let isOver = Patience.comesToEnd {
      let router = Router()
      do {
        try departure.run(router) {
          Departing {
            Self.askAll(of: router)
            hasAsked.change { $0 = true }
          }
        }
      } catch { Issue.record(error) }
    }
    #expect(isOver && hasAsked.withLock { $0 })
  }

  @Test("the instance of a target is let go when no lock is held")
  func release() async throws {
    let hasAsked = Lock(false)
    try router.mediator.register("shop") {
      Departing {
        Self.askAll(of: router)
        // This takes the lock of the instance itself.
        _ = router.mediator.release("shop")
        hasAsked.change { $0 = true }
      }
    }
    try await router.mediator.perform("shop", "stay")
    #expect(Patience.comesToEnd { _ = router.mediator.release("shop") })
    #expect(hasAsked.withLock { $0 })
  }

  @Test("a call keeps nothing of what it was given or made")
  func calls() async throws {
    try router.register("app://keeps") { call in
      let _: Departing = try call["given"]
      return Departing {}
    }
    weak var given: Departing?
    weak var made: Departing?
    do {
      let object = Departing {}
      given = object
      made = try await router.object(
        for: "app://keeps", as: Departing.self, with: ["given": object])
    }
    #expect(given == nil && made == nil)
  }
}
