import BeeHive
import TestSupport
import Testing
import Threads

@Suite("What leaves a Hive")
struct DepartureTests {
  static let all: [Departure<Hive>] = [
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

  @Test("ends when no lock is held: it may ask the Hive", arguments: all)
  func asks(_ departure: Departure<Hive>) {
    let hasAsked = Lock(false)
    let isOver = Patience.comesToEnd {
      let hive = Hive()
      do {
        try departure.run(hive) {
          Departing { [weak hive] in
            // This takes each of the Hive's locks.
            hive?.observe { _ in }.cancel()
            hive?.bind("x") { _ in 0 }
            _ = hive?.entries
            hasAsked.change { $0 = true }
          }
        }
      } catch { Issue.record(error) }
      #expect(hive.entries.count <= 1)
    }
    #expect(isOver && hasAsked.withLock { $0 })
  }
}
