import Foundation
import TestSupport

/// Copies of the package's sources, which tests may change.
enum Sources {
  /// Returns whether copies leave out a file: build products, and data of version control.
  private static func isLeftOut(_ name: String) -> Bool {
    name.hasPrefix(".build") || name == ".git" || name == "__pycache__"
  }

  /// Makes a folder a copy of the sources. Equal files are not touched, so builds in the copy stay incremental. Files
  /// that the sources lack are removed.
  static func copy(to copy: URL) throws {
    let files = FileManager.default
    try files.createDirectory(at: copy, withIntermediateDirectories: true)
    let wanted = paths(in: Repository.root)
    for path in paths(in: copy).subtracting(wanted) {
      try files.removeItem(at: copy.appendingPathComponent(path))
    }
    for path in wanted {
      let source = Repository.place(path)
      let target = copy.appendingPathComponent(path)
      if isSame(source.path, target.path) { continue }
      try? files.removeItem(at: target)
      try files.createDirectory(
        at: target.deletingLastPathComponent(), withIntermediateDirectories: true)
      try files.copyItem(at: source, to: target)
    }
    // The package manager does not notice a new or removed file in a neighbouring package.
    for path in wanted where path.hasSuffix("Package.swift") {
      try files.setAttributes(
        [.modificationDate: Date()], ofItemAtPath: copy.appendingPathComponent(path).path)
    }
  }

  /// Returns the files and links in a folder, and in its subfolders.
  private static func paths(in folder: URL) -> Set<String> {
    var paths: Set<String> = []
    guard let enumerator = FileManager.default.enumerator(atPath: folder.path) else { return [] }
    while let path = enumerator.nextObject() as? String {
      let isFolder = enumerator.fileAttributes?[.type] as? FileAttributeType == .typeDirectory
      if isLeftOut((path as NSString).lastPathComponent) {
        if isFolder { enumerator.skipDescendants() }
      } else if !isFolder {
        paths.insert(path)
      }
    }
    return paths
  }

  private static func isSame(_ a: String, _ b: String) -> Bool {
    let links = [a, b].map { try? FileManager.default.destinationOfSymbolicLink(atPath: $0) }
    guard links == [nil, nil] else { return links[0] == links[1] }
    return FileManager.default.contentsEqual(atPath: a, andPath: b)
  }
}
