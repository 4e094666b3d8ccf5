internal import BinaryImage
public import Registration

/// What the Hive made of one declared module or service, and where it came from.
///
/// Nothing that was declared is ever missing from `Hive.entries`: an entry is bound, or accepted and
/// not bound yet, or rejected, and the last two say why.
public struct Entry: Hashable, Sendable {
  /// How far an entry got.
  public enum State: Hashable, Sendable {
    /// Something can make it.
    case bound
    /// Well formed and known by name, but nothing can make it yet.
    case accepted(Problem)
    /// Malformed, a duplicate, or named after a type that cannot serve.
    case rejected(Problem)
  }

  /// A module, a service, …
  public var kind: RecordKind
  /// The name as declared; empty where a malformed entry has none.
  public var name: String
  /// What implements it, as declared; nil where the entry names nothing.
  public var implementation: String?
  /// The declared attributes.
  package var attributes: Attributes
  /// The declared attributes, as they are written: `priority=10`, `requires=log`.
  public var fields: [String] { attributes.texts }
  /// Where it was declared.
  public var source: Source
  /// How far it got.
  public var state: State
  /// Tells it from all others of this process; 0 for that of a file that is not loaded.
  var number: UInt64 = 0
}

extension Entry: CustomStringConvertible {
  /// `unbound   module  Shop.Basket    libshop.so BeehiveMods[2]: no type of this name yet`
  public var description: String {
    let declared = implementation.map { "\(name) → \($0)" } ?? name
    let (word, reason) =
      switch state {
      case .bound: ("bound", "")
      case .accepted(let problem): ("unbound", ": \(problem)")
      case .rejected(let problem): ("rejected", ": \(problem)")
      }
    let columns = [(word, 9), (kind.description, 8), (declared, 40)].map { text, width in
      text + String(repeating: " ", count: max(1, width - text.count))
    }
    return (columns.joined() + source.description + reason).escaped
  }
}

/// Where an entry was declared.
public enum Source: Hashable, Sendable {
  /// In a section of an image.
  case image(Origin)
  /// By a call to the API; `file` is a `#fileID`, or a path where C said it.
  case code(file: String, line: UInt)
  /// In a file that the host decoded, at this place.
  case file(String, keyPath: String)
}

extension Source: CustomStringConvertible {
  /// `libshop.so BeehiveRecords[1]`, `Shop/Cart.swift:12`, or `hive.json services[0]`.
  public var description: String { description(folders: 0) }
}

extension Source {
  /// What sources are called, each with as much of its path as tells it from the others: two libraries,
  /// or two files of code, may have one name in different folders.
  static func told(apart sources: [Source]) -> [String] {
    let folders = folders(tellingApart: sources.map(\.path))
    return sources.map { $0.description(folders: folders[$0.path] ?? 0) }
  }

  /// How many folders of each path tell it from the others.
  static func folders(tellingApart paths: [String]) -> [String: Int] {
    // In the order of their ends, so that those with the most in common are neighbours.
    let ends = Set(paths).map { (path: $0, parts: $0.pathParts.reversed()) }
      .sorted { $0.parts.lexicographicallyPrecedes($1.parts) }
    var folders: [String: Int] = [:]
    for (one, other) in zip(ends, ends.dropFirst()) {
      let shared = zip(one.parts, other.parts).prefix { $0 == $1 }.count
      folders[one.path] = max(folders[one.path] ?? 0, shared)
      folders[other.path] = shared
    }
    return folders
  }

  /// The source with the last folders of its path; of code, always the last one: its module.
  func description(folders: Int) -> String {
    switch self {
    case .image(let origin): origin.description(folders: folders)
    case .code("", _): "(code)"
    case .code(let file, let line):
      "\(Self.end(of: file, folders: max(folders, 1))):\(line)".escaped
    case .file(let file, let keyPath):
      "\(Self.end(of: file, folders: folders)) \(keyPath)".escaped
    }
  }

  private static func end(of path: String, folders: Int) -> String {
    let parts = path.pathParts
    return parts.isEmpty ? path : parts.suffix(folders + 1).joined(separator: "/")
  }
}
