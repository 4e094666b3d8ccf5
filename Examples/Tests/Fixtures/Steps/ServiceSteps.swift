internal import BeeHive
internal import CTestContracts
internal import Glibc
internal import Synchronization
internal import TestContracts

extension Host {
  /// Resolving, binding and registering.
  static let serviceSteps: [(String, Step)] = [
    ("speak", { _, service in print(try say(service)) }),
    ("greet", { _, _ in print(try Hive.process.service((any Greeter).self).greet()) }),
    ("bind", { _, name in Hive.process.bind(name) { _ in Bound() } }),
    ("casts", { _, _ in print("\(castEverything()) casts") }),
    // A factory of the host that uses the Hive in every way, each of which needs its locks.
    (
      "register-entrant",
      { _, _ in
        try Hive.process.register((any Painter).self, scope: .singleton) { hive in
          useInEveryWay(hive)
          return Bound()
        }
      }
    ),
    ("paint", { _, _ in print(try Hive.process.service((any Painter).self).paint()) }),
    // From now on, C fixtures that call the host use the Hive in every way.
    ("call-back", { _, _ in contract_set_host { useInEveryWay(Hive.process) } }),
    // The same on a thread of its own, for which the caller waits.
    (
      "call-back-thread",
      { _, _ in
        contract_set_host { Threads.run({ useInEveryWay(Hive.process) }, while: {}) }
      }
    ),
    // From now on, C fixtures that call the host open this library.
    (
      "call-back-open",
      { _, path in
        libraryToOpen.withLock { $0 = path }
        contract_set_host { _ = try? Handle(opening: libraryToOpen.withLock { $0 }) }
      }
    ),
  ]

  /// What the C service of this name says.
  static func say(_ service: String) throws -> String {
    let table = unsafe try Hive.process.service(service, as: UnsafePointer<speaker>.self)
    guard let words = unsafe table.pointee.say?() else { throw StepFailure("\(service) is silent") }
    return unsafe String(cString: words)
  }

  private static let libraryToOpen = Guarded("")

  /// Every call that takes a lock of the Hive.
  static func useInEveryWay(_ hive: Hive) {
    _ = hive.entries.count
    hive.refresh()
    hive.bind("Nobody.Asks") { _ in 1 }
    _ = unsafe try? hive.service("NoSuchService", as: OpaquePointer.self)
    _ = try? hive.service((any CustomStringConvertible & Sendable).self)
    try? hive.register(Int.self, name: "entrant", instance: 1)
    hive.removeServices(named: "Swift.Int")
  }

  /// Casts that make the runtime look through the conformances of every image it has ever seen.
  private static func castEverything() -> Int {
    struct Local {}
    let values: [Any] = [1, "one", [1], Local()]
    var count = 0
    for value in values {
      _ = value as? any Greeter
      _ = value as? any CustomStringConvertible
      _ = type(of: value) as? any Painter.Type
      count += 3
    }
    return count
  }
}

/// What the host gives for a name: both services at once.
struct Bound: Greeter, Painter {
  func greet() -> String { "hello, bound" }
  func paint() -> String { "red" }
}
