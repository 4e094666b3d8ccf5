import Registration
import TestSupport
import Testing

@testable import BeeHive

/// Returns modules in random order. Each requires only modules of smaller numbers.
private func randomModules(
  _ count: Int, using generator: inout SeededGenerator
) -> [Entry] {
  let nodes = (0..<count).map { number in
    func earlier(_ most: Int) -> [String] {
      guard number > 0 else { return [] }
      let wanted = Int.random(in: 0...most, using: &generator)
      return (0..<wanted).map { _ in "m\(Int.random(in: 0..<number, using: &generator))" }
    }
    return node(
      "m\(number)", Int.random(in: 0..<8, using: &generator) == 0,
      Int.random(in: -2...2, using: &generator), requires: earlier(3),
      after: earlier(1) + (number % 7 == 0 ? ["absent"] : []),
      file: "lib\(Int.random(in: 0..<20, using: &generator)).so")
  }
  return nodes.shuffled(using: &generator)
}

/// Returns the declared order by its definition alone. Of the modules whose predecessors have started, the next is
/// the first by level, priority, path and name. All that a basic module requires is basic.
private func naiveOrder(_ nodes: [Entry]) -> [String] {
  var basic = Set(nodes.filter { $0.attributes.moduleLevel == .basic }.map(\.name))
  while true {
    let required = nodes.filter { basic.contains($0.name) }.flatMap(\.attributes.requires)
    guard !basic.isSuperset(of: required) else { break }
    basic.formUnion(required)
  }
  let names = Set(nodes.map(\.name))
  var started: [String] = []
  var isStarted: Set<String> = []
  var rest = nodes.sorted { a, b in
    let levels = (basic.contains(a.name) ? 0 : 1, basic.contains(b.name) ? 0 : 1)
    guard case .code(let file, _) = a.source, case .code(let other, _) = b.source else {
      return false
    }
    return (levels.0, -a.attributes.priority, file, a.name) < (
      levels.1, -b.attributes.priority, other, b.name
    )
  }
  while let next = rest.firstIndex(where: {
    ($0.attributes.requires + $0.attributes.after).allSatisfy {
      !names.contains($0) || isStarted.contains($0)
    }
  }) {
    let node = rest.remove(at: next)
    started.append(node.name)
    isStarted.insert(node.name)
  }
  return started
}

@Suite("The order of many modules with random requirements")
struct LaunchOrderGraphTests {
  @Test("1,000 modules start in the declared order", arguments: [1, 2, 3, 4] as [UInt64])
  func declaredOrder(seed: UInt64) {
    var generator = SeededGenerator(seed: seed)
    let nodes = randomModules(1000, using: &generator)
    let order = LaunchOrder(nodes)
    #expect(order.problems.isEmpty)
    #expect(order.modules.map(\.name) == naiveOrder(nodes))
    #expect(!order.lifts.isEmpty)
  }

  @Test("1,000 modules are launched in the declared order, and torn down in reverse")
  func launched() async throws {
    var generator = SeededGenerator(seed: 10)
    let nodes = randomModules(1000, using: &generator)
    let (hive, journal) = (Hive(), Journal())
    for node in nodes {
      guard case .code(let file, let line) = node.source else { continue }
      try await hive.register(
        module: node.name, level: node.attributes.moduleLevel, priority: node.attributes.priority,
        requires: node.attributes.requires, after: node.attributes.after, file: file, line: line
      ) { _ in Probe(node.name, journal) }
    }
    let order = naiveOrder(nodes)
    #expect(try await hive.start().started == order)
    for step in ["setUp", "initialize", "splash"] {
      #expect(journal.lines.filter { $0.hasSuffix(step) } == order.map { "\($0).\(step)" })
    }
    #expect(journal.take().count == 3000)
    #expect(await hive.stop().isEmpty)
    #expect(
      journal.lines
        == ["tearDown", "unmount"].flatMap { step in
          order.reversed().map { "\($0).\(step)" }
        })
  }

  /// Returns a root that requires modules whose requirements, the leaves, require the root: a cycle for each leaf.
  private func tangle(_ width: Int) -> [Entry] {
    var nodes = [node("root", requires: (0..<width).map { "\($0)" })]
    for middle in 0..<width {
      let leaves = (0..<width).map { "\(middle).\($0)" }
      nodes.append(node("\(middle)", requires: leaves))
      nodes += leaves.map { node($0, requires: ["root"]) }
    }
    return nodes
  }

  @Test("a tangle of circles without end is told of, and none of it starts", .mayHang)
  func tangle() {
    let nodes = tangle(Effort.times(30, full: 200))
    let order = LaunchOrder(nodes)
    #expect(order.modules.isEmpty)
    let named = Set(order.cycles.flatMap { $0.map(\.name) })
    #expect(order.cycles.allSatisfy { $0.contains { $0.name == "root" } }, "each is closed by it")
    #expect(named.contains("root"))
    #expect(nodes.allSatisfy { named.contains($0.name) || order.blocked[$0.name] != nil })
  }

  /// Returns the graph of what the modules start after, by position.
  private func graph(_ nodes: [Entry]) -> ModuleGraph {
    let positions = Dictionary(uniqueKeysWithValues: nodes.enumerated().map { ($1.name, $0) })
    return ModuleGraph(
      requires: nodes.map { $0.attributes.requires.compactMap { positions[$0] } },
      follows: nodes.map { $0.attributes.after.compactMap { positions[$0] } })
  }

  @Test("in a tangle no more edges are followed than were allowed, and one circle is found")
  func bounded() {
    let graph = graph(tangle(30))
    let edges = graph.requires.joined().count
    let whole = graph.cycles()
    #expect(whole.followed > 100 * edges)
    let bounded = graph.cycles(mostSteps: 10 * edges)
    // The last search ends once it has begun, so it may pass the limit a little.
    #expect((10 * edges...11 * edges).contains(bounded.followed))
    #expect(bounded.members == whole.members)
    #expect(!bounded.paths.isEmpty && bounded.paths.count < whole.paths.count)
    #expect(graph.cycles(mostSteps: 0).paths.count == 1)
  }

  @Test("each circle planted among 1,000 modules is named exactly", arguments: [5, 6] as [UInt64])
  func plantedRings(seed: UInt64) {
    var generator = SeededGenerator(seed: seed)
    var nodes = randomModules(1000, using: &generator)
    var rings: Set<Set<String>> = []
    for ring in 0..<12 {
      let names = (0..<Int.random(in: 1...9, using: &generator)).map { "ring\(ring).\($0)" }
      rings.insert(Set(names))
      for (position, name) in names.enumerated() {
        let next = names[(position + 1) % names.count]
        let isRequirement = Bool.random(using: &generator)
        nodes.append(
          node(
            name, requires: isRequirement ? ["m1", next] : ["m2"],
            after: isRequirement ? [] : [next], file: "ring\(ring)"))
      }
      // An innocent module needs a member, but no member needs it.
      let innocent = Int.random(in: 0..<1000, using: &generator)
      if !["m0", "m1", "m2"].contains(nodes[innocent].name) {
        nodes[innocent].attributes.requires.append(names[0])
      }
    }
    let order = LaunchOrder(nodes.shuffled(using: &generator))
    #expect(Set(order.cycles.map { Set($0.map(\.name)) }) == rings)
    #expect(order.cycles.count == rings.count)
    for cycle in order.cycles {
      #expect(cycle.first == cycle.last)
      #expect(Set(cycle.map(\.name)).count == cycle.count - 1)
      for (module, next) in zip(cycle, cycle.dropFirst()) {
        #expect(nodes.contains(module))
        #expect((module.attributes.requires + module.attributes.after).contains(next.name))
      }
    }
    let left = Set(nodes.map(\.name)).subtracting(order.modules.map(\.name))
    #expect(left == Set(order.blocked.keys).union(rings.joined()))
  }

  @Test("each edge is followed once for all, also in one long chain or one circle", .mayHang)
  func many() {
    var generator = SeededGenerator(seed: 9)
    func ring(_ count: Int) -> [Entry] {
      (0..<count).map {
        node("m\($0)", requires: ["m\(($0 + 1) % count)"], file: "f")
      }
    }
    for count in [1_000, 10_000] {
      let random = randomModules(count, using: &generator)
      #expect(LaunchOrder(random).modules.count == count)
      #expect(graph(random).cycles().followed == 0)
      let circle = LaunchOrder(ring(count))
      #expect(circle.modules.isEmpty && circle.cycles.map(\.count) == [count + 1])
      #expect(graph(ring(count)).cycles().followed == count)
      let chain = LaunchOrder(ring(count).dropLast(), started: [ring(count)[count - 1]])
      #expect(chain.modules.map(\.name) == (0..<count - 1).reversed().map { "m\($0)" })
      #expect(graph(ring(count).dropLast()).cycles().followed == 0)
    }
  }
}
