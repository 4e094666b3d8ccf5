internal import BinaryImage
internal import LibC

/// Where the loader looks for a library: the search paths of those who need it, the system's cache, its folders.
///
/// As `ld.so(8)` says it, without the environment's paths and the folders for single processors.
struct LibrarySearch {
  let identity: ImageIdentity
  private let cache: LoaderCache
  /// The program, whose search path reaches to all.
  private let program: Library?

  init(for identity: ImageIdentity, program: Library?) {
    (self.identity, self.program) = (identity, program)
    cache = LoaderCache()
  }

  /// Opens the library of this name that fits the machine.
  ///
  /// - Parameters:
  ///   - name: As the file that needs it says.
  ///   - requester: That file.
  ///   - passed: Is given what is there and passed over: what cannot be opened, or is for another machine.
  /// - Returns: The library; nil where there is none.
  /// - Throws: ``ImageError`` of the first file of the name that is no library: the loader looks no further then.
  func find(
    _ name: String, for requester: Library, _ passed: (ImageError) -> Void = { _ in }
  ) throws(ImageError) -> Library? {
    if name.contains("/") {
      return try open(requester.expanded(name), for: requester, isSystem: false, passed)
    }
    for folder in folders(for: requester) {
      let path = "\(folder)/\(name)"
      if let found = try open(path, for: requester, isSystem: false, passed) { return found }
    }
    guard !requester.loading.avoidsSystem else { return nil }
    for path in cache.paths(of: name) + systemFolders.map({ "\($0)/\(name)" }) {
      if let found = try open(path, for: requester, isSystem: true, passed) { return found }
    }
    return nil
  }

  /// The folders of search paths: of the one that needs the library, or without a path of its own kind also of
  /// those that led to it.
  private func folders(for requester: Library) -> [String] {
    guard requester.loading.isInherited else { return requester.searchFolders }
    let asked = sequence(first: requester, next: \.requester) + [program].compactMap { $0 }
    return asked.filter(\.loading.isInherited).flatMap(\.searchFolders)
  }

  private var systemFolders: [String] {
    let machine = "\(identity.machine)-linux-gnu"
    let wide = identity.bits == 64 ? ["/lib64", "/usr/lib64"] : []
    return ["/lib/\(machine)", "/usr/lib/\(machine)"] + wide
      + ["/lib", "/usr/lib", "/usr/local/lib"]
  }

  /// What is there for another machine is passed over, as the loader does; a directory stops it.
  private func open(
    _ path: String, for requester: Library, isSystem: Bool, _ passed: (ImageError) -> Void
  ) throws(ImageError) -> Library? {
    let file: OpenedFile
    do throws(ImageError) {
      // Says it better where there is no file.
      _ = try fileStamp(of: path.utf8)
      file = try OpenedFile(path: path, name: path)
    } catch {
      if fileStatus(of: path.utf8, followingLinks: true)?.isDirectory == true { throw error }
      if fileStatus(of: path.utf8, followingLinks: false) != nil { passed(error) }
      return nil
    }
    let library = try Library(of: file, for: requester, isSystem: isSystem)
    let found = library.image.identity
    if found.isFor(identity) { return library }
    passed(file.error(.unsupported, "It is for \(found.machineTitle)."))
    return nil
  }
}

extension ImageIdentity {
  /// Whether both are for processes of one machine, class and byte order.
  func isFor(_ other: ImageIdentity) -> Bool {
    (machine, bits, byteOrder) == (other.machine, other.bits, other.byteOrder)
  }
}

/// What `ldconfig` noted: libraries by name, best first.
struct LoaderCache {
  private var paths: [String: [String]] = [:]

  /// The paths of a library, of any machine.
  func paths(of name: String) -> [String] { paths[name] ?? [] }

  /// Reads the cache of the system; empty where there is none, or none of this form.
  init(path: String = "/etc/ld.so.cache") {
    self.init(of: systemFile(path).bytes)
  }

  /// Reads the bytes of a cache: a head of 48 bytes, entries of 24, texts. Offsets count from the start.
  init(of bytes: [UInt8]) {
    let magic = Array("glibc-ld.so.cache1.1".utf8)
    let span = bytes.span
    func number(_ place: Int) -> Int? {
      span.integer(at: place, as: UInt32.self, order: .ofThisProcess).map(Int.init)
    }
    func text(_ place: Int?) -> String? {
      guard let place, let length = span.textLength(from: place) else { return nil }
      return String(decoding: span.extracting(place..<place + length))
    }
    guard bytes.starts(with: magic), let count = number(20) else { return }
    for index in 0..<min(count, max(0, bytes.count - 48) / 24) {
      let entry = 48 + 24 * index
      // Flags, name, path, version of the system, processor: what is for some processors only has a number there.
      guard let name = text(number(entry + 4)), let path = text(number(entry + 8)),
        number(entry + 16) == 0, number(entry + 20) == 0
      else { continue }
      paths[name, default: []].append(path)
    }
  }
}
