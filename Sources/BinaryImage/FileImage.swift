/// The kind of memory that a pointer leads to, as far as the image's own file says it.
package enum TargetMemory: Sendable {
  /// In an executable section.
  case code
  /// In bytes of the file.
  case data
  /// In memory that the file has no bytes for: it starts as zeros, or the image ends there.
  case zeros
  /// Nowhere in the image.
  case outside
}

/// An image in a file of one format, whose section table can be listed as a whole.
package protocol FileImage: Image, AnyObject {
  /// Returns whether a file that starts with these bytes is of this format.
  static func recognises(_ head: [UInt8]) -> Bool

  /// Reads the headers of an open file.
  init(_ file: OpenedFile) throws(ImageError)

  /// The file.
  var file: OpenedFile { get }
  /// The size of a word in bits, and the order of its bytes. The identity has both too, but costs more.
  var words: (bits: Int, order: ImageIdentity.ByteOrder) { get }
  /// The alignment of a pointer in bytes.
  var pointerAlignment: Int { get }
  /// Whether it is a core file. The identity says that too, but costs more.
  var isCore: Bool { get }
  /// Whether this has only the debug information that was split from another file.
  var hasOnlyDebugInformation: Bool { get }

  // MARK: - Sections

  /// Returns every section of the table, in table order, without the null entry.
  ///
  /// Throws `sectionTableMissing` if the table was stripped or cut off.
  func allSections() throws(ImageError) -> [Section]

  /// Returns the answer of `sections(named:)` if the file does not change meanwhile.
  func findSections(named name: String) throws(ImageError) -> [Section]

  /// Returns the sections that have an address and bytes. They may share addresses, and need not have names. Also
  /// returns whether pointers to functions lead to descriptors: `.opd`.
  ///
  /// Throws as `allSections` does.
  func mappedSections() throws(ImageError) -> (sections: [Section], hasDescriptors: Bool)

  /// Returns a section by its index, for a pointer that leads into it.
  func anySection(_ index: Int) throws(ImageError) -> Section

  /// Returns the claims of a section's header, in this part of the file; they decide, not the caller's value. Without
  /// an offset, the file has no bytes of the section.
  func location(
    of section: Section
  ) throws(ImageError) -> (offset: UInt64?, size: UInt64, isCompressed: Bool)

  /// Returns the inflated bytes of a compressed section; nil for any other.
  func inflated(_ section: Section) throws(ImageError) -> [UInt8]?

  /// Returns whether a linker that collects garbage keeps all of an object's section, even if nothing refers to it.
  func isRetained(_ section: Section) throws(ImageError) -> Bool

  /// Throws as `checkExtents` does if the file does not change meanwhile.
  func checkDeclared() throws(ImageError)

  // MARK: - Addresses

  /// Returns the bytes of the file from a linked address to the end of its segment; nil if there are none. The caller
  /// reads `count` of them.
  func extent(from address: VirtualAddress, reading count: UInt64) throws(ImageError) -> FileExtent?

  /// Refuses bytes that mean nothing as they are.
  func checkReadable(_ offset: UInt64, _ size: UInt64) throws(ImageError)

  /// Returns the segment at a linked address as a section, if the loader may write there; nil elsewhere, and in objects.
  func writableSegment(at address: VirtualAddress) throws(ImageError) -> Section?

  /// Returns the kind of memory that a pointer leads to.
  func memory(at target: PointerValue.Target) throws(ImageError) -> TargetMemory

  /// Returns the meaning of the word that is `offset` bytes into a section.
  func pointer(
    of raw: UInt64, at offset: UInt64, in section: Section
  ) throws(ImageError) -> PointerValue

  /// Returns the steps that the loader runs of the file, in its order, and the reasons that some are not known. Throws
  /// for files that no loader opens.
  func startup() throws(ImageError) -> (steps: [StartupStep], problems: [ImageError])

  /// Returns the first place of a section from `offset` on that may be relocated; nil if there is none.
  func nextRelocated(from offset: UInt64, in section: Section) throws(ImageError) -> UInt64?
}

// The defaults of all formats.
extension FileImage {
  /// Chooses from all sections.
  package func mappedSections() throws(ImageError) -> (sections: [Section], hasDescriptors: Bool) {
    let sections = try allSections()
    return (
      sections.filter { $0.address.rawValue != 0 && $0.offset != nil },
      sections.contains { $0.name == ".opd" }
    )
  }

  /// The size of a pointer.
  package var pointerAlignment: Int { pointerSize }

  /// Takes the values of the section.
  package func location(
    of section: Section
  ) throws(ImageError) -> (offset: UInt64?, size: UInt64, isCompressed: Bool) {
    (file.place(of: section), section.size, false)
  }

  /// Returns nil, because no section is compressed.
  package func inflated(_ section: Section) throws(ImageError) -> [UInt8]? { nil }

  /// Takes the section's own flags.
  package func isRetained(_ section: Section) throws(ImageError) -> Bool { section.isRetained }

  /// Accepts all bytes.
  package func checkReadable(_ offset: UInt64, _ size: UInt64) throws(ImageError) {}

  /// Returns `offset`, because every address may be relocated.
  package func nextRelocated(
    from offset: UInt64, in section: Section
  ) throws(ImageError) -> UInt64? { offset }
}

extension OpenedFile {
  /// Refuses a section of a linked file if the loader maps other bytes to the address of the section.
  package func checkMapped(
    _ section: Section, at offset: UInt64, _ size: UInt64, by extent: FileExtent?
  ) throws(ImageError) {
    guard size > 0, holds(offset, size) else { return }
    try check(
      extent.map { $0.offset == offset && $0.size >= size } ?? false, .malformed,
      "The section table has the section here, but the segments map other bytes to its address "
        + "\(section.address.rawValue.hexadecimal), and a process gets those. Build the file again.",
      section: section.name, at: offset)
  }
}

extension FileImage {
  /// Opens the file at `path`; errors and the identity call it `name`, or else the path.
  package init(path: String, name: String? = nil) throws(ImageError) {
    try self.init(OpenedFile(path: path, name: name ?? path))
  }

  /// The file and the range of bytes that the image is.
  package var part: FilePart { file.part }

  /// The size of a pointer, without the rest of the identity, which costs more.
  package var pointerSize: Int { words.bits / 8 }

  /// The path, without the rest of the identity.
  package var path: String { file.path }

  /// The file as the loader will leave it; nil for objects and cores.
  package var addressedMemory: (any AddressedMemory)? { LinkedMemory(self) }

  /// Returns every section of exactly this name, in table order; empty if there is none.
  package func sections(named name: String) throws(ImageError) -> [Section] {
    try file.tellingChanges { () throws(ImageError) in try findSections(named: name) }
  }

  /// Throws if the file was cut off, and ends before something that it declares. Throws too if the section table has
  /// lost entries that the note describes.
  ///
  /// A section that is found in such a file is there; a section that is not found may have been lost.
  package func checkExtents() throws(ImageError) {
    try file.tellingChanges { () throws(ImageError) in try checkDeclared() }
    try file.checkUnchanged()
  }

  // MARK: - Bytes of sections

  /// The largest section that is read as a whole, and the most that one file may inflate to.
  package static var mostContents: UInt64 { 1 << 28 }

  /// Returns the range that a section's header claims, after checking that the file has it.
  private func extent(of section: Section) throws(ImageError) -> FileExtent {
    let (offset, size, _) = try location(of: section)
    guard let offset else {
      throw file.error(
        .noContents,
        hasOnlyDebugInformation
          ? "The section has no bytes in this file; look in the one it was split from."
          : "The section is memory that starts as zeros; the file has no bytes of it.",
        section: section.name)
    }
    try file.check(
      file.holds(offset, size), .truncated,
      "The file ends before the section's \(size) bytes do.", section: section.name, at: offset)
    return FileExtent(offset: offset, size: size)
  }

  /// Returns the same range, after checking that it is readable.
  package func contents(of section: Section) throws(ImageError) -> FileExtent {
    let extent = try extent(of: section)
    try checkReadable(extent.offset, extent.size)
    return extent
  }

  /// Returns all bytes of a section, uncompressed.
  func bytes(of section: Section) throws(ImageError) -> [UInt8] {
    let extent = try contents(of: section)
    if let bytes = try inflated(section) { return bytes }
    try file.check(
      extent.size <= Self.mostContents && file.stores(extent.size), .unsupported,
      "The section claims \(extent.size) bytes, more than are read at once or than the file stores.",
      section: section.name, at: extent.offset)
    return try file.read(at: extent.offset, count: Int(extent.size))
  }

  /// Lends the bytes of a section, uncompressed, in file byte order, for the call's duration.
  package func withBytes<Result>(
    of section: Section, _ body: (Span<UInt8>) -> Result
  ) throws(ImageError) -> Result {
    let bytes = try bytes(of: section)
    return body(bytes.span)
  }

  /// Returns the number of bytes that the file has of a section, inflated, and the problem if its header claims more;
  /// nil for a section without bytes.
  package func stored(
    of section: Section
  ) throws(ImageError) -> (size: UInt64, shortage: ImageError?)? {
    do throws(ImageError) {
      let extent = try extent(of: section)
      return (try inflated(section).map { UInt64($0.count) } ?? extent.size, nil)
    } catch  where error.code == .noContents && !hasOnlyDebugInformation {
      return nil
    } catch  where error.code == .truncated {
      let (offset, size, _) = try location(of: section)
      return (file.held(at: offset ?? size, size).size, error)
    }
  }

  /// Returns bytes of a section, from an offset in it on; a compressed section is inflated.
  package func bytes(
    of section: Section, at offset: UInt64, count: Int
  ) throws(ImageError) -> [UInt8] {
    if let bytes = try inflated(section) {
      try file.check(
        offset <= UInt64(bytes.count) && count <= bytes.count - Int(offset), .outOfImage,
        "The section has fewer bytes.", section: section.name)
      return Array(bytes[Int(offset)..<Int(offset) + count])
    }
    let start = (try location(of: section).offset ?? file.size).saturating(adding: offset)
    try checkReadable(start, UInt64(max(0, count)))
    return try file.read(at: start, count: count)
  }

  /// Returns the word at an offset of a section. If the section claims more than the file has, reads what is there.
  package func word(at offset: UInt64, in section: Section) throws(ImageError) -> UInt64 {
    let size = UInt64(words.bits / 8)
    let (start, claimed, isCompressed) = try location(of: section)
    var found: UInt64?
    if !isCompressed, let start, start <= file.size {
      let extent = file.held(at: start, claimed)
      try checkReadable(extent.offset, extent.size)
      if extent.size >= size, offset <= extent.size - size {
        let (bytes, position) = try file.load(at: extent.offset + offset, count: Int(size))
        found = bytes.span.word(at: position, bits: words.bits, order: words.order)
      }
    } else if let position = Int(exactly: offset) {
      let bytes = try bytes(of: section)
      found = bytes.span.word(at: position, bits: words.bits, order: words.order)
    }
    guard let found else {
      throw file.error(
        .truncated, "The section has no whole pointer at \(offset.hexadecimal).",
        section: section.name)
    }
    return found
  }

  /// Returns the word that the file maps at a linked address.
  func pointerWord(at address: VirtualAddress) throws(ImageError) -> UInt64 {
    words.order.number(of: try bytes(at: address, count: words.bits / 8)[...])
  }

  /// Returns the pointer `offset` bytes into `section`.
  package func pointer(at offset: UInt64, in section: Section) throws(ImageError) -> PointerValue {
    try pointer(of: word(at: offset, in: section), at: offset, in: section)
  }

  /// Returns the pointer at an offset of `bytes`, which are the bytes of the section.
  package func pointer(
    at offset: UInt64, of bytes: Span<UInt8>, in section: Section
  ) throws(ImageError) -> PointerValue {
    let raw = bytes.word(at: Int(offset), bits: words.bits, order: words.order)
    return try pointer(of: raw ?? 0, at: offset, in: section)
  }

  /// Returns the part of a number that is an address of this file.
  package func masked(_ value: UInt64) -> UInt64 {
    words.bits == 64 ? value : value & 0xffff_ffff
  }

  // MARK: - Addresses and texts

  /// Throws if the loader writes to one of `count` bytes at a linked address. A pointer may be written as a whole.
  func checkKept(
    at address: VirtualAddress, count: UInt64, isPointer: Bool = false
  ) throws(ImageError) {
    guard let segment = try writableSegment(at: address) else { return }
    let start = address.rawValue - segment.address.rawValue
    try checkKept(
      start..<start.saturating(adding: count), in: segment, except: isPointer ? (start, start) : nil
    )
  }

  /// Returns the bytes that the file maps at a linked address, in file byte order.
  ///
  /// Throws `outOfImage` if it maps fewer: always in objects, which have no addresses.
  package func bytes(at address: VirtualAddress, count: Int) throws(ImageError) -> [UInt8] {
    let extent = try extent(from: address, reading: UInt64(count))
    guard let extent, extent.size >= UInt64(count) else { throw file.outsideSegments(address) }
    let (bytes, position) = try file.load(at: extent.offset, count: count)
    return Array(bytes[position..<position + count])
  }

  /// Lends the text that starts at a pointer's target, without its NUL, for the call's duration.
  package func withText<Result>(
    at target: PointerValue.Target, limit: Int, _ body: (Span<UInt8>) -> Result
  ) throws(ImageError) -> Result {
    switch target {
    case .address(let address):
      guard let extent = try extent(from: address, reading: 1) else {
        throw file.outsideSegments(address)
      }
      return try file.withText(at: extent.offset, size: extent.size, limit: limit) {
        text -> Swift.Result<Result, ImageError> in
        do throws(ImageError) {
          try checkKept(at: address, count: UInt64(text.count) + 1)
          return .success(body(text))
        } catch { return .failure(error) }
      }.get()
    case .section(let index, let offset):
      return try withText(inSection: index, from: offset, limit: limit, body)
    case .null, .imported, .foreign, .unresolvable:
      throw file.noText(at: target)
    }
  }

  /// Lends a text of a section, without its NUL, for the call's duration.
  private func withText<Result>(
    inSection index: Int, from offset: UInt64, limit: Int, _ body: (Span<UInt8>) -> Result
  ) throws(ImageError) -> Result {
    let section = try anySection(index)
    let extent = try contents(of: section)
    let inflated = try inflated(section)
    try file.check(
      offset < inflated.map { UInt64($0.count) } ?? extent.size, .outOfImage,
      "\(offset.hexadecimal) lies past the end of section \(index).")
    guard let inflated else {
      return try file.withText(
        at: extent.offset + offset, size: extent.size - offset, limit: limit
      ) { text -> Swift.Result<Result, ImageError> in
        do throws(ImageError) {
          try checkKept(offset..<offset + UInt64(text.count) + 1, in: section)
          return .success(body(text))
        } catch { return .failure(error) }
      }.get()
    }
    let start = Int(offset)
    guard let length = inflated.span.textLength(from: start), length <= limit else {
      throw file.unterminated(limit, at: nil)
    }
    return body(inflated.span.extracting(start..<start + length))
  }
}
