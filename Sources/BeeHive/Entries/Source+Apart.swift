internal import BinaryImage
internal import Registration

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
    let ends = Set(paths).map { (path: $0, parts: $0.split(separator: "/").reversed()) }
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
    let parts = path.split(separator: "/")
    return parts.isEmpty ? path : parts.suffix(folders + 1).joined(separator: "/")
  }
}
