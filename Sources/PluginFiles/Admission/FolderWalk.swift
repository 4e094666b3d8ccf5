internal import BinaryImage
internal import LibC

/// The folders in which a path is looked up, links among them followed one by one: a user who may write to one of them
/// decides what the path leads to.
struct FolderWalk {
  /// A folder on the way, outermost first.
  private(set) var folders: [(path: String, access: FileAccess)] = []
  /// What the path leads to; nil where that is not there.
  private(set) var end: (path: String, access: FileAccess, stamp: FileStamp)?

  /// As many links as the kernel follows.
  private static let mostLinks = 40

  init(to path: String) {
    var current = ""
    var rest = Self.parts(of: path.hasPrefix("/") ? path : "\(".".resolved)/\(path)")
    var links = 0
    if rest.isEmpty { visit("/") }
    while let part = rest.popLast() {
      if part == ".." {
        current = current.isEmpty || current.folder == "/" ? "" : current.folder
        continue
      }
      // One that is left by .. at once has no say.
      visit(current.isEmpty ? "/" : current)
      let next = "\(current)/\(part)"
      guard let status = fileStatus(of: next.utf8, followingLinks: false) else { return }
      switch status.st_mode & S_IFMT {
      case S_IFLNK:
        links += 1
        guard links <= Self.mostLinks, let target = linkTarget(of: next) else { return }
        if target.hasPrefix("/") { current = "" }
        rest += Self.parts(of: target)
      case S_IFDIR:
        current = next
        guard rest.isEmpty else { continue }
        visit(next)
        end = (next, FileAccess(status), FileStamp(status))
      default:
        if rest.isEmpty { end = (next, FileAccess(status), FileStamp(status)) }
        return
      }
    }
  }

  private mutating func visit(_ path: String) {
    guard let status = fileStatus(of: path.utf8, followingLinks: false),
      folders.allSatisfy({ $0.path != path })
    else {
      return
    }
    folders.append((path, FileAccess(status)))
  }

  /// The last part first.
  private static func parts(of path: String) -> [Substring] {
    path.split(separator: "/").filter { $0 != "." }.reversed()
  }
}
