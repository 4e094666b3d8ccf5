package import BinaryImage

/// A Mach-O file on disk: any class, byte order and machine, linked or relocatable.
///
/// Every part is read by `pread` when it is needed. The file is neither mapped nor loaded, and everything in it is
/// checked before it is used. Use one value on one thread.
///
/// C: `<mach-o/loader.h>`. It follows dyld's rules without loading anything.
package final class MachOFile: FileImage {
  package let file: OpenedFile
  let header: MachOHeader
  /// The identity of the file, as far as it can be read. A damaged part counts as absent here.
  package private(set) lazy var identity = ImageIdentity(
    path: file.path, format: .macho, bits: header.bits, byteOrder: header.order,
    machine: header.machine, kind: header.kind, id: (try? commands.get().uuid) ?? [])

  package var words: (bits: Int, order: ImageIdentity.ByteOrder) { (header.bits, header.order) }

  /// The addresses of the sections with pointers to resolve.
  var wanted: Set<Range<UInt64>> = []
  /// The fixups of the wanted sections, once they were looked for. In objects they are kept by the section's ordinal.
  var knownFixups: [Int: Result<MachOFixups?, ImageError>] = [:]

  /// Reads the header of a file that is open already.
  package init(_ file: OpenedFile) throws(ImageError) {
    self.file = file
    header = try MachOHeader(of: file)
  }

  /// Returns whether a file that starts with these bytes claims to be Mach-O.
  package static func recognises(_ head: [UInt8]) -> Bool { MachOHeader.format(of: head) != nil }

  // MARK: - Sections

  /// Returns every section of every segment, in file order.
  package func allSections() throws(ImageError) -> [Section] {
    try commands.get().sections.enumerated().map { section($0, $1) }
  }

  /// More sections of one name than any linker writes: those of ELF are counted with 16 bits.
  private static let mostSections = Int(UInt16.max)

  /// Returns every section of exactly this name, or of this `SEGMENT,section`, in file order.
  package func findSections(named name: String) throws(ImageError) -> [Section] {
    let commands = try commands.get()
    var found: [Section] = []
    var total: UInt64 = 0
    for (index, entry) in commands.sections.enumerated()
    where entry.name == name || "\(entry.segment),\(entry.name)" == name {
      found.append(section(index, entry))
      if entry.offset != nil { total = total.saturating(adding: min(entry.size, file.size)) }
      if header.isObject { total = total.saturating(adding: entry.relocations.size) }
    }
    try file.check(
      found.count <= Self.mostSections, .malformed,
      "The file claims \(found.count) sections of this name.", section: name)
    // A single section that claims too much is reported as cut off.
    try file.check(
      found.count <= 1 || total <= file.size, .malformed,
      "\(found.count) sections of this name, with their relocations, share their bytes.",
      section: name)
    for section in found { wanted.insert(section.addresses) }
    return found
  }

  private func section(_ index: Int, _ entry: MachOSection) -> Section {
    var section = Section(
      index: index + 1, name: entry.name, segment: entry.segment,
      address: VirtualAddress(rawValue: header.isObject ? 0 : entry.address),
      offset: entry.offset.map(file.offset), size: entry.size, flags: entry.flagNames,
      type: entry.typeName, alignment: entry.alignment, entrySize: entry.entrySize,
      isRetained: entry.isRetained)
    section.isMapped = entry.isMapped
    return section
  }

  /// Returns the entry of a section by its ordinal, which counts from 1.
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

  /// The symbols; nil if there are none.
  private(set) lazy var symbols = Result<MachOSymbols?, ImageError> { () throws(ImageError) in
    try commands.get().symbols.map { MachOSymbols($0, of: file, header) }
  }

  /// The segments of a linked file.
  private(set) lazy var segments = Result<MachOSegments, ImageError> { () throws(ImageError) in
    try MachOSegments(commands.get(), of: file, header)
  }

  /// The addresses of the sections that hold code.
  private(set) lazy var codeRanges = Result<AddressRanges, ImageError> { () throws(ImageError) in
    AddressRanges(
      try commands.get().sections.filter(\.holdsCode).map {
        $0.address..<$0.address.saturating(adding: $0.size)
      })
  }
}

/// The bytes of sections, and the texts that pointers lead to.
extension MachOFile {
  /// Returns the bytes of the file from a linked address to the end of its segment. Throws for encrypted bytes.
  package func extent(
    from address: VirtualAddress, reading count: UInt64
  ) throws(ImageError) -> FileExtent? {
    let extent = try segments.get().extent(from: address)
    if let extent, extent.size >= count { try checkReadable(extent.offset, count) }
    return extent
  }

  package func location(
    of section: Section
  ) throws(ImageError) -> (offset: UInt64?, size: UInt64, isCompressed: Bool) {
    let entry = try sectionEntry(section.index)
    if !header.isObject, section.isMapped, let offset = entry.offset {
      let extent = try segments.get().extent(from: section.address)
      try file.checkMapped(section, at: offset, entry.size, by: extent)
    }
    return (entry.offset, entry.size, false)
  }

  package func anySection(_ ordinal: Int) throws(ImageError) -> Section {
    section(ordinal - 1, try sectionEntry(ordinal))
  }

  /// Throws for bytes that are encrypted in this file.
  package func checkReadable(_ offset: UInt64, _ size: UInt64) throws(ImageError) {
    guard let encrypted = try commands.get().encrypted, size > 0,
      offset < encrypted.offset + encrypted.size, encrypted.offset < offset + size
    else { return }
    throw file.error(
      .encrypted,
      "The file is encrypted here, as the App Store delivers it; only a loaded copy can tell.",
      at: offset)
  }

  package var hasOnlyDebugInformation: Bool { header.kind == .debug }

  /// Returns the kind of memory that a pointer leads to.
  package func memory(at target: PointerValue.Target) throws(ImageError) -> TargetMemory {
    switch target {
    case .address(let address):
      if try codeRanges.get().contains(address.rawValue) { return .code }
      if try segments.get().extent(from: address) != nil { return .data }
      return try segments.get().holds(address) ? .zeros : .outside
    case .section(let ordinal, _):
      let entry = try sectionEntry(ordinal)
      return entry.holdsCode ? .code : entry.offset == nil ? .zeros : .data
    case .null, .imported, .foreign, .unresolvable: return .outside
    }
  }
}

/// The purpose of a Mach-O file, and whether it is whole.
extension MachOFile {
  /// Throws if the file ends before a segment, a section or a table of the loader does.
  package func checkDeclared() throws(ImageError) {
    let commands = try commands.get()
    func check(_ what: String, _ offset: UInt64, _ size: UInt64) throws(ImageError) {
      try file.check(
        size == 0 || file.holds(offset, size), .truncated, "The file ends before \(what) does.",
        at: offset)
    }
    for segment in commands.segments {
      let name = segment.name.isEmpty ? "its segment" : "segment \(segment.name)"
      try check(name, segment.offset, segment.fileSize)
    }
    for section in commands.sections {
      let name = "section \(section.segment),\(section.name)"
      if let offset = section.offset { try check(name, offset, section.size) }
      try check("what relocates \(name)", section.relocations.offset, section.relocations.size)
    }
    if let symbols = commands.symbols {
      try check("the symbol table", symbols.offset, symbols.count * UInt64(header.symbolSize))
    }
    let tables =
      [("what names the symbols", commands.symbols?.names)]
      + (commands.programs ?? []).map { ("the programs for the loader", $0) }
      + [("the table of chained fixups", commands.chainedFixups)]
      + (commands.classicRelocations ?? []).map { ("the table of relocations", $0) }
      + [("the indirect symbol table", commands.indirectSymbols)]
    for case (let what, let table?) in tables { try check(what, table.offset, table.size) }
  }

  /// Whether the header says that it is a core file.
  package var isCore: Bool { header.kind == .core }
}

extension MachOFile {
  /// Returns the steps that dyld runs of the file, in dyld's order: needed libraries, then opening, then closing. Also
  /// returns the reasons that some steps are not known.
  ///
  /// C: `S_MOD_INIT_FUNC_POINTERS` and its kin in `<mach-o/loader.h>`.
  package func startup() throws(ImageError) -> (steps: [StartupStep], problems: [ImageError]) {
    try checkStarts()
    let commands = try commands.get()
    var steps = commands.libraries.map { StartupStep(kind: .needed, name: $0) }
    var problems: [ImageError] = []
    func add(_ read: () throws(ImageError) -> [StartupStep]) {
      do throws(ImageError) { steps += try read() } catch { problems.append(error) }
    }
    for kind in StartupStep.Kind.allCases {
      if kind == .initialiser {
        steps += commands.routines.map { StartupStep(kind: kind, address: $0) }
      }
      for (index, entry) in commands.sections.enumerated() where entry.startup == kind {
        add { () throws(ImageError) in try startup(kind, entry, section(index, entry)) }
      }
    }
    // Functions of ARM in Thumb code have odd addresses.
    let wanted = steps.flatMap { step in step.address.map { [$0, $0 & ~1] } ?? [] }
    do throws(ImageError) {
      let names = try symbols.get()?.names(at: Set(wanted)) ?? [:]
      for index in steps.indices where steps[index].name == nil {
        steps[index].name = steps[index].address.flatMap { names[$0] ?? names[$0 & ~1] }
      }
    } catch { problems.append(error) }
    steps.limitNames(to: file.size)
    return (steps, problems)
  }

  /// Returns the steps of one section.
  private func startup(
    _ kind: StartupStep.Kind, _ entry: MachOSection, _ section: Section
  ) throws(ImageError) -> [StartupStep] {
    try file.check(
      entry.size <= StartupStep.mostBytes, .malformed,
      "The section claims \(entry.size) bytes of functions.", section: section.name)
    // `S_INIT_FUNC_OFFSETS`: offsets of 32 bits from the header.
    let isOffset = entry.flags & 0xff == 0x16
    let size = isOffset ? 4 : header.wordSize
    wanted.insert(section.addresses)
    let indices = 0..<Int(entry.size) / size
    guard !isOffset else {
      let base = try segments.get().base ?? 0
      return try withBytes(of: section) { bytes in
        indices.map { index in
          let offset: UInt32? = bytes.integer(at: index * size, order: header.order)
          return StartupStep(kind: kind, index: index, address: offset.map { base &+ UInt64($0) })
        }
      }
    }
    let steps = try indices.map { index throws(ImageError) in
      StartupStep(kind: kind, index: index, try pointer(at: UInt64(index * size), in: section))
    }
    return kind == .finiArray ? steps.reversed() : steps
  }
}

extension MachOSection {
  /// The kind of step that runs its functions; nil if it has no such functions.
  fileprivate var startup: StartupStep.Kind? {
    if name == "__objc_nlclslist" || name == "__objc_nlcatlist" { return .loadMethod }
    return switch flags & 0xff {
    case 0x9, 0x16: .initArray
    case 0xa: .finiArray
    case 0x15: .threadLocal
    default: nil
    }
  }
}
