internal import BinaryImage
internal import LibC

/// Where the loader looks for a library: the search paths of those who need it, the system's cache, its folders.
///
/// As `ld.so(8)` says it, without the folders for single processors.
struct LibrarySearch {
  let identity: ImageIdentity
  /// The libraries of the cache, by their names.
  fileprivate let cache: [String: CachedLibrary]
  /// The program, whose search path reaches to all.
  fileprivate let program: Library?
  /// The folders of `LD_LIBRARY_PATH`, as they are written.
  let environment: [String]
  /// The folders that are built into the loader.
  let systemFolders: [String]
  /// The same, where their links lead.
  fileprivate let resolvedSystemFolders: [String]

  init(for identity: ImageIdentity, program: Library?, libraryPath: String? = nil) {
    (self.identity, self.program) = (identity, program)
    environment =
      libraryPath.flatMap { $0.isEmpty ? nil : $0 }?
      .utf8.split(omittingEmptySubsequences: false) { ":;".utf8.contains($0) }
      .map { String(decoding: $0, as: UTF8.self) } ?? []
    cache = loaderCache(of: systemFile("/etc/ld.so.cache").bytes, for: identity)
    systemFolders = identity.systemFolders(of: program?.interpreter)
    resolvedSystemFolders = systemFolders.map(\.resolved)
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
    /// The files of the last name that were passed over: they cannot be opened, or are for another machine.
    private(set) var passed: [ImageError] = []
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
      (passed, rival) = ([], nil)
      left -= 1
      guard !name.utf8.contains(UInt8(ascii: "/")) else { return try first(of: [name]) }
      for folders in paths {
        let others = folders.prefix(max(0, left)).flatMap(processorFolders).map { "\($0)/\(name)" }
        left -= others.count
        rival = rival ?? others.first { fileStatus(of: $0.utf8, followingLinks: true) != nil }
        let places = folders.lazy.map { "\($0)/\(name)" }
        if let found = try first(of: places) { return found }
      }
      let system = search.systemFolders
      let avoidsSystem = requester.loading.avoidsSystem
      func isCached(_ path: String) -> Bool {
        !avoidsSystem || !system.contains { path.hasPrefix("\($0)/") }
      }
      let (cached, rivals) = search.cache[name] ?? ([], [])
      rival =
        rival
        ?? rivals.first { isCached($0) && fileStatus(of: $0.utf8, followingLinks: true) != nil }
      if let found = try first(of: cached.filter(isCached)) { return found }
      return try first(of: avoidsSystem ? [] : system.map { "\($0)/\(name)" })
    }

    /// The library at the first of some places that has one.
    private mutating func first(of places: some Sequence<String>) throws(ImageError) -> Library? {
      for path in places where !areSpent {
        left -= 1
        let (found, isEnd) = try open(path)
        if found != nil || isEnd { return found }
      }
      return nil
    }

    /// Opens what is at a place. What is there for another machine is passed over, as the loader does; what it opens
    /// and is no library stops it.
    ///
    /// - Returns: The library, and whether the loader cannot open the file and goes on with the next search path.
    private mutating func open(_ path: String) throws(ImageError) -> (Library?, isEnd: Bool) {
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
        passed.append(error)
        return (nil, isSocket || ![0, ENOENT, EACCES].contains(failure))
      }
      let isSystem = search.resolvedSystemFolders.contains(path.folder.resolved)
      let library = try Library(of: file, for: requester, isSystem: isSystem)
      let found = library.image.identity
      if found.isFor(search.identity) { return (library, false) }
      passed.append(file.error(.unsupported, "It is for \(found.machineTitle)."))
      return (nil, false)
    }
  }
}
