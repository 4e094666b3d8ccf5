internal import CImageList
internal import LibC

/// The folders on the way of a path. Each is opened below the one before it, and links are followed one by one.
///
/// Folders are compared by what they are, never by their names: a user who may change one of them decides what the path
/// leads to. If a path leads nowhere, the last folder that is there counts, because a user who may write to it could
/// make the rest.
package struct FolderWalk {
  /// A folder where a name was looked up, or where the path ends.
  package struct Step: Hashable {
    package var path: String
    package var access: FileAccess
    /// The owner of the name that was looked up in it. Nil if nobody has made that name, or if any name may be looked
    /// up: in the folder that ends the path or holds the file.
    package var owner: UInt32?
    /// The path of that name.
    package var name: String
  }

  /// The steps, outermost first, each once.
  package private(set) var steps: [Step] = []
  /// The file that the path leads to; nil if it leads nowhere.
  package private(set) var end: (path: String, access: FileAccess, stamp: FileStamp)?
  /// The names that the file has on the way, each with its folder: the names of links and of their targets.
  package private(set) var names: [(folder: String, name: String)] = []
  /// The folders of the links on the way.
  package private(set) var linkFolders: [String] = []
  /// Whether it goes through a file system that shows each process its own (`proc`).
  package private(set) var isOfProcess = false
  /// An error that ended the walk but says nothing about the path: no descriptors are left, for example.
  package private(set) var failure: ImageError?
  private var seen: Set<Step> = []

  /// The most links that the kernel follows.
  private static let mostLinks = 40

  /// Looks up a path as the kernel does.
  package init(to path: String) {
    errno = 0
    follow(path)
    // A name that is not there, or not for this user to see, ends the walk; the last folder counts.
    let usual = [0, ENOENT, ENOTDIR, EACCES, ELOOP, ENAMETOOLONG, EPERM]
    if end == nil, failure == nil, !usual.contains(errno) {
      failure = ImageError(system: errno, path)
    }
  }

  private mutating func follow(_ path: String) {
    var rest = Self.parts(of: path.absolute)
    var (current, links) = ("/", 0)
    guard var folder = PathDescriptor("/") else { return }
    while let part = rest.popLast() {
      guard part != ".." else {
        // A folder that is left at once does not count: only users who may write to its parent can move it.
        guard let parent = PathDescriptor("..", in: folder) else { return }
        (folder, current) = (parent, current.folder)
        continue
      }
      let next = current == "/" ? "/\(part)" : "\(current)/\(part)"
      if rest.isEmpty { names.append((current, part)) }
      guard let entry = PathDescriptor(part, in: folder) else {
        return visit(current, folder)
      }
      if let bytes = entry.linkTarget {
        guard let target = String(validating: bytes, as: UTF8.self) else {
          failure = ImageError(
            .unreadable, image: next, message: "It is a link to a name that is not UTF-8.")
          return visit(current, folder)
        }
        visit(current, folder, next, entry)
        linkFolders.append(current)
        links += 1
        guard links <= Self.mostLinks else { return visit(current, folder) }
        if target.isAbsolute {
          guard let root = PathDescriptor("/") else { return }
          (folder, current) = (root, "/")
        }
        rest += Self.parts(of: target)
        continue
      }
      if rest.isEmpty { end = (next, entry.access, FileStamp(entry.status)) }
      guard entry.status.isDirectory else {
        return visit(current, folder, next, rest.isEmpty ? nil : entry)
      }
      visit(current, folder, next, entry)
      (folder, current) = (entry, next)
    }
    visit(current, folder)
  }

  private mutating func visit(
    _ path: String, _ folder: PathDescriptor, _ name: String = "", _ entry: PathDescriptor? = nil
  ) {
    if folder.isOfProcess { isOfProcess = true }
    let step = Step(
      path: path, access: folder.access, owner: entry?.access.owner,
      name: entry == nil ? "" : name)
    if seen.insert(step).inserted { steps.append(step) }
  }

  /// Returns the parts of a path, the last one first.
  private static func parts(of path: String) -> [String] {
    path.pathParts.filter { $0 != "." }.reversed()
  }
}

/// `O_PATH` of every machine that plugins are made for; the C library's headers hide it.
private let pathOnly: Int32 = 0o10_000_000

/// A file or folder that is open only to be looked at, and to look up names in it (`O_PATH`).
private final class PathDescriptor {
  private let descriptor: Int32
  let status: stat
  /// Whether it is in a file system that shows each process its own.
  var isOfProcess: Bool { image_is_in_proc(descriptor) }

  /// Opens a name in a folder. Does not follow a link, but opens the link itself.
  ///
  /// - Returns: Nil if the system does not find it, or does not let this user look there.
  init?(_ name: String, in folder: PathDescriptor? = nil) {
    // An absolute name needs no folder.
    descriptor = unsafe openat(
      folder?.descriptor ?? AT_FDCWD, name, pathOnly | O_NOFOLLOW | O_CLOEXEC)
    var status = stat()
    guard descriptor >= 0, unsafe fstat(descriptor, &status) == 0 else {
      if descriptor >= 0 { close(descriptor) }
      return nil
    }
    self.status = status
  }

  deinit { close(descriptor) }

  var access: FileAccess { FileAccess(status) }

  /// The path in a link; nil if it is no link.
  var linkTarget: [UInt8]? {
    guard status.st_mode & S_IFMT == S_IFLNK else { return nil }
    // Sound: readlinkat writes at most as many bytes as the buffer has.
    let (bytes, _) = unsafe [UInt8].reading(4096) { rest, filled in
      guard filled == 0, let start = rest.baseAddress else { return 0 }
      return unsafe readlinkat(
        descriptor, "", start.assumingMemoryBound(to: CChar.self), rest.count)
    }
    return bytes
  }
}

extension OpenedFile {
  /// Returns the names of the file: those that its paths lead through, and its other names in the same folders that
  /// `isListed` accepts.
  package func names(at paths: [String], _ isListed: (String) -> Bool) -> [String] {
    let found = paths.flatMap { FolderWalk(to: $0).names }
    var names = found.map(\.name)
    var known = Set(names.map { Array($0.utf8) })
    for folder in Set(found.map(\.folder)) {
      for bytes in (try? directoryNames(of: Array(folder.utf8))) ?? [] {
        let name = String(decoding: bytes, as: UTF8.self)
        guard isListed(name), known.insert(bytes).inserted,
          let other = try? fileStamp(of: Array(folder.utf8) + [UInt8(ascii: "/")] + bytes),
          other.isSameFile(as: stamp)
        else { continue }
        names.append(name)
      }
    }
    return names
  }
}
