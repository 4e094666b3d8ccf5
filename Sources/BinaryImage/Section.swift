/// A named range of an image, as the linker wrote it.
///
/// ELF: one section header. Mach-O: one `section` or `section_64` of a segment.
package struct Section: Hashable, Sendable {
  /// The position in the file's section table; for a loaded image, in what was found.
  package var index: Int
  /// The name, `sh_name` or `sectname`.
  package var name: String
  /// The bytes of a name that is no UTF-8; nil for any other.
  package var nameBytes: [UInt8]?
  /// The Mach-O segment that holds it; nil for ELF.
  package var segment: String?
  /// The linked address; in a relocatable object, 0.
  package var address: VirtualAddress
  /// Where the bytes are in the file, whose part an archive's member or a slice is; nil where the
  /// file has none, and for a loaded image.
  package var offset: FileOffset?
  /// The size in bytes.
  package var size: UInt64
  /// Flag letters as `readelf -S` prints them (`WAR`), or the Mach-O attributes by name.
  package var flags: String
  /// What it is for: `sh_type` as `readelf -S` prints it, or the type that Apple's assembler takes.
  package var type: String
  /// What its address is a multiple of; 0 where nothing says so.
  package var alignment: UInt64
  /// The size of each entry where all have one, else 0.
  package var entrySize: UInt64
  /// The section that it refers to, `sh_link`; nil for Mach-O.
  package var link: Int?
  /// Whether the linker was told to keep it: `SHF_GNU_RETAIN`, `S_ATTR_NO_DEAD_STRIP`.
  ///
  /// Some linkers drop the flag from what they write, so only an object's answer means something.
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
