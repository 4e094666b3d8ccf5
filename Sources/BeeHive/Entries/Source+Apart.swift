internal import BinaryImage
internal import Registration

extension Source {
  /// What sources are called, each with as much of its path as tells it from the others: two libraries,
  /// or two files of code, may have one name in different folders.
  static func told(apart sources: [Source]) -> [String] {
    // Each is compared with every other, so a crowd is not told apart.
    guard sources.count <= 64 else { return sources.map(\.description) }
    return sources.map { source in
      let parts = source.path.split(separator: "/").reversed()
      let shared = sources.compactMap { other -> Int? in
        guard other.path != source.path else { return nil }
        return zip(parts, other.path.split(separator: "/").reversed()).prefix { $0 == $1 }.count
      }
      return source.description(folders: shared.max() ?? 0)
    }
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
