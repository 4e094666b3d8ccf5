package import BinaryImage

/// A Mach-O file on disk: any class, byte order and machine, linked or relocatable.
///
/// Everything is a `pread` where it is needed. The file is neither mapped nor loaded, and nothing in
/// it is believed before it is checked. Use one value on one thread.
///
/// C: `<mach-o/loader.h>`; what dyld does with it, without doing it.
package final class MachOFile: FileFormat {
  package let file: OpenedFile
  let header: MachOHeader
  /// What the file is.
  package private(set) lazy var identity = makeIdentity()

  package var words: (bits: Int, order: ImageIdentity.ByteOrder) { (header.bits, header.order) }

  // Each part is read when it is first needed, once.
  package var slots = FileWindow()
  package var texts = FileWindow()
  package var mapped = FileWindow()
  var indirectSymbols = FileWindow()
  var fixups = MachOFixupTables()

  /// Reads the header of a file that is open already.
  package init(_ file: OpenedFile) throws(ImageError) {
    self.file = file
    header = try MachOHeader(of: file)
  }

  /// Whether a file that starts with these bytes claims to be Mach-O.
  package static func recognises(_ head: [UInt8]) -> Bool { MachOHeader.format(of: head) != nil }

  // MARK: - Sections

  /// Every section of every segment, in file order.
  package func allSections() throws(ImageError) -> [Section] {
    try commands.get().sections.enumerated().map { section($0, $1) }
  }

  /// More sections of one name than any linker writes: those of ELF are counted with 16 bits.
  private static let mostSections = Int(UInt16.max)

  /// Every section of exactly this name, or of this `SEGMENT,section`, in file order.
  package func findSections(named name: String) throws(ImageError) -> [Section] {
    let commands = try commands.get()
    var found: [Section] = []
    var (total, relocations): (UInt64, UInt64) = (0, 0)
    for (index, entry) in commands.sections.enumerated()
    where entry.name == name || "\(entry.segment),\(entry.name)" == name {
      found.append(section(index, entry))
      if entry.offset != nil { total = total.saturating(adding: min(entry.size, file.size)) }
      if header.isObject { relocations += entry.relocationCount * 8 }
    }
    try file.check(
      found.count <= Self.mostSections, .malformed,
      "The file claims \(found.count) sections of this name.", section: name)
    try file.check(
      found.count <= 1 || total <= file.size, .malformed,
      "\(found.count) sections of this name share their bytes.", section: name)
    // What claims too much by itself is found to be cut off.
    try file.check(
      found.count <= 1 || relocations <= file.size, .malformed,
      "The relocations of \(found.count) sections of this name share their bytes.", section: name)
    fixups.wanted.insert(found, named: name)
    return found
  }

  private func section(_ index: Int, _ entry: MachOSection) -> Section {
    var section = Section(
      index: index + 1, name: entry.name, segment: entry.segment,
      address: VirtualAddress(rawValue: header.isObject ? 0 : entry.address),
      offset: entry.offset.map(file.offset), size: entry.size, flags: entry.flagNames,
      type: entry.typeName, alignment: entry.alignment, entrySize: entry.entrySize,
      isRetained: entry.isRetained)
    section.isMapped = isMapped(entry)
    return section
  }

  /// Returns whether a process gets the section: its segment takes memory.
  ///
  /// No process gets bytes of split debug information. A section without any is in the file that it was split from.
  private func isMapped(_ entry: MachOSection) -> Bool {
    if header.isObject { return true }
    if header.type == .dsym { return entry.offset == nil }
    return (try? commands.get().segments[entry.owner].memorySize) ?? 0 > 0
  }

  /// The entry of a section by its ordinal, which counts from 1.
  func sectionEntry(_ ordinal: Int) throws(ImageError) -> MachOSection {
    let sections = try commands.get().sections
    try file.check(
      ordinal >= 1 && ordinal <= sections.count, .outOfImage, "There is no section \(ordinal).")
    return sections[ordinal - 1]
  }

  // MARK: - Parts that are read once

  /// The load commands.
  private(set) lazy var commands = Result<MachOCommands, ImageError> { () throws(ImageError) in
    try MachOCommands(of: file, header)
  }

  /// The symbols; nil where there are none.
  private(set) lazy var symbols = Result<MachOSymbols?, ImageError> { () throws(ImageError) in
    try commands.get().symbols.map { MachOSymbols($0, of: file, header) }
  }

  /// The segments of a linked file.
  private(set) lazy var segments = Result<MachOSegments, ImageError> { () throws(ImageError) in
    try MachOSegments(commands.get(), of: file, header)
  }

  /// The addresses of the sections that are run.
  private(set) lazy var codeRanges = Result<AddressRanges, ImageError> { () throws(ImageError) in
    AddressRanges(
      try commands.get().sections.filter(\.holdsCode).map {
        $0.address..<$0.address.saturating(adding: $0.size)
      })
  }
}
