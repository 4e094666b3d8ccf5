internal import BinaryImage

/// The identity of a plugin, as its file states it with `BEEHIVE_PLUGIN` or `@BeeHivePlugin`.
///
/// A file without one is a plugin too, but nothing tells its versions apart, and no user can switch it off by id.
public struct PluginIdentity: Hashable, Sendable, Encodable {
  /// The id, the same in all versions: `com.example.greet`.
  public var id: String
  /// The version: `1.4.2`.
  public var version: String
  /// The name for people; the id if the file gives none.
  public var name: String
  /// The licence, as SPDX writes it: `MIT`.
  public var licence: String?
  /// The address of its page.
  public var homePage: String?
  /// The name of its icon in the theme, or a path.
  public var icon: String?
  /// The names in other languages, by their tags: `de`, `pt_BR`.
  package var names: [String: String] = [:]

  /// Reads the identity among the entries of a file; nil if the file states none.
  package init?(of records: [Record]) {
    guard let record = records.first(where: { $0.kind == .plugin }),
      let version = record.attributes.version
    else { return nil }
    (id, self.version) = (record.name, version)
    name = record.attributes.name ?? id
    for attribute in record.attributes.others {
      let (key, value) = (attribute.key, attribute.value)
      switch key {
      case "licence": licence = value
      case "homepage": homePage = value
      case "icon": icon = value
      case _ where key.hasPrefix("name[") && key.hasSuffix("]"):
        let language = String(key.dropFirst(5).dropLast())
        names[language] = names[language] ?? value
      default: break
      }
    }
  }

  /// Returns the name in a language.
  ///
  /// - Parameter language: A locale's name, as `LC_MESSAGES` has it: `de_AT.UTF-8`, or a language alone.
  /// - Returns: The name for `de_AT`, else for `de`, else ``name``.
  public func name(in language: String) -> String {
    let locale = language.prefix { $0 != "." && $0 != "@" }
    let short = locale.prefix { $0 != "_" && $0 != "-" }
    return names[String(locale)] ?? names[String(short)] ?? name
  }

  /// Returns whether a host means a plugin by a name: its id, one of its paths, or the end of one.
  package static func isPlugin(_ plugin: Self?, at paths: [String], called name: String) -> Bool {
    // By bytes, as a file system tells names apart.
    plugin?.id == name || paths.has(name)
      || paths.contains { $0.utf8.suffix(name.utf8.count + 1).elementsEqual("/\(name)".utf8) }
  }

  /// `com.example.greet 1.4.2`
  package var title: String { "\(id) \(version)" }

  /// The identity as a value of JSON.
  package var value: JSONValue {
    let others = names.sorted { $0.key < $1.key }.map { ($0.key, JSONValue.string($0.value)) }
    return .object([
      ("id", .string(id)), ("version", .string(version)), ("name", .string(name)),
      ("names", .object(others)), ("licence", licence.map(JSONValue.string) ?? .null),
      ("homePage", homePage.map(JSONValue.string) ?? .null),
      ("icon", icon.map(JSONValue.string) ?? .null),
    ])
  }

  /// Writes the same members as the report's `json`.
  public func encode(to encoder: any Encoder) throws { try value.encode(to: encoder) }
}
