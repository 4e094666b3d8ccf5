internal import BinaryImage
public import Registration

/// A declared module, service, target or route: its state in the Hive, and its source.
///
/// Nothing that was declared is ever missing from `Hive.entries`. An entry is bound, accepted (not bound yet) or
/// rejected; the last two say why.
public struct Entry: Hashable, Sendable {
  /// The state of an entry.
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
  /// The name as declared; empty if a malformed entry has none.
  public var name: String
  /// The implementation, as declared; nil if the entry names none.
  public var implementation: String?
  /// The declared attributes.
  package var attributes: Attributes
  /// The declared attributes, as they are written: `priority=10`, `requires=log`.
  public var fields: [String] { attributes.texts }
  /// The location of the declaration.
  public var source: Source
  /// The state of the entry.
  public var state: State
  /// A number that no other entry of this process has; 0 for an entry of a file that is not loaded.
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

/// The location of an entry's declaration.
public enum Source: Hashable, Sendable {
  /// In a section of an image.
  case image(Origin)
  /// By a call to the API; `file` is a `#fileID`, or a path if the call came from C.
  case code(file: String, line: UInt)
  /// In a file that the host decoded, at this key path.
  case file(String, keyPath: String)
}

extension Source: CustomStringConvertible {
  /// `libshop.so BeehiveRecords[1]`, `Shop/Cart.swift:12`, or `hive.json services[0]`.
  public var description: String { description(folders: 0) }
}

extension Source {
  /// Returns the names of sources, each with as many folders as tell it from the others: two libraries, or two files of
  /// code, may have one name in different folders.
  static func told(apart sources: [Source]) -> [String] {
    let folders = folders(tellingApart: sources.map(\.path))
    return sources.map { $0.description(folders: folders[$0.path] ?? 0) }
  }

  /// Returns the number of folders that tell each path from the others.
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

  /// Returns the source with the last folders of its path; for code, always with the last one: its module.
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
