/// The identity of an image: the first line that `section-dump` prints about it.
package struct ImageIdentity: Hashable, Codable, Sendable {
  /// The container format.
  package enum Format: String, Hashable, Codable, Sendable {
    /// Executable and Linkable Format.
    case elf
    /// Mach object.
    case macho
  }

  /// The order of the bytes of a word.
  package enum ByteOrder: String, Hashable, Codable, Sendable {
    /// Least significant byte first.
    case little
    /// Most significant byte first.
    case big
  }

  /// The purpose of an image; `executable` includes position-independent ones.
  package enum Kind: String, Hashable, Codable, Sendable {
    /// A shared object or dylib.
    case shared
    /// An executable: `ET_EXEC`, PIE (`DF_1_PIE`, or `PT_INTERP` and `DT_DEBUG`), `MH_EXECUTE`.
    case executable
    /// A relocatable object.
    case object
    /// A Mach-O bundle.
    case bundle
    /// A core dump.
    case core
    /// Split debug information.
    case debug
  }

  /// The path it was opened by, or the loader's name for it.
  package var path: String
  /// The container format.
  package var format: Format
  /// The size of an address in bits: 32 or 64.
  package var bits: Int
  /// The order of the bytes of a word.
  package var byteOrder: ByteOrder
  /// The machine, as SECTION-DUMP names it: `x86_64`, `aarch64`, …
  package var machine: String
  /// The purpose of the image.
  package var kind: Kind
  /// The build-id or `LC_UUID`, as bytes; empty if there is none.
  package var id: [UInt8]

  /// `aarch64`, with its unusual properties.
  package var machineTitle: String {
    let isUsual = bits == 64 && byteOrder == .little
    return isUsual ? machine : "\(machine) (\(bits) bits, \(byteOrder.rawValue) endian)"
  }

  /// Returns whether both are for processes of one machine, class and byte order.
  package func isFor(_ other: Self) -> Bool {
    (machine, bits, byteOrder) == (other.machine, other.bits, other.byteOrder)
  }

  /// Describes an image.
  package init(
    path: String, format: Format, bits: Int, byteOrder: ByteOrder,
    machine: String, kind: Kind, id: [UInt8] = []
  ) {
    self.path = path
    self.format = format
    self.bits = bits
    self.byteOrder = byteOrder
    self.machine = machine
    self.kind = kind
    self.id = id
  }
}

extension ImageIdentity.ByteOrder {
  /// Returns at most eight bytes in this order as a number.
  package func number(of bytes: ArraySlice<UInt8>) -> UInt64 {
    self == .little
      ? bytes.reversed().reduce(0) { $0 << 8 | UInt64($1) }
      : bytes.reduce(0) { $0 << 8 | UInt64($1) }
  }
}

/// An image that records can be read from: a file on disk, or the loader's mapping of a file.
///
/// Both give the same sections, bytes and targets, so that the layers above cannot tell them apart.
/// Conforming types are not thread-safe unless they are `Sendable`; use one value on one thread.
package protocol Image {
  /// The identity of the image.
  var identity: ImageIdentity { get }
  /// The size of a pointer in this image, in bytes.
  var pointerSize: Int { get }
  /// The path it was opened by, or the loader's name for it.
  var path: String { get }

  /// Returns every section of exactly this name, in table order; empty if there is none.
  ///
  /// Throws if sections cannot be looked for: an empty answer always means "there is none".
  func sections(named name: String) throws(ImageError) -> [Section]

  /// Lends the bytes of a section, uncompressed, in file byte order, for the call's duration.
  func withBytes<Result>(
    of section: Section, _ body: (Span<UInt8>) -> Result
  ) throws(ImageError) -> Result

  /// Returns the pointer `offset` bytes into `section`.
  func pointer(at offset: UInt64, in section: Section) throws(ImageError) -> PointerValue

  /// Returns the same without looking for the word, which is in the bytes of the section.
  func pointer(
    at offset: UInt64, of bytes: Span<UInt8>, in section: Section
  ) throws(ImageError) -> PointerValue

  /// Lends the text that starts at a pointer's target, without its NUL, for the call's duration.
  ///
  /// Throws `outOfImage` if it leads to nothing that is mapped from the image's own file, and `unterminated` if no NUL
  /// comes within `limit` bytes or before the mapping ends.
  func withText<Result>(
    at target: PointerValue.Target, limit: Int, _ body: (Span<UInt8>) -> Result
  ) throws(ImageError) -> Result

  /// Calls `body` with each whole slot of a section of pointers, until it returns false.
  ///
  /// `body` receives the slot's offset, its contents, and the text that its pointer leads to, if there is one.
  ///
  /// - Parameters:
  ///   - section: The section.
  ///   - limit: The bytes after which a text without NUL does not count as a text.
  ///   - body: Called with the slots in order.
  /// - Returns: The size of the section, as far as its bytes are there.
  /// - Throws: ``ImageError`` if they cannot be read.
  func forEachSlot(
    of section: Section, limit: Int, _ body: (UInt64, SlotContents, Span<UInt8>?) -> Bool
  ) throws(ImageError) -> UInt64

  /// Finds the first relocation or fixup that writes to a range of a section.
  ///
  /// - Parameters:
  ///   - range: Offsets in the section.
  ///   - section: The section.
  ///   - pointers: The offsets of words that may be written, as words.
  /// - Returns: Its place; nil if the bytes stay as they are, as all bytes in memory do.
  /// - Throws: ``ImageError`` if the relocations cannot be read.
  func rewrite(
    of range: Range<UInt64>, in section: Section, except pointers: (UInt64, UInt64)?
  ) throws(ImageError) -> UInt64?

  /// The memory with structures in C; nil if this image cannot tell.
  var addressedMemory: (any AddressedMemory)? { get }
}

extension Image {
  /// Returns nil, because the loader has written everything.
  package func rewrite(
    of range: Range<UInt64>, in section: Section, except pointers: (UInt64, UInt64)?
  ) throws(ImageError) -> UInt64? { nil }

  /// Throws if a relocation or fixup writes to a range of a section, except to these words.
  ///
  /// A process then has other bytes there than the file.
  package func checkKept(
    _ range: Range<UInt64>, in section: Section, except pointers: (UInt64, UInt64)? = nil
  ) throws(ImageError) {
    guard let place = try rewrite(of: range, in: section, except: pointers) else { return }
    throw ImageError(
      .noContents, image: path, section: section.name.isEmpty ? nil : section.name,
      message:
        "A relocation of \(place.hexadecimal) writes over these bytes, so a process has other ones than the "
        + "file. Build the file again.")
  }

  /// The size in the identity.
  package var pointerSize: Int { identity.bits / 8 }

  /// The path in the identity.
  package var path: String { identity.path }

  /// Looks for the word again, because it may mean more than its bytes.
  package func pointer(
    at offset: UInt64, of bytes: Span<UInt8>, in section: Section
  ) throws(ImageError) -> PointerValue { try pointer(at: offset, in: section) }

  /// Calls `body` with each slot, its resolved pointer, and the text that the pointer leads to.
  package func forEachSlot(
    of section: Section, limit: Int, _ body: (UInt64, SlotContents, Span<UInt8>?) -> Bool
  ) throws(ImageError) -> UInt64 {
    // The bytes that are really there bound the loop, not the size that the table claims.
    try withBytes(of: section) { bytes in
      let (size, slotSize) = (UInt64(bytes.count), UInt64(pointerSize))
      for offset in stride(from: 0, to: size - size % slotSize, by: Int(slotSize)) {
        guard visit(offset, of: bytes, in: section, limit: limit, body) else { break }
      }
      return size
    }
  }

  private func visit(
    _ offset: UInt64, of bytes: Span<UInt8>, in section: Section, limit: Int,
    _ body: (UInt64, SlotContents, Span<UInt8>?) -> Bool
  ) -> Bool {
    let pointer: PointerValue
    do throws(ImageError) {
      pointer = try self.pointer(at: offset, of: bytes, in: section)
      try checkKept(offset..<offset + UInt64(pointerSize), in: section, except: (offset, offset))
    } catch { return body(offset, .unresolved(error), nil) }
    // Other pointers lead to no text, and an error for each would cost more than all else.
    guard pointer.mayLeadToText else { return body(offset, .pointer(pointer), nil) }
    do throws(ImageError) {
      return try withText(at: pointer.target, limit: limit) { body(offset, .pointer(pointer), $0) }
    } catch { return body(offset, .unread(pointer, error), nil) }
  }

  /// The memory with structures in C; nil if this image cannot tell.
  package var addressedMemory: (any AddressedMemory)? { nil }
}

/// A named range of an image, as the linker wrote it.
///
/// ELF: one section header. Mach-O: one `section` or `section_64` of a segment.
package struct Section: Hashable, Sendable {
  /// The position in the file's section table; for a loaded image, among the sections that were found.
  package var index: Int
  /// The name, `sh_name` or `sectname`.
  package var name: String
  /// The bytes of a name that is not UTF-8; nil for any other.
  package var nameBytes: [UInt8]?
  /// The Mach-O segment that holds it; nil for ELF.
  package var segment: String?
  /// The linked address; in a relocatable object, 0.
  package var address: VirtualAddress
  /// The place of the bytes in the whole file, also for an archive's member or a slice. Nil if the file has none, and
  /// for a loaded image.
  package var offset: FileOffset?
  /// The size in bytes.
  package var size: UInt64
  /// Flag letters as `readelf -S` prints them (`WAR`), or the Mach-O attributes by name.
  package var flags: String
  /// Its purpose: `sh_type` as `readelf -S` prints it, or the type that Apple's assembler takes.
  package var type: String
  /// The alignment of its address; 0 if nothing states it.
  package var alignment: UInt64
  /// The size of each entry if all have one size, else 0.
  package var entrySize: UInt64
  /// The section that it refers to, `sh_link`; nil for Mach-O.
  package var link: Int?
  /// Whether the linker must keep it: `SHF_GNU_RETAIN`, `S_ATTR_NO_DEAD_STRIP`.
  ///
  /// Some linkers drop the flag from what they write, so only the flag of an object means something.
  package var isRetained: Bool
  /// Whether a process gets the bytes: the loader maps them, and relocations are applied to them.
  ///
  /// ELF: `SHF_ALLOC`, and a `PT_LOAD` that holds the address; in an object no `SHF_EXCLUDE`. Mach-O: a segment that
  /// takes memory, outside of split debug information.
  package var isMapped = true

  /// Describes a section.
  package init(
    index: Int, name: String, segment: String? = nil, address: VirtualAddress,
    offset: FileOffset?, size: UInt64, flags: String = "", type: String = "",
    alignment: UInt64 = 0, entrySize: UInt64 = 0, link: Int? = nil, isRetained: Bool = false
  ) {
    self.index = index
    self.name = name
    self.segment = segment
    self.address = address
    self.offset = offset
    self.size = size
    self.flags = flags
    (self.type, self.alignment, self.entrySize, self.link) = (type, alignment, entrySize, link)
    self.isRetained = isRetained
  }

  /// The linked addresses of the section.
  package var addresses: Range<UInt64> {
    address.rawValue..<address.rawValue.saturating(adding: size)
  }
}
