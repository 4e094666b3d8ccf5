internal import BinaryImage
internal import LibC

/// The loader's search (`ld.so(8)`): in the search paths of files that need libraries, the system's cache, its folders.
struct LibrarySearch {
  let identity: ImageIdentity
  let loader: LoaderFolders
  /// The program, whose search path reaches to all.
  fileprivate let program: Library
  /// The folders of `LD_LIBRARY_PATH`.
  let environment: [String]
  /// The folders of the program's `DT_RPATH` as the loader has them.
  fileprivate let programFolders: [String]

  /// The search of a program that is not started, with these folders of `LD_LIBRARY_PATH`; nil for this process's program.
  init(of program: Library, environment: [String]? = []) {
    (self.program, identity) = (program, program.image.identity)
    loader = LoaderFolders(of: program.interpreter, for: identity)
    let own = program.loading.isInherited ? program.knownFolders : []
    (self.environment, programFolders) =
      environment.map { ($0, own) } ?? loader.ofThisProcess(program: own)
  }

  /// Returns the search paths for the needs of a file: the environment, and its own path. Without a `DT_RUNPATH`, the
  /// `DT_RPATH` of the files that led to it counts, too.
  fileprivate func paths(for requester: Library) -> [[String]] {
    let environment = program.known(environment)
    guard requester.loading.isInherited else { return [environment, requester.knownFolders] }
    var paths: [[String]] = []
    var (next, count) = (Optional(requester), 0)
    while let library = next, count < Lookups.most {
      if library.loading.isInherited { paths.append(library.knownFolders) }
      count += 1 + (paths.last?.count ?? 0)
      next = library.requester
    }
    return paths + [programFolders, environment]
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
    /// The files that the last name means on other processors: they look in folders of their own first.
    private(set) var rivals: [String] = []
    static let most = 1 << 14

    init(for requester: Library, by search: LibrarySearch) {
      (self.search, self.requester, paths) = (search, requester, search.paths(for: requester))
    }

    /// Whether the search is over, because too many places were looked at.
    var areSpent: Bool { left <= 0 }

    /// Opens the library of this name that fits the machine; nil if there is none.
    ///
    /// - Throws: ``ImageError`` for the first file of the name that is no library: the loader looks no further then.
    mutating func find(_ name: String) throws(ImageError) -> Library? {
      (passed, rivals) = ([], [])
      left -= 1
      guard !name.utf8.contains(UInt8(ascii: "/")) else { return try first(of: [([name], [])]) }
      let loader = search.loader
      if let found = try first(of: [loader.started(name)]) { return found }
      for folders in paths {
        let places = folders.lazy.map { loader.places(of: name, in: $0) }
        if let found = try first(of: places) { return found }
      }
      let avoidsSystem = requester.loading.avoidsSystem
      let cached = loader.cached(name, avoidsSystem: avoidsSystem)
      if let found = try first(of: [cached]) { return found }
      // The loader takes a file that somebody puts there.
      passed += cached.tried.filter { fileStatus(of: $0.utf8, followingLinks: false) == nil }
        .map { ImageError(system: ENOENT, $0) }
      let system = avoidsSystem ? [] : loader.system
      return try first(of: system.lazy.map { loader.places(of: name, in: $0) })
    }

    /// The library at the first of some places that has one.
    private mutating func first(
      of places: some Sequence<LoaderFolders.Places>
    ) throws(ImageError) -> Library? {
      for (tried, others) in places {
        left -= 1 + others.count
        rivals += others
        for path in tried where !areSpent {
          left -= 1
          let (found, isEnd) = try open(path)
          guard found != nil || isEnd else { continue }
          rivals.removeAll { $0 == path }
          return found
        }
        if areSpent { break }
      }
      return nil
    }

    /// Opens the file at a place. Passes over a file for another machine, as the loader does. Throws if the loader
    /// opens the file and it is no library: that stops the loader.
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
      let isSystem = search.loader.isSystem(path)
      let library = try Library(of: file, for: requester, isSystem: isSystem)
      let found = library.image.identity
      if found.isFor(search.identity) { return (library, false) }
      passed.append(file.error(.unsupported, "It is for \(found.machineTitle)."))
      return (nil, false)
    }
  }
}
