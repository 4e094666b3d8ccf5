internal import CImageList
internal import LibC

// The folders and names of libraries, as glibc's loader has them.

/// The places of libraries that no search path of a file leads to, as a loader of glibc has them: its cache, and the folders
/// that are built into it.
package struct LoaderFolders {
  /// The places of a library: those that the loader tries here, in its order, and those that it tries on other
  /// processors.
  package typealias Places = (tried: [String], others: [String])

  /// The folders that are built into the loader.
  package let system: [String]
  private let resolvedSystem: [String]
  private let cache: [String: [CachedLibrary]]
  /// The level of this processor, 3 for x86-64-v3; 0 on other machines.
  package static var processorLevel: Int { Int(image_processor_level()) }
  /// The folders of this processor below each folder, best first.
  private let levels: [String]

  /// The loader's own soname and path.
  private let itself: (name: String, path: String)?

  /// Reads what a loader has built in, and its cache.
  ///
  /// - Parameters:
  ///   - interpreter: The path of the loader, `PT_INTERP`; nil if nobody knows it.
  ///   - identity: The machine of the process.
  package init(of interpreter: String?, for identity: ImageIdentity) {
    let built = builtFolders(of: interpreter)
    system = built.system.isEmpty ? identity.usualFolders : built.system
    resolvedSystem = system.map(\.resolved)
    cache = loaderCache(of: systemFile(built.cache).bytes, for: identity)
    let soname = interpreter.flatMap { try? ELFFile(OpenedFile(path: $0)).linkage().name }
    itself = soname.map { ($0, interpreter ?? "") }
    let isOwn = identity.machine == "x86_64" && identity.bits == 64
    levels = (isOwn ? 2..<max(2, Self.processorLevel + 1) : 2..<2).reversed().map {
      "glibc-hwcaps/x86-64-v\($0)"
    }
  }

  /// Returns the place of a library that every process has from its start: of the loader itself.
  package func started(_ name: String) -> Places {
    (itself.flatMap { [$0.name].has(name) ? [$0.path] : nil } ?? [], [])
  }

  /// Returns the places of a library in a folder.
  package func places(of name: String, in folder: String) -> Places {
    let folders = processorFolders(in: folder)
    let own = levels.map { "\(folder)/\($0)" }.filter(folders.contains)
    let others = folders.filter { !own.contains($0) } + (own.isEmpty ? [] : [folder])
    return (
      (own + [folder]).map { "\($0)/\(name)" }, others.map { "\($0)/\(name)" }.filter(isThere)
    )
  }

  /// Returns the places of a library that the cache has; without those in the built-in folders if the loader avoids
  /// them.
  package func cached(_ name: String, avoidsSystem: Bool) -> Places {
    let libraries = cache[name, default: []].filter { library in
      !avoidsSystem || !system.contains { library.path.hasPrefix("\($0)/") }
    }
    let own = levels.lazy.compactMap { level in
      libraries.first { $0.isForProcessors && $0.path.folder.hasSuffix("/\(level)") }
    }.first
    let first = libraries.first { !$0.isForProcessors }
    // The loader takes one of them, whether the file is there or not.
    let best = (own ?? first)?.path
    let others = libraries.filter(\.isForProcessors) + [first].compactMap(\.self)
    return ([best].compactMap(\.self), others.map(\.path).filter { $0 != best && isThere($0) })
  }

  /// Returns the folders that the loader of this process has of `LD_LIBRARY_PATH` or `--library-path`, and those that it
  /// has of the program's `DT_RPATH`.
  ///
  /// - Parameter program: The folders of `DT_RPATH` as the file has them.
  /// - Returns: The folders, in order.
  package func ofThisProcess(
    program: [String]
  ) -> (environment: [String], program: [String]) {
    guard var folders = loaderSearchPath else { return ([], program) }
    if folders.suffix(system.count).map(withoutSlash) == system {
      folders.removeLast(system.count)
    }
    let known = program.map(withoutSlash)
    let own = folders.prefix { known.contains(withoutSlash($0)) }
    return (Array(folders.dropFirst(own.count)), Array(own))
  }

  /// Returns whether the system keeps its libraries in the folder of a path.
  package func isSystem(_ path: String) -> Bool {
    let folder = path.folder.resolved
    return resolvedSystem.contains { folder == $0 || folder.hasPrefix("\($0)/glibc-hwcaps/") }
  }

  private func isThere(_ path: String) -> Bool {
    fileStatus(of: path.utf8, followingLinks: true) != nil
  }
}

/// The search path of this process's loader, which never changes: `RTLD_DI_SERINFO`. Nil if the loader does not say.
///
/// Waits for constructors when it is read first, but never again.
package let loaderSearchPath: [String]? = {
  // Sound: a text of our own, or null.
  guard let text = unsafe image_search_path() else { return nil }
  defer { unsafe free(text) }
  return unsafe searchPath(String(cString: text))
}()

/// A library of the loader's cache, and whether that is for some processors only.
package typealias CachedLibrary = (path: String, isForProcessors: Bool)

/// Reads the cache of the loader, which `ldconfig` writes: the libraries by name, in its order. Empty if the bytes have
/// another form.
///
/// A head of 48 bytes, entries of 24, texts. Offsets count from the start, which is behind the older form if both are there.
package func loaderCache(
  of bytes: [UInt8], for identity: ImageIdentity
) -> [String: [CachedLibrary]] {
  let wanted = identity.cacheFlags
  let span = bytes.span
  func number(_ place: Int) -> Int? {
    span.integer(at: place, as: UInt32.self, order: .ofThisProcess).map(Int.init)
  }
  // The older form has a head of 16 bytes and entries of 12.
  let older = bytes.starts(with: Array("ld.so-1.7.0".utf8)) ? number(12) : nil
  let start = older.map { (16 + 12 * $0 + 7) / 8 * 8 } ?? 0
  func text(_ place: Int?) -> String? {
    guard let place = place.map({ start + $0 }), let length = span.textLength(from: place)
    else { return nil }
    return String(decoding: span.extracting(place..<place + length))
  }
  guard bytes.dropFirst(start).starts(with: Array("glibc-ld.so.cache1.1".utf8)),
    let count = number(start + 20)
  else { return [:] }
  var libraries: [String: [CachedLibrary]] = [:]
  for index in 0..<min(count, max(0, bytes.count - start - 48) / 24) {
    let entry = start + 48 + 24 * index
    // Flags, name, path, version of the system, processor: a library for some processors has a number there.
    guard let flags = number(entry), wanted == nil || wanted == flags,
      let name = text(number(entry + 4)), let path = text(number(entry + 8)),
      let low = number(entry + 16), let high = number(entry + 20)
    else { continue }
    libraries[name, default: []].append((path, low != 0 || high != 0))
  }
  return libraries
}

/// Returns the folders below `folder` that the loader searches first: `glibc-hwcaps`, and before glibc 2.37 those of
/// `ld.so --help`. Lists each once, and no more than any system has.
package func processorFolders(in folder: String) -> [String] {
  let processors = "\(folder)/glibc-hwcaps"
  let names = (try? directoryNames(of: Array(processors.utf8))) ?? []
  let older = ["tls", "haswell", "xeon_phi", "avx512_1", "x86_64", "i686", "atomics", "aarch64"]
  var found: [String] = []
  var (seen, next): (Set<FileStamp.FileNumber>, [String]) = ([], [folder])
  while let folder = next.popLast(), seen.count < 100 {
    for place in older.map({ "\(folder)/\($0)" }) {
      // The target of a link need not be there yet: anybody who makes it makes the folder.
      if linkTarget(of: place) != nil, fileStatus(of: place.utf8, followingLinks: true) == nil {
        found.append(place)
      }
      guard let status = fileStatus(of: place.utf8, followingLinks: true), status.isDirectory,
        seen.insert(FileStamp(status).number).inserted
      else { continue }
      found.append(place)
      next.append(place)
    }
  }
  return [processors] + names.map { "\(processors)/" + String(decoding: $0, as: UTF8.self) } + found
}

/// Explains why a program's loader may have other rules than glibc's.
///
/// - Parameter path: `PT_INTERP` of the program; empty if it has none.
/// - Returns: The reason; nil for a loader of glibc.
package func problem(ofInterpreter path: String) -> String? {
  if path.isEmpty {
    return
      "It is linked statically: its plugins get a C library of their own, and none of its symbols."
  }
  guard fileStatus(of: path.utf8, followingLinks: true) != nil else {
    return "Its interpreter, \(path), is not there: no kernel starts it."
  }
  return ["ld-linux", "ld64.so", "ld.so", "ld-2."].contains { path.fileName.hasPrefix($0) }
    ? nil : "Its interpreter, \(path), is not that of glibc, whose rules are used here."
}

/// Returns the texts of a loader of glibc that are paths of its cache and folders: a folder ends with a slash, and the
/// system's are next to each other. Without a loader, or with one of another kind, there are no folders.
private func builtFolders(of loader: String?) -> (system: [String], cache: String) {
  let file = loader.flatMap { try? ELFFile(OpenedFile(path: $0)) }
  let section = try? file?.allSections().first { $0.name == ".rodata" && $0.size < 1 << 20 }
  let bytes = section.flatMap { try? file?.bytes(of: $0) } ?? []
  let (slash, end) = (UInt8(ascii: "/"), Array("/ld.so.cache".utf8))
  let texts = bytes.split(separator: 0, omittingEmptySubsequences: false)
  let folders = texts.split { $0.first != slash || $0.last != slash }.first { $0.count > 1 } ?? []
  let cache = texts.first { $0.first == slash && $0.suffix(end.count).elementsEqual(end) }
  return (
    folders.map { String(decoding: $0.dropLast(), as: UTF8.self) },
    cache.map { String(decoding: $0, as: UTF8.self) } ?? "/etc/ld.so.cache"
  )
}

/// Returns the folders of a search path, as it is written.
package func searchPath(_ text: String?) -> [String] {
  text.flatMap { $0.isEmpty ? nil : $0 }?
    .utf8.split(omittingEmptySubsequences: false) { ":;".utf8.contains($0) }
    .map { String(decoding: $0, as: UTF8.self) } ?? []
}

/// Returns a folder without the slashes at its end.
private func withoutSlash(_ folder: String) -> String {
  String(
    decoding: folder.utf8.reversed().drop { $0 == UInt8(ascii: "/") }.reversed(), as: UTF8.self)
}

extension ImageIdentity {
  /// The flags of this machine's libraries in the loader's cache; nil if they are not known here.
  fileprivate var cacheFlags: Int? {
    switch (machine, bits) {
    case ("x86_64", 64): 0x303
    case ("x86_64", 32): 0x803
    case ("i386", 32): 0x003
    case ("aarch64", 64): 0xa03
    default: nil
    }
  }

  /// The folder that systems keep libraries of this machine in: `$LIB`.
  package var libraryFolder: String {
    let folders = ["lib/\(machine)-linux-gnu", bits == 64 ? "lib64" : "lib32"]
    return folders.first { fileStatus(of: "/\($0)".utf8, followingLinks: true) != nil } ?? "lib"
  }

  /// The folders that are built into most loaders for this machine.
  fileprivate var usualFolders: [String] {
    let folder = libraryFolder
    return ["/\(folder)", "/usr/\(folder)"] + (folder == "lib" ? [] : ["/lib", "/usr/lib"])
  }
}

extension String {
  /// Whether a path is named like a shared library: `libshop.so`, `libshop.so.1`.
  package var isLibraryName: Bool {
    let parts = fileName.split(separator: ".", omittingEmptySubsequences: false)
    guard let end = parts.dropFirst().lastIndex(of: "so") else { return false }
    return parts[(end + 1)...].allSatisfy { $0.allSatisfy { ("0"..."9").contains($0) } }
  }

  /// Returns the text with the values of the loader's tokens: `$ORIGIN`, `${LIB}`.
  package func expanded(_ values: [String: String]) -> String {
    let parts = parts(at: UInt8(ascii: "$"), keepingEmpty: true)
    return parts.dropFirst().reduce(into: parts[0]) { text, part in
      for (name, value) in values {
        for spelling in ["{\(name)}", name] where part.utf8.starts(with: spelling.utf8) {
          let rest = part.utf8.dropFirst(spelling.utf8.count)
          // In $ORIGINAL nothing is replaced.
          let next = Unicode.Scalar(rest.first ?? UInt8(ascii: "/"))
          let isLonger = next.isASCII && next.properties.isIDContinue
          guard spelling != name || !isLonger else { continue }
          text += value + String(decoding: rest, as: UTF8.self)
          return
        }
      }
      text += "$" + part
    }
  }
}

extension [MappedRange] {
  /// Returns the part of a file that the header of an image is in; nil if it is in none. The ranges are in order.
  package func range(of image: MappedImage) -> MappedRange? {
    let header = image.header?.rawValue ?? 0
    return last(notAfter: UInt64(header), by: \.start).map { self[$0] }
      .flatMap { $0.contains(header) ? $0 : nil }
  }

  /// Returns the path of this process's program, and a path that opens it.
  ///
  /// - Parameter image: The first image of the loader's list, with the loader's name for it.
  /// - Returns: The two paths.
  package func program(of image: (image: MappedImage, name: String)?) -> (
    path: String, place: String
  ) {
    let place = "/proc/self/exe"
    let executable = fileStatus(of: place.utf8, followingLinks: true).map { String($0.st_ino) }
    // A loader that was started with the path of the program is the executable.
    let own = image.flatMap { range(of: $0.image) }
    guard let own, own.fileID != executable else { return (image?.name ?? "", place) }
    return (own.path, own.path)
  }
}
