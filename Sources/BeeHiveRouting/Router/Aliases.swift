internal import BeeHive
internal import Threads

/// Names that stand for URLs: `{"home": "app://shop/home"}`, from a property list, JSON or YAML.
///
/// Opening `home?from=mail` opens `app://shop/home?from=mail`.
public struct Aliases: Codable, Hashable, Sendable, ExpressibleByDictionaryLiteral {
  /// The URLs by their names.
  public var urls: [String: String]

  /// Describes aliases.
  public init(_ urls: [String: String] = [:]) { self.urls = urls }

  /// Describes aliases.
  public init(dictionaryLiteral elements: (String, String)...) {
    urls = Dictionary(elements, uniquingKeysWith: { _, last in last })
  }

  /// Reads one object of names and URLs.
  public init(from decoder: any Decoder) throws {
    urls = try decoder.singleValueContainer().decode([String: String].self)
  }

  /// Writes one object of names and URLs.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(urls)
  }
}

extension Router {
  /// Adds aliases, all or none: a name is one segment, a URL is one, and none leads back to itself.
  public func register(_ aliases: Aliases) throws(RoutingError) {
    let added = try core.routes.withLock { table throws(RoutingError) -> [String] in
      for (name, url) in aliases.urls.sorted(by: { $0.key < $1.key }) {
        guard let read = try? URLText(name), read.path == [name], read.items.isEmpty else {
          throw RoutingError(.badPattern, "the alias \"\(name)\" is no single segment of a path")
        }
        var next = url
        var way = [name]
        while let parsed = try URLText(next).aliasName,
          let onward = aliases.urls[parsed] ?? table.aliases[parsed]
        {
          way.append(parsed)
          guard !way.dropLast().contains(parsed), way.count <= Call.mostRedirections else {
            throw RoutingError(
              .redirectLoop,
              "aliases lead back, or on more than \(Call.mostRedirections) times: "
                + way.joined(separator: " → "))
          }
          next = onward
        }
      }
      for (name, url) in aliases.urls {
        if let known = table.aliases[name], known != url {
          throw RoutingError(
            .duplicate, "the alias \(name) stands for \(known) already, not for \(url)")
        }
      }
      return aliases.urls.compactMap { name, url in
        table.aliases.set(name, url) == nil ? name : nil
      }
    }
    core.own { [core] in
      core.routes.withLock { table in for name in added { table.aliases.set(name, nil) } }
    }
  }

  /// Takes an alias out; whether it was there.
  @discardableResult
  public func removeAlias(_ name: String) -> Bool {
    core.routes.withLock { $0.aliases.set(name, nil) != nil }
  }

  /// The aliases there are.
  public var aliases: Aliases {
    let pairs = core.routes.withLock { $0.aliases }.pairs
    return Aliases(Dictionary(uniqueKeysWithValues: pairs.map { ($0.key, $0.value) }))
  }
}

extension URLText {
  /// The name that an alias may have: one segment and no scheme.
  var aliasName: String? {
    scheme == nil && host == nil && path.count == 1 ? path[0] : nil
  }
}
