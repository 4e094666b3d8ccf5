internal import BinaryImage
internal import LibC

/// Where the loader looks for a library: the search paths of those who need it, the system's cache, its folders.
///
/// As `ld.so(8)` says it, without the folders for single processors.
struct LibrarySearch {
  let identity: ImageIdentity
  /// The paths of libraries of any machine, by their names.
  fileprivate let cache: [String: [String]]
  /// The program, whose search path reaches to all.
  fileprivate let program: Library?
  /// The folders of `LD_LIBRARY_PATH`, as they are written.
  let environment: [String]
  /// The folders that are built into the loader.
  let systemFolders: [String]

  init(for identity: ImageIdentity, program: Library?, libraryPath: String? = nil) {
    (self.identity, self.program) = (identity, program)
    environment =
      libraryPath.flatMap { $0.isEmpty ? nil : $0 }?
      .utf8.split(omittingEmptySubsequences: false) { ":;".utf8.contains($0) }
      .map { String(decoding: $0, as: UTF8.self) } ?? []
    cache = loaderCache(of: systemFile("/etc/ld.so.cache").bytes)
    systemFolders = identity.systemFolders(of: program?.interpreter)
  }

  /// The folders of search paths: of the one that needs the library, or without a path of its own kind also of
  /// those that led to it.
  fileprivate func paths(for requester: Library) -> [[String]] {
    let environment = program?.known(environment) ?? []
    guard requester.loading.isInherited else { return [environment, requester.knownFolders] }
    var paths: [[String]] = []
    var (next, count) = (Optional(requester), 0)
    while let library = next, count < Lookups.most {
      if library.loading.isInherited { paths.append(library.knownFolders) }
      count += 1 + (paths.last?.count ?? 0)
      next = library.requester
    }
    if let program, program.loading.isInherited { paths.append(program.knownFolders) }
    return paths + [environment]
  }

}

extension LibrarySearch {
  /// The search for what one file needs, in the folders of each search path.
  struct Lookups {
    fileprivate let search: LibrarySearch
    let requester: Library
    fileprivate let paths: [[String]]
    /// The number of places that may still be looked at: the search for many names in many folders would take all day.
    private var left = Self.most
    /// The first file of the last name that was passed over: it cannot be opened, or is for another machine.
    private(set) var passed: ImageError?
    /// The file that the last name means on some processors: they look in folders of their own first.
    private(set) var rival: String?
    static let most = 1 << 14

    init(for requester: Library, by search: LibrarySearch) {
      (self.search, self.requester, paths) = (search, requester, search.paths(for: requester))
    }

    /// Whether nothing is looked for any more.
    var areSpent: Bool { left <= 0 }

    /// Opens the library of this name that fits the machine; nil if there is none.
    ///
    /// - Throws: ``ImageError`` of the first file of the name that is no library: the loader looks no further then.
    mutating func find(_ name: String) throws(ImageError) -> Library? {
      (passed, rival) = (nil, nil)
      left -= 1
      guard !name.utf8.contains(UInt8(ascii: "/")) else {
        return try first(of: [name], isSystem: false)
      }
      for folders in paths {
        let others = folders.prefix(max(0, left)).flatMap(processorFolders).map { "\($0)/\(name)" }
        left -= others.count
        rival = rival ?? others.first { fileStatus(of: $0.utf8, followingLinks: true) != nil }
        let places = folders.lazy.map { "\($0)/\(name)" }
        if let found = try first(of: places, isSystem: false) { return found }
      }
      let system = search.systemFolders
      let avoidsSystem = requester.loading.avoidsSystem
      let cached = search.cache[name, default: []].filter { path in
        !avoidsSystem || !system.contains { path.hasPrefix("\($0)/") }
      }
      if let found = try first(of: cached, isSystem: true) { return found }
      return try first(of: avoidsSystem ? [] : system.map { "\($0)/\(name)" }, isSystem: true)
    }

    /// The library at the first of some places that has one.
    private mutating func first(
      of places: some Sequence<String>, isSystem: Bool
    ) throws(ImageError) -> Library? {
      for path in places where !areSpent {
        left -= 1
        let (found, isEnd) = try open(path, isSystem: isSystem)
        if found != nil || isEnd { return found }
      }
      return nil
    }

    /// Opens what is at a place. What is there for another machine is passed over, as the loader does; what it opens
    /// and is no library stops it.
    ///
    /// - Returns: The library, and whether the loader leaves this search path for the next, for it cannot open the
    ///   file.
    private mutating func open(
      _ path: String, isSystem: Bool
    ) throws(ImageError) -> (found: Library?, isEnd: Bool) {
      var status = stat()
      let failure = unsafe stat(path, &status) == 0 ? 0 : errno
      let isLink = failure == ENOENT && fileStatus(of: path.utf8, followingLinks: false) != nil
      if failure == ENOENT, !isLink { return (nil, false) }
      let file: OpenedFile
      do throws(ImageError) {
        _ = try fileStamp(of: path.utf8)
        file = try OpenedFile(path: path, wasMapped: true)
      } catch {
        let isSocket = failure == 0 && status.st_mode & S_IFMT == S_IFSOCK
        // A FIFO keeps the loader waiting, a device ends at once, and a socket is not opened.
        if failure == 0, !isSocket, unsafe access(path, R_OK) == 0 { throw error }
        guard fileStatus(of: path.folder.utf8, followingLinks: true)?.isDirectory == true else {
          return (nil, false)
        }
        passed = passed ?? error
        return (nil, isSocket || ![0, ENOENT, EACCES].contains(failure))
      }
      let library = try Library(of: file, for: requester, isSystem: isSystem)
      let found = library.image.identity
      if found.isFor(search.identity) { return (library, false) }
      passed = passed ?? file.error(.unsupported, "It is for \(found.machineTitle).")
      return (nil, false)
    }
  }
}

extension Library {
  /// The loader that a program names: `PT_INTERP`.
  var interpreter: String? { (try? image.interpreter()) ?? nil }
}
