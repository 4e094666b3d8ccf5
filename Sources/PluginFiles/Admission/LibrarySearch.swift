internal import BinaryImage
internal import LibC

/// Where the loader looks for a library: the search paths of those who need it, the system's cache, its folders.
///
/// As `ld.so(8)` says it, without the environment's paths and the folders for single processors.
struct LibrarySearch {
  let identity: ImageIdentity
  /// The paths of libraries of any machine, by their names.
  private let cache: [String: [String]]
  /// The program, whose search path reaches to all.
  private let program: Library?
  /// The folders that are built into the loader.
  let systemFolders: [String]

  init(for identity: ImageIdentity, program: Library?) {
    (self.identity, self.program) = (identity, program)
    cache = Self.cache(of: systemFile("/etc/ld.so.cache").bytes)
    systemFolders = Self.systemFolders(of: program?.interpreter, for: identity)
  }

  /// Where what one file needs is looked for, and how much more of that there may be.
  struct Lookups {
    let requester: Library
    /// The folders of each search path.
    fileprivate let paths: [[String]]
    /// A file that needs many names and has many folders would be looked for all day.
    fileprivate var left = Self.most
    static let most = 1 << 14

    /// Whether nothing is looked for any more.
    var areSpent: Bool { left <= 0 }
  }

  /// Prepares to look for what a file needs.
  func lookups(for requester: Library) -> Lookups {
    Lookups(requester: requester, paths: paths(for: requester))
  }

  /// Opens the library of this name that fits the machine.
  ///
  /// - Parameters:
  ///   - name: As the file that needs it says.
  ///   - lookups: Those for that file.
  ///   - passed: Is given what is there and passed over: what cannot be opened, or is for another machine.
  /// - Returns: The library; nil where there is none.
  /// - Throws: ``ImageError`` of the first file of the name that is no library: the loader looks no further then.
  func find(
    _ name: String, _ lookups: inout Lookups, _ passed: (ImageError) -> Void = { _ in }
  ) throws(ImageError) -> Library? {
    guard !lookups.areSpent else { return nil }
    lookups.left -= 1
    guard !name.utf8.contains(UInt8(ascii: "/")) else {
      return try first(of: [name], &lookups, isSystem: false, passed)
    }
    for folders in lookups.paths {
      let paths = folders.lazy.map { "\($0)/\(name)" }
      if let found = try first(of: paths, &lookups, isSystem: false, passed) { return found }
    }
    let avoidsSystem = lookups.requester.loading.avoidsSystem
    let cached = cache[name, default: []].filter { path in
      !avoidsSystem || !systemFolders.contains { path.hasPrefix("\($0)/") }
    }
    if let found = try first(of: cached, &lookups, isSystem: true, passed) { return found }
    let paths = avoidsSystem ? [] : systemFolders.map { "\($0)/\(name)" }
    return try first(of: paths, &lookups, isSystem: true, passed)
  }

  /// The library at the first of some places that has one.
  private func first(
    of paths: some Sequence<String>, _ lookups: inout Lookups, isSystem: Bool,
    _ passed: (ImageError) -> Void
  ) throws(ImageError) -> Library? {
    for path in paths where !lookups.areSpent {
      lookups.left -= 1
      switch try open(path, for: lookups.requester, isSystem: isSystem, passed) {
      case .library(let found): return found
      case .nothing: continue
      case .end: return nil
      }
    }
    return nil
  }

  /// The folders of search paths: of the one that needs the library, or without a path of its own kind also of
  /// those that led to it.
  private func paths(for requester: Library) -> [[String]] {
    guard requester.loading.isInherited else { return [requester.knownFolders] }
    var paths: [[String]] = []
    var (next, count) = (Optional(requester), 0)
    while let library = next, count < Lookups.most {
      if library.loading.isInherited { paths.append(library.knownFolders) }
      count += 1 + (paths.last?.count ?? 0)
      next = library.requester
    }
    if let program, program.loading.isInherited { paths.append(program.knownFolders) }
    return paths
  }

  /// The folders that are built into a loader, by where that is: `ld.so --help` prints them.
  static func systemFolders(
    of interpreter: String?, for identity: ImageIdentity
  ) -> [String] {
    let usual = "/\(identity.libraryFolder)"
    let own = interpreter?.resolved.folder ?? usual.resolved
    if ["/lib", "/usr/lib"].contains(own.folder) {
      return ["/lib/\(own.fileName)", "/usr/lib/\(own.fileName)", "/lib", "/usr/lib"]
    }
    guard ["/", "/usr"].contains(own.folder) else { return [own] }
    // Where one of them is a link, both are the same.
    let named = (interpreter?.folder ?? usual).fileName
    let names = named == own.fileName ? [named] : [own.fileName, named]
    return names.flatMap { ["/\($0)", "/usr/\($0)"] }
  }

  /// What there is at a place.
  private enum Place {
    case library(Library)
    /// Nothing, or what the loader passes over.
    case nothing
    /// What the loader cannot open: it leaves this search path for the next.
    case end
  }

  /// What is there for another machine is passed over, as the loader does; what it opens and is no library stops it.
  private func open(
    _ path: String, for requester: Library, isSystem: Bool, _ passed: (ImageError) -> Void
  ) throws(ImageError) -> Place {
    var status = stat()
    let failure = unsafe stat(path, &status) == 0 ? 0 : errno
    let isLink = failure == ENOENT && fileStatus(of: path.utf8, followingLinks: false) != nil
    if failure == ENOENT, !isLink { return .nothing }
    let file: OpenedFile
    do throws(ImageError) {
      _ = try fileStamp(of: path.utf8)
      file = try OpenedFile(path: path, wasMapped: true)
    } catch {
      // A FIFO keeps the loader waiting, a device ends at once, and a socket is not opened.
      if failure == 0, status.st_mode & S_IFMT != S_IFSOCK, unsafe access(path, R_OK) == 0 {
        throw error
      }
      guard fileStatus(of: path.folder.utf8, followingLinks: true)?.isDirectory == true else {
        return .nothing
      }
      passed(error)
      let isSocket = failure == 0 && status.st_mode & S_IFMT == S_IFSOCK
      return isSocket || ![0, ENOENT, EACCES].contains(failure) ? .end : .nothing
    }
    let library = try Library(of: file, for: requester, isSystem: isSystem)
    let found = library.image.identity
    if found.isFor(identity) { return .library(library) }
    passed(file.error(.unsupported, "It is for \(found.machineTitle)."))
    return .nothing
  }
}

extension Library {
  /// The loader that a program names: `PT_INTERP`.
  var interpreter: String? { (try? image.interpreter()) ?? nil }
}

extension ImageIdentity {
  /// Where systems keep libraries of this machine: `$LIB`.
  var libraryFolder: String {
    let folder = "lib/\(machine)-linux-gnu"
    if fileStatus(of: "/\(folder)".utf8, followingLinks: true) != nil { return folder }
    return bits == 64 && fileStatus(of: "/lib64".utf8, followingLinks: true) != nil
      ? "lib64" : "lib"
  }

  /// Whether both are for processes of one machine, class and byte order.
  func isFor(_ other: ImageIdentity) -> Bool {
    (machine, bits, byteOrder) == (other.machine, other.bits, other.byteOrder)
  }
}

extension LibrarySearch {
  /// Reads the cache of the loader, which `ldconfig` writes: the paths of libraries by name, best first. Empty if the
  /// bytes have another form.
  ///
  /// A head of 48 bytes, entries of 24, texts. Offsets count from the start.
  static func cache(of bytes: [UInt8]) -> [String: [String]] {
    var paths: [String: [String]] = [:]
    let magic = Array("glibc-ld.so.cache1.1".utf8)
    let span = bytes.span
    func number(_ place: Int) -> Int? {
      span.integer(at: place, as: UInt32.self, order: .ofThisProcess).map(Int.init)
    }
    func text(_ place: Int?) -> String? {
      guard let place, let length = span.textLength(from: place) else { return nil }
      return String(decoding: span.extracting(place..<place + length))
    }
    guard bytes.starts(with: magic), let count = number(20) else { return [:] }
    for index in 0..<min(count, max(0, bytes.count - 48) / 24) {
      let entry = 48 + 24 * index
      // Flags, name, path, version of the system, processor: what is for some processors only has a number there.
      guard let name = text(number(entry + 4)), let path = text(number(entry + 8)),
        number(entry + 16) == 0, number(entry + 20) == 0
      else { continue }
      paths[name, default: []].append(path)
    }
    return paths
  }
}
