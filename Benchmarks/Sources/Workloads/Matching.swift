internal import BeeHiveRouting

/// Matching one URL among few and many routes.
enum Matching {
  private static func urls(among count: Int) -> [String] {
    (0..<1000).map { step in
      let index = step * 97 % count
      return "app://host\(index % 100)/item\(index)/42"
    }
  }

  /// Makes the floor: a trie of dictionaries, which knows literals and numbers and splits its URLs at slashes.
  private static func trie(among count: Int) -> Comparison.Side {
    final class Node {
      var literals: [Substring: Node] = [:]
      var number: Node?
      var isRoute = false
    }
    let root = Node()
    for index in 0..<count {
      var node = root
      for part in "app://host\(index % 100)/item\(index)".split(separator: "/") {
        let next = node.literals[part] ?? Node()
        node.literals[part] = next
        node = next
      }
      node.number = node.number ?? Node()
      node.number?.isRoute = true
    }
    let urls = urls(among: count)
    return Comparison.Side(
      run: {
        for url in urls {
          var node: Node? = root
          for part in url.split(separator: "/") {
            node = node?.literals[part] ?? (Int(part) == nil ? nil : node?.number)
          }
          if node?.isRoute != true { unmatched() }
        }
      }, operations: urls.count)
  }

  /// Makes one side: a thousand URLs among `count` routes, spread over a hundred hosts.
  private static func side(among count: Int) -> Comparison.Side {
    let router = Router()
    for index in 0..<count {
      // Distinct by their number, so none is refused.
      _ = try? router.register("app://host\(index % 100)/item\(index)/:id<Int>") { _ in }
    }
    let urls = urls(among: count)
    return Comparison.Side(
      run: { for url in urls where router.route(for: url) == nil { unmatched() } },
      operations: urls.count)
  }

  /// Ends the process: a URL that is not found would make the measurement a lie.
  private static func unmatched() { preconditionFailure("a registered route was not found") }

  static func few() -> Comparison {
    Comparison("match-100", floor: trie(among: 100), candidate: side(among: 100))
  }

  static func many() -> Comparison {
    Comparison("match-100000", floor: nil, candidate: side(among: 100_000))
  }
}
