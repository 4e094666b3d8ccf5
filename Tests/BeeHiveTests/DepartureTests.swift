import BeeHive
import TestSupport
import Testing
import Threads

/// Asks when it ends.
private final class Departing: Sendable {
  private let ask: @Sendable () -> Void
  init(_ ask: @escaping @Sendable () -> Void) { self.ask = ask }
  deinit { ask() }
  func stay() {}
}

/// A way in which something of the user's leaves a Hive.
private struct Departure: Sendable, CustomTestStringConvertible {
  var testDescription: String
  /// Gives the Hive what `make` makes, keeping nothing of it, and takes it away.
  var run: @Sendable (Hive, _ make: () -> Departing) throws -> Void

  init(_ name: String, _ run: @escaping @Sendable (Hive, () -> Departing) throws -> Void) {
    (testDescription, self.run) = (name, run)
  }

  static let all = [
    Departure("an instance is removed") { hive, make in
      try hive.register(Departing.self, instance: make())
      #expect(hive.remove(Departing.self) == 1)
    },
    Departure("a singleton goes with its registration") { hive, make in
      let object = Lock<Departing?>(make())
      try hive.register(Departing.self, scope: .singleton) { _ in
        try #require(object.withLock { $0.take() })
      }
      _ = try hive.service(Departing.self)
      #expect(hive.remove(Departing.self) == 1)
    },
    Departure("a factory is removed") { hive, make in
      try hive.register(String.self) { [object = make()] _ in
        object.stay()
        return ""
      }
      #expect(hive.remove(String.self) == 1)
    },
    Departure("a binding is replaced") { hive, make in
      hive.bind("app.Clock") { [object = make()] _ in
        object.stay()
        return 1
      }
      hive.bind("app.Clock") { _ in 2 }
    },
    Departure("an observation is cancelled") { hive, make in
      let observation = hive.observe { [object = make()] _ in object.stay() }
      observation.cancel()
    },
    Departure("an attached object's scope ends") { hive, make in
      let object = Lock<Departing?>(make())
      try hive.register(Departing.self, scope: .scoped) { _ in
        try #require(object.withLock { $0.take() })
      }
      _ = try hive.makeScope().service(Departing.self)
    },
  ]
}

@Suite("What leaves a Hive")
struct DepartureTests {
  @Test("ends when no lock is held: it may ask the Hive", arguments: Departure.all)
  fileprivate func asks(_ departure: Departure) {
    let state = Lock((hasAsked: false, isOver: false))
    let isThere = POSIXThread.detach {
      let hive = Hive()
      do {
        try departure.run(hive) {
          Departing { [weak hive] in
            // Each of the Hive's locks.
            hive?.observe { _ in }.cancel()
            hive?.bind("x") { _ in 0 }
            _ = hive?.entries
            state.change { $0.hasAsked = true }
          }
        }
      } catch { Issue.record(error) }
      #expect(hive.entries.count <= 1)
      state.change { $0.isOver = true }
    }
    #expect(isThere)
    Patience.block { state.withLock { $0.isOver } }
    #expect(state.withLock { $0 } == (true, true))
  }
}
