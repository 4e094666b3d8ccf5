internal import BeeHive
internal import BeeHiveRouting
internal import CTestContracts

/// The bytes that each operation leaves on the heap when it was done many times.
enum Leftovers {
  private typealias Operation = @Sendable (Hive, Int) async throws -> Void

  private final class Thing: Sendable {}

  /// Uses the Hive inside its events.
  private struct User: Module {
    func handle(_ event: Event, _ context: Context) async throws -> EventResponse {
      let hive = context.hive
      let binding = hive.bind("Bound.Elsewhere") { _ in 1 }
      let observation = hive.observe { _ in }
      try hive.register(Int.self, name: "inside", instance: 1)
      _ = try hive.service(Int.self, name: "inside")
      _ = hive.remove(Int.self, name: "inside")
      observation.cancel()
      binding.cancel()
      return .handled
    }
  }

  private static let operations: [(name: String, run: Operation)] = [
    ("look up a singleton", { hive, _ in _ = try hive.service(Thing.self) }),
    ("look up by name", { hive, _ in _ = try hive.service(Thing.self, name: "named") }),
    ("make a transient", { hive, _ in _ = try hive.service(Thing.self, name: "transient") }),
    ("make a weak one", { hive, _ in _ = try hive.service(Thing.self, name: "weak") }),
    (
      "open, use and end a scope",
      { hive, _ in
        let scope = hive.makeScope()
        _ = try scope.makeScope().service(Thing.self, name: "scoped")
        scope.end()
      }
    ),
    (
      "miss, each time another name",
      { hive, number in _ = try? hive.service(Thing.self, name: "\(number)") }
    ),
    (
      "register, ask and remove, each time another name",
      { hive, number in
        try hive.register(Thing.self, name: "n\(number)", scope: .singleton) { _ in Thing() }
        _ = try hive.service(Thing.self, name: "n\(number)")
        _ = hive.remove(Thing.self, name: "n\(number)")
      }
    ),
    (
      "override",
      { hive, _ in
        try await hive.overridingInTask(Thing.self, with: Thing()) { () async throws in
          _ = try hive.service(Thing.self)
        }
      }
    ),
    ("load", { hive, _ in _ = try await hive.load(Thing.self, name: "loaded") }),
    ("report", { hive, _ in _ = hive.report() }),
    (
      "register and take out a route",
      { hive, number in
        let router = Router()
        try router.register("app://page/\(number)/:id") { _ in number }
        router.deregister("app://page/\(number)/:id")
      }
    ),
  ]

  /// Those that modules hear of.
  private static let moduleOperations: [(name: String, run: Operation)] = [
    (
      "trigger, each time another name",
      { hive, number in
        if let event = Event(number: 1000 + number, name: "event \(number)") {
          await hive.trigger(event)
        }
      }
    ),
    (
      "register and unregister a module",
      { hive, _ in
        try await hive.register(module: "guest") { _ in User() }
        await hive.unregister(module: "guest")
      }
    ),
    (
      "stop and start",
      { hive, number in
        if number % 10 == 0 {
          await hive.stop()
          try await hive.start()
        }
      }
    ),
  ]

  /// Does each operation `count` times; says what more than four bytes of stays of each.
  ///
  /// With a multiple of 20,000 also those that modules hear of: the profiler has as many spans before and after.
  static func measure(_ count: Int) async throws -> String {
    let hive = Hive()
    try hive.register(Thing.self, scope: .singleton) { _ in Thing() }
    try hive.register(Thing.self, name: "named", scope: .singleton) { _ in Thing() }
    try hive.register(Thing.self, name: "transient") { _ in Thing() }
    try hive.register(Thing.self, name: "weak", scope: .weak) { _ in Thing() }
    try hive.register(Thing.self, name: "scoped", scope: .scoped) { _ in Thing() }
    try hive.register(Thing.self, name: "loaded", loading: { _ in Thing() })
    try await hive.register(module: User.self)
    try await hive.start()
    let isForModules = count % 20_000 == 0
    for number in 0..<(isForModules ? 20_000 : 0) { hive.profiler.measure("\(number)") {} }
    var left: [String] = []
    for operation in operations + (isForModules ? moduleOperations : []) {
      // Tables grow, and buffers fill, up to some size.
      for number in 0..<count { try await operation.run(hive, number) }
      let before = contract_heap_size()
      for number in 0..<count { try await operation.run(hive, count + number) }
      let each = (Double(contract_heap_size()) - Double(before)) / Double(count)
      if each >= 4 { left.append("\(operation.name): \(each) bytes") }
    }
    await hive.stop()
    return left.isEmpty ? "nothing is left" : left.joined(separator: "\n")
  }
}
