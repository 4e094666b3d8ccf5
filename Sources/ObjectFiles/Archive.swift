internal import BinaryImage
internal import LibC

/// An archive of `ar` in the variants of System V, GNU and BSD. It may be thin.
///
/// Members are found one after the other. An index only shows whether there should be more.
///
/// C: `struct ar_hdr` of `<ar.h>`.
struct Archive {
  private let file: OpenedFile
  /// Whether the members are files of their own next to the archive.
  private let isThin: Bool

  private static let magic = Array("!<arch>\n".utf8)
  private static let thinMagic = Array("!<thin>\n".utf8)
  private static let headerSize: UInt64 = 60

  /// Returns whether a file that starts with these bytes is an archive.
  static func recognises(_ head: [UInt8]) -> Bool {
    head.starts(with: magic) || head.starts(with: thinMagic)
  }

  /// Returns whether a file is an archive without members. C libraries have such archives for what moved elsewhere.
  static func isEmpty(_ file: OpenedFile) -> Bool {
    recognises(file.head) && file.size == magic.count
  }

  /// Creates the archive of an open file.
  init(_ file: OpenedFile) {
    self.file = file
    isThin = file.head.starts(with: Self.thinMagic)
  }

  /// Hands over every member that may be or hold an image, or the error that ends the search.
  ///
  /// A member that cannot be opened does not hide the others. If it is unknown where the next one begins, it is the
  /// last.
  func forEachMember(_ body: (Result<OpenedFile, ImageError>) -> Void) {
    var names: (offset: UInt64, size: UInt64)?
    var furthest: UInt64 = 0
    var opened: Set<[UInt8]> = []
    var nameSize: UInt64 = 0
    var position = UInt64(Self.magic.count)
    do throws(ImageError) {
      while position < file.size {
        // A padding byte may follow the last member.
        if file.size - position == 1, try file.read(at: position, count: 1) == [0x0a] { break }
        let entry = try header(at: position)
        let start = position + Self.headerSize
        let name: MemberName
        do throws(ImageError) {
          name = try MemberName.read(entry.name, in: names, of: file, data: start, entry.size)
        } catch {
          // The size is still valid: the next member begins after it.
          guard !isThin, entry.size <= file.size - start else { throw error }
          body(.failure(error))
          position = start + entry.size + entry.size % 2
          continue
        }
        let isStored = !isThin || name.member == nil
        let (end, overflow) = start.addingReportingOverflow(isStored ? entry.size : 0)
        let isCut = overflow || end > file.size
        // The part that is there may still hold entries.
        let size = isCut ? file.size - start : entry.size
        // Members may share a name, but not all of them the longest name.
        nameSize += UInt64(name.member?.utf8.count ?? 0)
        try file.check(
          nameSize <= 2 * file.size, .malformed,
          "Too many members share one table of names.", at: position)
        switch name {
        case .names where isCut, .index where isCut: break
        case .names: names = (start, entry.size)
        case .index(let bits, let isBSD, let skipped):
          let table = FileExtent(offset: start + skipped, size: entry.size - skipped)
          furthest = max(furthest, try furthestMember(in: table, bits: bits, isBSD: isBSD))
        case .nested(let archive):
          // All members of a nested archive are reported once.
          if opened.insert(Array(archive.utf8)).inserted {
            body(
              .failure(
                file.error(
                  .unsupported,
                  "Some members are in another archive, \(archive); name that archive itself.",
                  at: position)))
          }
        case .member(let text, let skipped):
          body(
            Result { () throws(ImageError) in
              if isThin { return try openBeside(text, among: &opened, at: position) }
              return try OpenedFile(text, of: file, at: start + skipped, size: size - skipped)
            })
        }
        try file.check(
          !isCut, .truncated,
          "The file ends before the \(entry.size) bytes of \(name.member ?? "a table") do.",
          at: position)
        position = end + end % 2
      }
      try file.check(
        furthest < position, .truncated,
        "The index names a member at \(furthest.hexadecimal), past the last.", at: position)
    } catch {
      body(.failure(error))
    }
  }

  /// Reads the header of a member: the 16 bytes of its name, and its size.
  private func header(
    at position: UInt64
  ) throws(ImageError) -> (name: [UInt8], size: UInt64) {
    try file.check(
      file.size - position >= Self.headerSize, .truncated,
      "The file ends inside a member's header.", at: position)
    let (bytes, start) = try file.load(at: position, count: Int(Self.headerSize))
    let header = Array(bytes[start..<start + Int(Self.headerSize)])
    try file.check(
      header[58...] == [0x60, 0x0a], .malformed, "What is here is no member's header.",
      at: position)
    guard let size = UInt64(decimal: header[48..<58]) else {
      let text = String(decoding: header[48..<58], as: UTF8.self)
      throw file.error(.malformed, "A member's size is to be \"\(text)\".", at: position)
    }
    return (Array(header[..<16]), size)
  }

  /// More bytes than the index of any archive has.
  private static let mostOfIndex: UInt64 = 1 << 28

  /// Returns the furthest member's header in an index. Otherwise an archive cut off between members looks whole.
  ///
  /// A System V index is a big-endian count and offsets. A BSD index is a size, and pairs of name and offset, in the
  /// members' byte order.
  private func furthestMember(
    in index: FileExtent, bits: Int, isBSD: Bool
  ) throws(ImageError) -> UInt64 {
    let word = UInt64(bits / 8)
    guard word > 0, index.size >= word, index.size <= Self.mostOfIndex else { return 0 }
    let first = try file.read(at: index.offset, count: Int(word))
    // Apple's indexes are little-endian, except for machines that nobody builds for any more.
    let order: ImageIdentity.ByteOrder = isBSD && first.last == 0 ? .little : .big
    let count = first.span.word(at: 0, bits: bits, order: order) ?? 0
    let bytes = isBSD ? count : count.multipliedReportingOverflow(by: word).partialValue
    guard bytes <= index.size - word else { return 0 }
    let table = FileExtent(offset: index.offset + word, size: bytes)
    // The offset is second in a pair.
    let entry = Int(isBSD ? 2 * word : word)
    var furthest: UInt64 = 0
    try file.forEachPiece(of: table, entry: entry) { entries in
      for end in stride(from: entry, through: entries.count, by: entry) {
        let place = entries.span.word(at: end - Int(word), bits: bits, order: order)
        furthest = max(furthest, place ?? 0)
      }
    }
    return furthest
  }

  // MARK: - Thin archives

  /// Opens the file that a thin archive names. It must be inside the archive's directory.
  ///
  /// An archive may come from anybody, and must not give its author access to other files. Nested thin archives, or a
  /// file that is named again and again, must not cause endless work. `ar` writes neither.
  private func openBeside(
    _ name: String, among opened: inout Set<[UInt8]>, at offset: UInt64
  ) throws(ImageError) -> OpenedFile {
    func refused(_ reason: String) -> ImageError {
      file.error(.unreadable, "The member \(name) \(reason).", at: offset)
    }
    let outside = "is outside the archive's directory, and is not opened; name that file itself"
    guard let path = file.systemPath else {
      throw refused("is next to an archive inside another file; name the member itself")
    }
    guard !name.isAbsolute, !name.pathParts.contains("..") else {
      throw refused(outside)
    }
    let directory = Self.directory(of: path)
    guard let resolved = Self.resolved(directory + Array(name.utf8)) else {
      throw refused("should be next to the archive, and is missing")
    }
    guard Self.isInside(resolved, directory) else { throw refused(outside) }
    let member: OpenedFile
    do throws(ImageError) {
      member = try OpenedFile(path: resolved, name: name, memberOf: file)
    } catch {
      throw file.error(error.code, "The member \(name) is not read: \(error.message)", at: offset)
    }
    try file.check(
      !member.head.starts(with: Self.thinMagic), .unsupported,
      "The member \(name) is a thin archive, which a thin archive cannot hold; name it by itself.",
      at: offset)
    guard opened.insert(resolved).inserted else {
      throw file.error(.malformed, "The member \(name) is named once more.", at: offset)
    }
    return member
  }

  /// Returns the directory of a file, with the slash after it.
  fileprivate static func directory(of path: [UInt8]) -> [UInt8] {
    path.lastIndex(of: UInt8(ascii: "/")).map { Array(path[...$0]) } ?? Array("./".utf8)
  }

  /// Returns whether a resolved path leads into a directory.
  fileprivate static func isInside(_ path: [UInt8], _ directory: [UInt8]) -> Bool {
    let slash = UInt8(ascii: "/")
    guard let inside = resolved(directory) else { return false }
    return path.starts(with: inside.last == slash ? inside : inside + [slash])
  }

  /// Returns the path without links, dots and doubled slashes; nil if nothing is there.
  fileprivate static func resolved(_ path: [UInt8]) -> [UInt8]? {
    // Sound: the text ends in NUL and outlives the call; the answer is freed once it is copied.
    guard !path.contains(0), let answer = unsafe path.withCText({ unsafe realpath($0, nil) }) else {
      return nil
    }
    defer { unsafe free(answer) }
    return Array(unsafe String(cString: answer).utf8)
  }
}

extension ImageFile {
  /// Returns whether a file may be a member of a thin archive: it is in the archive's directory, by its own path.
  package static func isBeside(_ member: [UInt8], archive: [UInt8]) -> Bool {
    Archive.resolved(member) == member && Archive.isInside(member, Archive.directory(of: archive))
  }
}

/// The name in the header of a member.
private enum MemberName {
  /// A file. In the BSD variant, the skipped bytes of its contents are its name.
  case member(String, skipped: UInt64)
  /// A member of another archive that a thin archive names.
  case nested(String)
  /// The names that do not fit into headers: `//`.
  case names
  /// The index of symbols for linkers: `/`, `/SYM64/`, `__.SYMDEF`. `bits` is the size of its words; it is 0 for other
  /// tables of linkers.
  case index(bits: Int, isBSD: Bool, skipped: UInt64)

  private static let longest: UInt64 = 4096

  /// The name; nil for tables.
  var member: String? {
    switch self {
    case .member(let name, _), .nested(let name): name
    case .names, .index: nil
    }
  }

  /// Reads the name field in the header of a member.
  static func read(
    _ field: [UInt8], in names: (offset: UInt64, size: UInt64)?, of file: OpenedFile,
    data start: UInt64, _ size: UInt64
  ) throws(ImageError) -> MemberName {
    let slash = UInt8(ascii: "/")
    let padding = field.reversed().prefix { $0 == 0x20 || $0 == 0 }.count
    let trimmed = field.dropLast(padding)
    if trimmed.starts(with: Array("#1/".utf8)), let length = UInt64(decimal: trimmed.dropFirst(3)) {
      try file.check(
        length <= min(size, longest) && start + length <= file.size, .malformed,
        "A member's name has \(length) bytes.", at: start)
      let bytes = try file.read(at: start, count: Int(length))
      let name = bytes.prefix { $0 != 0 }
      try file.check(
        bytes.dropFirst(name.count).allSatisfy({ $0 == 0 }), .malformed,
        "A member's name ends before its \(length) bytes.", at: start)
      return named(name, skipped: length)
    }
    guard trimmed.first == slash else {
      // System V ends a name with a slash, BSD with spaces.
      return named(trimmed.last == slash ? trimmed.dropLast() : trimmed, skipped: 0)
    }
    if trimmed == [slash, slash] { return .names }
    let digits = trimmed.dropFirst()
    guard let first = digits.first, (0x30...0x39).contains(first) else {
      return switch String(decoding: trimmed, as: UTF8.self) {
      case "/": .index(bits: 32, isBSD: false, skipped: 0)
      case "/SYM64/": .index(bits: 64, isBSD: false, skipped: 0)
      // `/<ECSYMBOLS>/` and others, of linkers for Windows.
      case let text where text.hasPrefix("/<"): .index(bits: 0, isBSD: false, skipped: 0)
      case let text: .member(text, skipped: 0)
      }
    }
    // For a member of a nested archive, a colon and its offset there follow.
    let number = digits.prefix { $0 != UInt8(ascii: ":") }
    // Some versions of GNU ar leave the final slash of a 15-byte name after its number.
    guard let offset = UInt64(decimal: number.last == slash ? number.dropLast() : number) else {
      throw file.error(.malformed, "A member's name is no place in the table of names.", at: start)
    }
    guard let names, offset < names.size else {
      throw file.error(.malformed, "A member's name lies outside the table of names.", at: start)
    }
    let most = min(names.size - offset, longest, file.size - names.offset - offset)
    let (bytes, position) = try file.load(at: names.offset + offset, count: Int(most))
    let text = bytes[position..<position + Int(most)].prefix { $0 != 0x0a && $0 != 0 }
    let name = String(decoding: text.last == slash ? text.dropLast() : text, as: UTF8.self)
    return number.count < digits.count ? .nested(name) : .member(name, skipped: 0)
  }

  private static func named(_ bytes: ArraySlice<UInt8>, skipped: UInt64) -> Self {
    guard bytes.starts(with: Array("__.SYMDEF".utf8)) else {
      return .member(String(decoding: bytes, as: UTF8.self), skipped: skipped)
    }
    let isLong = bytes.starts(with: Array("__.SYMDEF_64".utf8))
    return .index(bits: isLong ? 64 : 32, isBSD: true, skipped: skipped)
  }
}

extension UInt64 {
  /// Reads a number of digits that only spaces follow; nil for anything else.
  fileprivate init?(decimal field: ArraySlice<UInt8>) {
    let digits = field.prefix { $0 != 0x20 }
    guard digits.allSatisfy({ (0x30...0x39).contains($0) }),
      field[digits.endIndex...].allSatisfy({ $0 == 0x20 })
    else { return nil }
    self.init(String(decoding: digits, as: UTF8.self))
  }
}
