import BeeHive
import TestSupport
import Testing
import Threads

/// The numbers of the items that were made, and of the items that have ended, in order.
private final class Ledger: Sendable {
  private let state = Lock((count: 0, made: [Int](), ended: [Int]()))

  /// The items that were made to be kept.
  var made: [Int] { state.withLock(\.made) }
  var ended: [Int] { state.withLock(\.ended) }

  func make(_ scope: Scope) -> Item {
    state.withLock { state in
      state.count += 1
      if scope != .transient { state.made.append(state.count) }
      return Item(number: state.count, ledger: self)
    }
  }

  func end(_ number: Int) { state.withLock { $0.ended.append(number) } }
}

private struct Item: Disposable {
  static let mock = -1
  let number: Int
  let ledger: Ledger
  func dispose() { ledger.end(number) }
}

/// The services that come and go, by name: the scope of each, and the service that it needs.
private let kinds: [String: (scope: Scope, needs: String?)] = [
  "a": (.singleton, nil), "b": (.singleton, "a"), "c": (.scoped, "a"), "d": (.scoped, "c"),
  "e": (.transient, "b"), "module's": (.singleton, nil), "event's": (.singleton, nil),
]
private let names = kinds.keys.filter { $0 != "event's" }.sorted()

/// A model of a Hive: which items it keeps.
private struct Model {
  typealias Kept = [(entry: Int, number: Int)]

  /// The number of each registration that is there.
  var entries: [String: Int] = [:]
  var last = 0
  var made = 0
  var ended: [Int] = []
  /// The items that the Hive keeps, then the items of each override of the task.
  var kept: [Kept] = [[]]
  var mocked: [String] = []
  var scopes: [Kept] = []
  var isRunning = false
  var hasOwner = true

  mutating func register(_ name: String) {
    guard entries[name] == nil else { return }
    last += 1
    entries[name] = last
  }

  mutating func remove(_ name: String) -> Int {
    guard let entry = entries.removeValue(forKey: name) else { return 0 }
    ended += kept[0].filter { $0.entry == entry }.map(\.number)
    kept[0].removeAll { $0.entry == entry }
    return 1
  }

  mutating func find(_ name: String, in scope: Int?) -> Int? {
    if mocked.contains(name) { return Item.mock }
    guard let entry = entries[name], let kind = kinds[name] else { return nil }
    let keeper = kind.scope == .singleton ? kept[kept.count - 1] : scope.map { scopes[$0] }
    if kind.scope != .transient {
      guard let keeper else { return nil }
      if let known = keeper.first(where: { $0.entry == entry }) { return known.number }
    }
    if let needed = kind.needs {
      let inner = kind.scope == .singleton ? nil : scope
      guard find(needed, in: inner) != nil else { return nil }
    }
    made += 1
    if kind.scope == .singleton { kept[kept.count - 1].append((entry, made)) }
    if kind.scope == .scoped, let scope { scopes[scope].append((entry, made)) }
    return made
  }

  mutating func end(_ kept: Kept) { ended += kept.reversed().map(\.number) }

  /// Returns whether the module hears an event, and notes the item that it makes then.
  mutating func hear() -> Bool {
    guard isRunning, hasOwner else { return false }
    made += 1
    if kept.count > 1 { kept[kept.count - 1].append((0, made)) } else { ended.append(made) }
    return true
  }

  mutating func set(hasOwner: Bool, isRunning: Bool) {
    let (was, isNow) = (self.hasOwner && self.isRunning, hasOwner && isRunning)
    if isNow, !was { register("module's") }
    if was, !isNow { _ = remove("module's") }
    (self.hasOwner, self.isRunning) = (hasOwner, isRunning)
  }

  mutating func stop() {
    set(hasOwner: hasOwner, isRunning: false)
    end(kept[0])
    kept[0] = []
  }
}

private struct Owner: Module {
  @TaskLocal static var ledger = Ledger()

  func setUp(_ context: Context) async throws { try context.hive.register("module's", Self.ledger) }

  func handle(_ event: Event, _ context: Context) async throws -> EventResponse {
    try context.hive.register("event's", Self.ledger)
    _ = try context.hive.service(Item.self, name: "event's")
    return context.hive.remove("event's") == 1 ? .handled : .ignored
  }
}

extension Hive {
  fileprivate func register(_ name: String, _ ledger: Ledger) throws {
    guard let kind = kinds[name] else { return }
    try register(Item.self, name: name, scope: kind.scope) { hive in
      if let needed = kind.needs { _ = try hive.service(Item.self, name: needed) }
      return ledger.make(kind.scope)
    }
  }

  fileprivate func remove(_ name: String) -> Int { remove(Item.self, name: name) }
}

@Suite("A Hive does what a model of it does", .mayHang)
struct ModelTests {
  /// Runs a random sequence. An override of a task is another random sequence inside.
  private func run(
    _ steps: Int, on hive: Hive, _ ledger: Ledger, _ model: inout Model,
    _ scopes: inout [ServiceScope], _ random: inout SeededGenerator
  ) async throws {
    for _ in 0..<steps {
      let name = names.randomElement(using: &random) ?? ""
      switch Int.random(in: 0..<16, using: &random) {
      case 0...1 where name != "module's":
        if model.entries[name] == nil { try hive.register(name, ledger) }
        model.register(name)
      case 2: #expect(hive.remove(name) == model.remove(name))
      case 7:
        guard let entry = hive.entries.first(where: { $0.fields.contains("name=\(name)") }) else {
          continue
        }
        #expect(await [hive.remove(entry), hive.remove(entry)] == [true, false])
        #expect(model.remove(name) == 1)
      case 8: #expect(await hive.trigger(Event(1)).any == model.hear())
      case 9 where model.hasOwner:
        #expect(await hive.unregister(module: "owner"))
        model.set(hasOwner: false, isRunning: model.isRunning)
      case 9:
        try await hive.register(module: Owner.self, name: "owner")
        model.set(hasOwner: true, isRunning: model.isRunning)
      case 3:
        if scopes.isEmpty || !Bool.random(using: &random) {
          scopes.append(hive.makeScope())
          model.scopes.append([])
        } else {
          let place = Int.random(in: scopes.indices, using: &random)
          scopes.remove(at: place).end()
          model.end(model.scopes.remove(at: place))
        }
      case 4:
        await hive.stop()
        model.stop()
      case 5:
        try await hive.start()
        model.set(hasOwner: model.hasOwner, isRunning: true)
      case 6 where steps > 1:
        let mock = Item(number: Item.mock, ledger: ledger)
        model.mocked.append(name)
        model.kept.append([])
        try await hive.overridingInTask(Item.self, name: name, with: mock) { () async throws in
          try await run(steps / 3, on: hive, ledger, &model, &scopes, &random)
        }
        model.mocked.removeLast()
        model.end(model.kept.removeLast())
      default:
        let scope = scopes.isEmpty ? nil : Int.random(in: -1..<scopes.count, using: &random)
        let place = scope == -1 ? nil : scope
        let item: Item? =
          if let place {
            try? scopes[place].service(Item.self, name: name)
          } else {
            try? hive.service(Item.self, name: name)
          }
        #expect(item?.number == model.find(name, in: place))
      }
      try #require(ledger.ended == model.ended)
    }
  }

  @Test("in any sequence of calls")
  func sequences() async throws {
    for seed in 0..<Effort.times(200, full: 100_000) {
      var random = SeededGenerator(seed: UInt64(seed))
      let (ledger, hive) = (Ledger(), Hive())
      try await Owner.$ledger.withValue(ledger) {
        try await hive.register(module: Owner.self, name: "owner")
        var (model, scopes) = (Model(), [ServiceScope]())
        try await run(40, on: hive, ledger, &model, &scopes, &random)
        await hive.stop()
      }
    }
  }

  @Test("on eight threads each thing ends once, and nothing is left")
  func threads() async throws {
    let (ledger, hive) = (Ledger(), Hive())
    try await Owner.$ledger.withValue(ledger) {
      try await hive.register(module: Owner.self, name: "owner")
      await withTaskGroup(of: Void.self) { group in
        for seed in 0..<8 {
          group.addTask {
            var random = SeededGenerator(seed: UInt64(seed))
            for _ in 0..<Effort.times(500, full: 12_500) {
              let name = names.randomElement(using: &random) ?? ""
              switch Int.random(in: 0..<11, using: &random) {
              case 0 where name != "module's": try? hive.register(name, ledger)
              case 1: _ = hive.remove(name)
              case 2: await hive.stop()
              case 3: _ = try? await hive.start()
              case 5: _ = await hive.trigger(Event(1))
              case 6: await hive.unregister(module: "owner")
              case 7: try? await hive.register(module: Owner.self, name: "owner")
              case 4:
                let mock = Item(number: Item.mock, ledger: ledger)
                await hive.overridingInTask(Item.self, name: name, with: mock) {
                  _ = try? hive.service(Item.self, name: "b")
                }
              default:
                let scope = hive.makeScope()
                _ = try? scope.service(Item.self, name: name)
                scope.end()
              }
            }
          }
        }
      }
      await hive.stop()
    }
    #expect(ledger.ended.sorted() == ledger.made)
  }
}
