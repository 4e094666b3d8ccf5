internal import LibC

// The folders and names of libraries, as glibc's loader has them.

/// What the loader's cache says of a name: where the library is, and where it is on some processors instead.
package typealias CachedLibrary = (paths: [String], rivals: [String])

/// Reads the cache of the loader, which `ldconfig` writes: the libraries by name. Empty if the bytes have another form.
///
/// A head of 48 bytes, entries of 24, texts. Offsets count from the start.
package func loaderCache(
  of bytes: [UInt8], for identity: ImageIdentity
) -> [String: CachedLibrary] {
  var libraries: [String: CachedLibrary] = [:]
  let wanted = identity.cacheFlags
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
    guard let flags = number(entry), wanted == nil || wanted == flags,
      let name = text(number(entry + 4)), let path = text(number(entry + 8)),
      let low = number(entry + 16), let high = number(entry + 20)
    else { continue }
    var library = libraries[name] ?? ([], [])
    if low != 0 || high != 0 {
      library.rivals.append(path)
    } else if wanted == nil || library.paths.isEmpty {
      // The loader takes the first for its machine, whether that is there or not.
      library.paths.append(path)
    }
    libraries[name] = library
  }
  return libraries
}

/// The folders below one where the loader looks first: `glibc-hwcaps`, and before glibc 2.37 those of `ld.so --help`. Each
/// once, and no more than any system has.
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

/// Says why a program's loader may have other rules than glibc's; nil for one of glibc.
///
/// - Parameter path: `PT_INTERP` of the program; empty if it has none.
package func problem(ofInterpreter path: String) -> String? {
  if path.isEmpty {
    return
      "It is linked statically: what it opens gets a C library of its own, and none of its symbols."
  }
  guard fileStatus(of: path.utf8, followingLinks: true) != nil else {
    return "Its interpreter, \(path), is not there: no kernel starts it."
  }
  return ["ld-linux", "ld64.so", "ld.so", "ld-2."].contains { path.fileName.hasPrefix($0) }
    ? nil : "Its interpreter, \(path), is not that of glibc, whose rules are used here."
}

/// The folders that are written in a loader of glibc: texts that end with a slash, one after the other. Empty if there
/// are none.
private func foldersBuilt(into loader: String) -> [String] {
  guard let file = try? OpenedFile(path: loader) else { return [] }
  let (bytes, _) = readBytes(of: file.descriptor, at: 0, count: Int(min(file.size, 1 << 20)))
  let texts = bytes.split(separator: 0, omittingEmptySubsequences: false)
  let slash = UInt8(ascii: "/")
  var found: ArraySlice<ArraySlice<UInt8>> = []
  for (place, text) in texts.enumerated() where text.first == slash && text.last == slash {
    found = found.endIndex == place ? texts[found.startIndex...place] : texts[place...place]
    // The end of the list.
    let next = texts.dropFirst(place + 1).first
    if found.count > 1, next?.first != slash || next?.last != slash { break }
  }
  return found.count > 1 ? found.map { String(decoding: $0.dropLast(), as: UTF8.self) } : []
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
    let folder = "lib/\(machine)-linux-gnu"
    if fileStatus(of: "/\(folder)".utf8, followingLinks: true) != nil { return folder }
    return bits == 64 && fileStatus(of: "/lib64".utf8, followingLinks: true) != nil
      ? "lib64" : "lib"
  }

  /// The folders that are built into a loader, by where that is: `ld.so --help` prints them.
  package func systemFolders(of interpreter: String?) -> [String] {
    let usual = "/\(libraryFolder)"
    let own = interpreter?.resolved.folder ?? usual.resolved
    if ["/lib", "/usr/lib"].contains(own.folder) {
      return ["/lib/\(own.fileName)", "/usr/lib/\(own.fileName)", "/lib", "/usr/lib"]
    }
    guard ["/", "/usr"].contains(own.folder) else {
      let built = foldersBuilt(into: interpreter ?? "")
      return built.isEmpty ? [own] : built
    }
    // Where one of them is a link, both are the same.
    let named = (interpreter?.folder ?? usual).fileName
    let names = named == own.fileName ? [named] : [own.fileName, named]
    return names.flatMap { ["/\($0)", "/usr/\($0)"] }
  }
}

extension String {
  /// Whether a path is called as shared libraries are: `libshop.so`, `libshop.so.1`.
  package var isLibraryName: Bool {
    let parts = fileName.split(separator: ".", omittingEmptySubsequences: false)
    guard let end = parts.dropFirst().lastIndex(of: "so") else { return false }
    return parts[(end + 1)...].allSatisfy { $0.allSatisfy { ("0"..."9").contains($0) } }
  }

  /// The text with the values of the loader's tokens: `$ORIGIN`, `${LIB}`.
  package func expanded(_ values: [String: String]) -> String {
    let parts = parts(at: UInt8(ascii: "$"), keepingEmpty: true)
    return parts.dropFirst().reduce(into: parts[0]) { text, part in
      for (name, value) in values {
        for spelling in ["{\(name)}", name] where part.utf8.starts(with: spelling.utf8) {
          let rest = part.utf8.dropFirst(spelling.utf8.count)
          // Of $ORIGINAL nothing is replaced.
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
