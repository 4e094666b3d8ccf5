import Registration
import Testing

@testable import BeeHive

/// Returns a module, by default declared in the file "app".
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

  /// Sets of modules with obstacles to their start, and the words about each.
  static let obstacles:
    [(
      nodes: [Entry], started: [Entry], order: String, blocked: [String: String],
      problems: [String]
    )] = [
      // A missing requirement keeps out its module and all that requires that module, and nothing else.
      (
        [
          node("a", requires: ["nobody"]), node("b", requires: ["a"]), node("c", requires: ["b"]),
          node("d", after: ["a"]), node("e"),
        ], [], "de", ["b": "a", "c": "b"],
        [
          "module a (app:1) requires nobody, which nothing in this process declares; load what declares "
            + "it, or say after instead of requires"
        ]
      ),
      // A requirement that runs already is met.
      ([node("a", requires: ["log"])], [node("log")], "a", [:], []),
      // A module whose version does not fit is named, with its version and the versions that will do.
      (
        [
          node("g", requires: ["log >=1.2 <2", "n"]), node("o", requires: ["log >=2"]),
          node("x", requires: ["n =1"]), node("l", requires: ["disk <1"]), node("n"),
          node("b", requires: ["n >=x"]),
        ], [node("disk", version: "1.0-rc.1"), node("log", version: "1.10")], "lng", [:],
        [
          "module b (app:1) requires n, which is there, but the required versions, >=x, cannot be read",
          "module o (app:1) requires log, which is of version 1.10, not >=2",
          "module x (app:1) requires n, which has no version, but =1 is required",
        ]
      ),
      // A cycle is one value: the whole path, and the file and kind of each edge.
      (
        [
          node("storage", requires: ["log"], file: "libstorage.so"),
          node("log", after: ["metrics"], file: "liblog.so"),
          node("metrics", requires: ["storage"], file: "libmetrics.so"),
          node("shop", requires: ["log"]), node("f"),
        ], [], "f", ["shop": "log"],
        [
          "modules log → metrics → storage → log wait for each other, so none of them can start "
            + "(liblog.so:1 by `after`, libmetrics.so:1, libstorage.so:1)"
        ]
      ),
      // A module that requires itself is a cycle of one.
      (
        [node("a", requires: ["a"]), node("b")], [], "b", [:],
        ["module a waits for itself, so it cannot start (app:1)"]
      ),
      // Two cycles through one module are both named.
      (
        [node("a", requires: ["b", "c"]), node("b", requires: ["a"]), node("c", requires: ["a"])],
        [], "", [:],
        ["b", "c"].map {
          "modules a → \($0) → a wait for each other, so none of them can start (app:1, app:1)"
        }
      ),
    ]

  @Test("names what cannot start and why, and orders the rest", arguments: obstacles)
  func obstacle(
    nodes: [Entry], started: [Entry], names: String, blocked: [String: String], problems: [String]
  ) {
    let order = LaunchOrder(nodes, started: started)
    #expect(order.modules.map(\.name).joined() == names)
    #expect(order.blocked == blocked)
    #expect(order.problems == problems)
  }

  @Test("says that what is required is switched off; following what cannot start closes no circle")
  func unavailable() {
    let order = LaunchOrder([node("a", requires: ["log"])], unavailable: ["log": "is switched off"])
    #expect(order.problems == ["module a (app:1) requires log, which is switched off"])
    let optional = LaunchOrder([node("a", requires: ["b", "nobody"]), node("b", after: ["a"])])
    #expect(optional.cycles.isEmpty && optional.modules.map(\.name) == ["b"])
  }
}
