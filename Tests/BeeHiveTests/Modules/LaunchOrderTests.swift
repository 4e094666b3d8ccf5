import Registration
import Testing

@testable import BeeHive

/// A module, declared in the file "app" unless told otherwise.
func node(
  _ name: String, _ isBasic: Bool = false, _ priority: Int = 0, version: String? = nil,
  requires: [String] = [], after: [String] = [], file: String = "app"
) -> Entry {
  var attributes = Attributes()
  attributes.version = version
  attributes.level = isBasic ? "basic" : nil
  attributes.priority = priority
  (attributes.requires, attributes.after) = (requires, after)
  return Entry(
    kind: .module, name: name, attributes: attributes, source: .code(file: file, line: 1),
    state: .bound)
}

@Suite("The order in which modules start")
struct LaunchOrderTests {
  static let rows: [(rule: String, nodes: [Entry], order: String)] = [
    (
      "basic before normal, whatever the priority", [node("a", false, 9), node("b", true, -1)], "ba"
    ),
    (
      "larger priority first within a level",
      [node("a", false, 1), node("b", false, 2), node("c", true, 0), node("d", true, 1)], "dcba"
    ),
    (
      "ties by the image's path, then by name",
      [node("a", file: "libz.so"), node("c", file: "libb.so"), node("b", file: "libb.so")], "bca"
    ),
    (
      "a requirement binds against priority and name",
      [node("a", false, 5, requires: ["z"]), node("z")], "za"
    ),
    ("a requirement binds against the level", [node("a", requires: ["b"]), node("b", true)], "ba"),
    ("after binds where both are present", [node("a", after: ["b"]), node("b")], "ba"),
    (
      "after is nothing where the other is absent", [node("a", after: ["nobody"]), node("b")], "ab"
    ),
    (
      "after does not lift: the basic module waits for the normal ones before it",
      [node("a", true, after: ["c"]), node("b", false, 1), node("c")], "bca"
    ),
    (
      "a basic module lifts what it requires above the other normal ones",
      [node("a", false, 9), node("b", true, requires: ["c"]), node("c")], "cba"
    ),
    (
      "a lifted module ranks among the basic ones by its priority",
      [node("a", true, 1), node("b", true, requires: ["c"]), node("c", false, 5), node("d", true)],
      "cabd"
    ),
    (
      "what a lifted module requires is lifted too",
      [
        node("a", false, 9), node("b", true, requires: ["c"]), node("c", requires: ["d"]),
        node("d"),
      ], "dcba"
    ),
    (
      "what becomes free ranks at once among the others",
      [node("a"), node("b", false, 9, requires: ["a"]), node("c", false, -1)], "abc"
    ),
    (
      "a requirement named twice is one requirement",
      [node("a", requires: ["b", "b"], after: ["b"]), node("b")], "ba"
    ),
  ]

  @Test("follows the rule, however the modules were registered", arguments: rows)
  func rule(rule: String, nodes: [Entry], names: String) {
    for nodes in [nodes, nodes.reversed()] {
      let order = LaunchOrder(nodes)
      #expect(order.modules.map(\.name).joined() == names, "\(rule)")
      #expect(order.problems.isEmpty)
    }
  }

  @Test("says who was lifted, and by whom")
  func lifts() {
    let order = LaunchOrder([
      node("b", true, requires: ["c"]), node("c", requires: ["d"]), node("d"), node("e"),
    ])
    #expect(order.lifts[0] == "c starts among the basic modules: b requires it")
    #expect(order.lifts.dropFirst() == ["d starts among the basic modules: c requires it"])
  }

  @Test("a missing requirement takes out its module and whatever requires that, and nothing else")
  func missing() {
    let order = LaunchOrder([
      node("a", requires: ["nobody"]), node("b", requires: ["a"]), node("c", requires: ["b"]),
      node("d", after: ["a"]), node("e"),
    ])
    #expect(order.modules.map(\.name) == ["d", "e"])
    #expect(order.missing.map(\.module.name) == ["a"])
    #expect(order.blocked == ["b": "a", "c": "b"])
    #expect(
      order.problems == [
        "module a (app:1) requires nobody, which nothing in this process declares; load what declares "
          + "it, or say after in place of requires"
      ])
  }

  @Test("a requirement that runs already is met; one that is switched off says so")
  func startedAndUnavailable() {
    let nodes = [node("a", requires: ["log"])]
    #expect(LaunchOrder(nodes, started: [node("log")]).modules.map(\.name) == ["a"])
    let order = LaunchOrder(nodes, unavailable: ["log": "is switched off"])
    #expect(order.problems == ["module a (app:1) requires log, which is switched off"])
  }

  @Test("a module of another version than is required is named, with its version and what will do")
  func versions() {
    let order = LaunchOrder(
      [
        node("good", requires: ["log >=1.2 <2", "net"]), node("old", requires: ["log >=2"]),
        node("any", requires: ["net =1"]), node("late", requires: ["disk <1"]),
        node("log", version: "1.10"), node("net"), node("broken", requires: ["net >=x"]),
      ],
      started: [node("disk", version: "1.0-rc.1")])
    #expect(order.modules.map(\.name) == ["late", "log", "net", "good"])
    #expect(
      order.problems == [
        "module any (app:1) requires net, which says no version, where =1 is required",
        "module broken (app:1) requires net, which is there; which versions will do, >=x, cannot be read",
        "module old (app:1) requires log, which is of version 1.10, not >=2",
      ])
  }

  @Test("a circle is one value: the whole path, and the file and kind of each edge")
  func cycle() {
    let order = LaunchOrder([
      node("storage", requires: ["log"], file: "libstorage.so"),
      node("log", after: ["metrics"], file: "liblog.so"),
      node("metrics", requires: ["storage"], file: "libmetrics.so"),
      node("shop", requires: ["log"]), node("free"),
    ])
    #expect(
      order.problems == [
        "modules log → metrics → storage → log wait for each other, so none of them can start "
          + "(liblog.so:1 by `after`, libmetrics.so:1, libstorage.so:1)"
      ])
    #expect(order.modules.map(\.name) == ["free"])
    #expect(order.blocked == ["shop": "log"])
  }

  @Test("a module that requires itself is a circle of one")
  func selfCycle() {
    let order = LaunchOrder([node("a", requires: ["a"]), node("b")])
    #expect(order.cycles.map { $0.map(\.name) } == [["a", "a"]])
    #expect(order.modules.map(\.name) == ["b"])
  }

  @Test("two circles through one module are both named")
  func sharedCycles() {
    let order = LaunchOrder([
      node("a", requires: ["b", "c"]), node("b", requires: ["a"]), node("c", requires: ["a"]),
    ])
    #expect(order.cycles.map { $0.map(\.name) } == [["a", "b", "a"], ["a", "c", "a"]])
  }

  @Test("following a module that cannot start closes no circle")
  func optionalCycle() {
    let order = LaunchOrder([
      node("a", requires: ["b", "nobody"]), node("b", after: ["a"]),
    ])
    #expect(order.cycles.isEmpty)
    #expect(order.modules.map(\.name) == ["b"])
  }
}
