internal import BinaryImage

/// The contents of the load commands: segments, sections, and the locations of the loader's tables.
///
/// C: `struct load_command` and its kin in `<mach-o/loader.h>`.
struct MachOCommands {
  /// The segments in file order. An object has one, with all its sections.
  private(set) var segments: [MachOSegment] = []
  /// The sections of all segments, in the order that gives each its ordinal, from 1.
  private(set) var sections: [MachOSection] = []
  /// `LC_SYMTAB`.
  private(set) var symbols: MachOSymbolTable?
  /// `LC_DYLD_INFO` or `LC_DYLD_INFO_ONLY`: the rebases, then the binds, the lazy binds and the weak binds.
  private(set) var programs: [FileExtent]?
  /// `LC_DYLD_CHAINED_FIXUPS`.
  private(set) var chainedFixups: FileExtent?
  /// `LC_DYSYMTAB`: the relocations of linked files that are older than `LC_DYLD_INFO`. The first table binds symbols,
  /// the second adds the slide.
  private(set) var classicRelocations: [FileExtent]?
  /// `LC_DYSYMTAB`: the number of the symbol of each symbol pointer and stub.
  private(set) var indirectSymbols: FileExtent?
  /// `LC_UUID`; empty if there is none.
  private(set) var uuid: [UInt8] = []
  /// The libraries that are opened with the file: `LC_LOAD_DYLIB`, `LC_LOAD_WEAK_DYLIB`, `LC_REEXPORT_DYLIB` and
  /// `LC_LOAD_UPWARD_DYLIB`.
  private(set) var libraries: [String] = []
  /// `LC_ROUTINES`: `init_address`.
  private(set) var routines: [UInt64] = []
  /// The encrypted bytes of this file: `LC_ENCRYPTION_INFO` with a `cryptid`.
  private(set) var encrypted: FileExtent?

  /// The commands that are read, with their least sizes. If a command `isSingle`, it names the only table of its kind,
  /// so a second one is an error.
  private static let known: [UInt32: (size: Int, isSingle: Bool)] = [
    0x1: (56, false), 0x19: (72, false), 0x1b: (24, false), 0x21: (20, false), 0x2c: (20, false),
    0x2: (24, true), 0xb: (80, true), 0x22: (40, true), 0x8000_0034: (16, true),
    0xc: (8, false), 0x8000_0018: (8, false), 0x8000_001f: (8, false), 0x8000_0023: (8, false),
    0x11: (8, false), 0x1a: (8, false),
  ]

  /// Reads the load commands of `file`.
  init(of file: OpenedFile, _ header: MachOHeader) throws(ImageError) {
    let bytes = try file.read(at: UInt64(header.size), count: Int(header.commandSize))
    var seen: Set<UInt32> = []
    var position = 0
    for index in 0..<Int(header.commandCount) {
      func malformed(_ reason: String) -> ImageError {
        file.error(
          .malformed, "Load command \(index) \(reason).", at: UInt64(header.size + position))
      }
      guard let command: UInt32 = bytes.span.integer(at: position, order: header.order),
        let size: UInt32 = bytes.span.integer(at: position + 4, order: header.order)
      else { throw malformed("lies outside the \(bytes.count) bytes of load commands") }
      guard size >= 8, size % 4 == 0, Int(size) <= bytes.count - position else {
        throw malformed("has a size of \(size), which does not fit in")
      }
      // LC_DYLD_INFO_ONLY is LC_DYLD_INFO with the mark that a loader must know it.
      let kind = command == 0x8000_0022 ? 0x22 : command
      if let (least, isSingle) = Self.known[kind] {
        guard !isSingle || seen.insert(kind).inserted else { throw malformed("is there twice") }
        // A segment of the other class would be read wrongly: the loader refuses it too.
        guard kind != 0x1 && kind != 0x19 || (kind == 0x19) == (header.bits == 64) else {
          throw malformed(
            "tells of a segment of \(96 - header.bits) bits, in a file of \(header.bits)")
        }
        let fields = MachOFields(
          bytes: bytes, start: position, bits: header.bits, order: header.order)
        guard Int(size) >= least, read(kind, Int(size), fields, header.kind) else {
          throw malformed("has not the size of what it holds")
        }
      }
      position += Int(size)
    }
    try file.check(
      position == bytes.count, .malformed,
      "\(header.commandCount) load commands leave \(bytes.count - position) of their "
        + "\(bytes.count) bytes.", at: UInt64(header.size + position))
  }

  /// Reads one command. Returns false if the size of a segment's command does not fit its sections.
  private mutating func read(
    _ command: UInt32, _ size: Int, _ fields: MachOFields, _ kind: ImageIdentity.Kind
  ) -> Bool {
    switch command {
    case 0x1, 0x19:
      let segment = MachOSegment(fields)
      let (start, stride) = fields.bits == 64 ? (72, 80) : (56, 68)
      let count = Int(fields.single(start - 8))
      // The loader computes the number of sections from the size too, and refuses any other number.
      guard size - start == count * stride else { return false }
      for index in 0..<count {
        sections.append(MachOSection(fields.dropping(start + index * stride), of: segment, kind))
      }
      segments.append(segment)
    case 0x2:
      symbols = (fields.number(8), fields.number(12), fields.extent(16))
    case 0xb:
      classicRelocations = [fields.extent(64, of: 8), fields.extent(72, of: 8)]
      indirectSymbols = fields.extent(56, of: 4)
    case 0x1b: uuid = Array(fields.bytes(8))
    case 0x21, 0x2c:
      let (range, system) = (fields.extent(8), fields.single(16))
      if system != 0, range.size > 0 { encrypted = range }
    case 0x22:
      programs = [8, 16, 32, 24].map { fields.extent($0) }
    case 0x8000_0034: chainedFixups = fields.extent(8)
    case 0xc, 0x8000_0018, 0x8000_001f, 0x8000_0023:
      libraries.append(fields.text(Int(fields.single(8)), before: size))
    case 0x11, 0x1a: routines.append(fields.word(8))
    default: break
    }
    return true
  }
}

/// One `LC_SEGMENT` or `LC_SEGMENT_64`.
struct MachOSegment {
  /// `segname`; empty in objects.
  let name: String
  /// `vmaddr`, `vmsize`.
  let address: UInt64, memorySize: UInt64
  /// `fileoff`, `filesize`.
  let offset: UInt64, fileSize: UInt64
  /// Whether it may be written to at first: `VM_PROT_WRITE` in `initprot`.
  let isWritable: Bool

  /// The number of its bytes that are both in the file and in memory.
  var mappedSize: UInt64 { min(memorySize, fileSize) }

  /// Returns whether bytes of it begin at an offset of the file. At 0 is the header, never a section.
  func stores(_ start: UInt64) -> Bool {
    start > 0 && start >= offset && start - offset < fileSize
  }

  /// Reads the command.
  init(_ fields: MachOFields) {
    let word = fields.bits / 8
    name = fields.name(8)
    (address, memorySize) = (fields.word(24), fields.word(24 + word))
    (offset, fileSize) = (fields.word(24 + 2 * word), fields.word(24 + 3 * word))
    isWritable = fields.single(28 + 4 * word) & 2 != 0
  }
}

/// The segments of a linked file: the addresses of its bytes.
struct MachOSegments {
  /// The segments in the order of the load commands; fixups name them by their numbers.
  let list: [MachOSegment]
  /// The address of the Mach-O header, which some chained fixups count from.
  let base: UInt64?
  /// The bytes of the file that have an address, in the order of the addresses.
  private let stored: [(address: UInt64, offset: UInt64, size: UInt64)]

  /// More segments than any file has; they are searched one by one.
  private static let mostSegments = 256

  /// Checks that no two segments share addresses, which dyld refuses too.
  init(_ commands: MachOCommands, of file: OpenedFile, _ header: MachOHeader) throws(ImageError) {
    list = commands.segments
    try file.check(
      list.count <= Self.mostSegments, .malformed, "The file claims \(list.count) segments.")
    base = list.first { $0.offset == 0 && $0.fileSize > 0 }?.address
    let byAddress = list.filter { $0.memorySize > 0 }.sorted { $0.address < $1.address }
    // No loader maps split debug information, so its segments' bytes are not at their addresses.
    stored =
      header.kind == .debug
      ? commands.sections.compactMap { section in
        section.offset.map { (section.address, $0, section.size) }
      }.sorted { $0.address < $1.address }
      : byAddress.map { ($0.address, $0.offset, $0.mappedSize) }
    for (segment, next) in zip(byAddress, byAddress.dropFirst())
    where next.address - segment.address < segment.memorySize {
      throw file.error(.malformed, "The segments \(segment.name) and \(next.name) share addresses.")
    }
  }

  /// Returns the number of the segment that has bytes of the file at an address.
  func index(holding address: UInt64) -> Int? {
    list.firstIndex { address >= $0.address && address - $0.address < $0.mappedSize }
  }

  /// Returns whether memory of the image is at an address, or ends there.
  func holds(_ address: VirtualAddress) -> Bool {
    list.contains {
      $0.memorySize > 0 && address.rawValue >= $0.address
        && address.rawValue - $0.address <= $0.memorySize
    }
  }

  /// Returns the bytes of the file from `address` to the end of its segment; nil if there are none.
  func extent(from address: VirtualAddress) -> FileExtent? {
    guard let found = stored.last(notAfter: address.rawValue, by: \.address) else { return nil }
    let range = stored[found]
    let skipped = address.rawValue - range.address
    guard skipped < range.size else { return nil }
    let (offset, overflow) = range.offset.addingReportingOverflow(skipped)
    return overflow ? nil : FileExtent(offset: offset, size: range.size - skipped)
  }
}

/// One `section` or `section_64` of a segment.
struct MachOSection {
  /// `sectname`, `segname`.
  let name: String, segment: String
  /// `addr`; in an object, an address in the one space that all its sections share.
  let address: UInt64
  /// `size`.
  let size: UInt64
  /// `offset`; nil if the file has no bytes of the section.
  let offset: UInt64?
  /// `reloff`, `nreloc`: only objects have any.
  let relocations: FileExtent
  /// Two to the power of `align`.
  let alignment: UInt64
  /// `reserved1`: the first entry of its symbol pointers in the indirect symbol table.
  let indirectStart: UInt64
  /// `reserved2`: the size of each stub.
  private let stubSize: UInt64
  /// `flags`: the type and the attributes.
  let flags: UInt32
  /// Whether a process gets the section: its segment takes memory.
  ///
  /// Split debug information is never mapped. A section without bytes there is in the file that it was split from.
  let isMapped: Bool

  /// Reads the entry that is first in `fields`, of a segment's command.
  init(_ fields: MachOFields, of owner: MachOSegment, _ kind: ImageIdentity.Kind) {
    let word = fields.bits / 8
    let rest = 32 + 2 * word
    (name, segment) = (fields.name(0), fields.name(16))
    (address, size) = (fields.word(32), fields.word(32 + word))
    alignment = 1 << min(fields.number(rest + 4), 63)
    relocations = fields.extent(rest + 8, of: 8)
    flags = fields.single(rest + 16)
    (indirectStart, stubSize) = (fields.number(rest + 20), fields.number(rest + 24))
    let start = fields.number(rest)
    // Split debug information lists all sections; its segments are empty, or hold only __eh_frame.
    let isElsewhere =
      kind == .debug ? !owner.stores(start) : owner.fileSize == 0 && owner.memorySize > 0
    offset = Self.zeroed.contains(flags & 0xff) || isElsewhere ? nil : start
    isMapped = kind == .object || (kind == .debug ? offset == nil : owner.memorySize > 0)
  }

  /// `S_ZEROFILL`, `S_GB_ZEROFILL` and `S_THREAD_LOCAL_ZEROFILL`: zeros that no file stores.
  private static let zeroed: Set<UInt32> = [0x1, 0xc, 0x12]

  /// Returns whether an address lies in the section.
  func holds(_ place: UInt64) -> Bool { place >= address && place - address < size }

  /// `S_ATTR_NO_DEAD_STRIP`.
  var isRetained: Bool { flags & 0x1000_0000 != 0 }

  /// The name of the type in Apple's assembler.
  var typeName: String {
    let type = flags & 0xff
    return Int(type) < Self.types.count ? Self.types[Int(type)] : "type_\(type)"
  }

  /// Whether the indirect symbol table names the target of each word: `S_NON_LAZY_SYMBOL_POINTERS`,
  /// `S_LAZY_SYMBOL_POINTERS`, `S_LAZY_DYLIB_SYMBOL_POINTERS`, `S_THREAD_LOCAL_VARIABLE_POINTERS`.
  var holdsSymbolPointers: Bool { [0x6, 0x7, 0x10, 0x14].contains(flags & 0xff) }

  /// Whether the section holds code: `S_ATTR_PURE_INSTRUCTIONS`, `S_ATTR_SOME_INSTRUCTIONS`.
  var holdsCode: Bool { flags & 0x8000_0400 != 0 }

  /// The size of each entry, by the type; 0 if the type does not say it.
  var entrySize: UInt64 {
    switch flags & 0xff {
    case 0x3: 4
    case 0x4: 8
    case 0xe: 16
    case 0x8: stubSize
    default: 0
    }
  }

  /// The names of the type and the attributes in Apple's assembler.
  var flagNames: String {
    var names = [typeName]
    names += Self.attributes.filter { flags >> $0.bit & 1 != 0 }.map(\.name)
    return names.joined(separator: ",")
  }

  private static let types = [
    "regular", "zerofill", "cstring_literals", "4byte_literals", "8byte_literals",
    "literal_pointers", "non_lazy_symbol_pointers", "lazy_symbol_pointers", "symbol_stubs",
    "mod_init_funcs", "mod_term_funcs", "coalesced", "gb_zerofill", "interposing",
    "16byte_literals", "dtrace_dof", "lazy_dylib_symbol_pointers", "thread_local_regular",
    "thread_local_zerofill", "thread_local_variables", "thread_local_variable_pointers",
    "thread_local_init_function_pointers", "init_func_offsets",
  ]

  private static let attributes: [(bit: UInt32, name: String)] = [
    (31, "pure_instructions"), (30, "no_toc"), (29, "strip_static_syms"), (28, "no_dead_strip"),
    (27, "live_support"), (26, "self_modifying_code"), (25, "debug"), (10, "some_instructions"),
    (9, "ext_reloc"), (8, "loc_reloc"),
  ]
}

/// The fields of one load command, or of one entry of a table; the caller has checked its size.
struct MachOFields {
  /// The bytes, and the start of the fields among them.
  let bytes: [UInt8], start: Int
  let bits: Int
  let order: ImageIdentity.ByteOrder

  /// Returns 32 bits at an offset.
  func single(_ place: Int) -> UInt32 { bytes.span.integer(at: start + place, order: order) ?? 0 }

  /// Returns 32 bits at an offset as a number of bytes or entries.
  func number(_ place: Int) -> UInt64 { UInt64(single(place)) }

  /// Returns an address or a size of this class.
  func word(_ place: Int) -> UInt64 {
    bytes.span.word(at: start + place, bits: bits, order: order) ?? 0
  }

  /// Reads the offset and the number of entries, 32 bits each. `size` is that of an entry.
  func extent(_ place: Int, of size: UInt64 = 1) -> FileExtent {
    FileExtent(offset: number(place), size: number(place + 4) * size)
  }

  /// Returns 16 bytes at an offset.
  func bytes(_ place: Int) -> ArraySlice<UInt8> { bytes[start + place..<start + place + 16] }

  /// Returns a name that fills 16 bytes or ends with NUL.
  func name(_ place: Int) -> String {
    String(decoding: bytes(place).prefix { $0 != 0 }, as: UTF8.self)
  }

  /// Returns the text that begins `place` bytes into a command of `size` bytes. It ends with NUL or the command, and is
  /// empty if it does not begin there.
  func text(_ place: Int, before size: Int) -> String {
    let text = bytes[start..<start + size].dropFirst(place).prefix { $0 != 0 }
    return String(decoding: text, as: UTF8.self)
  }

  /// Returns the fields after the first `count` bytes.
  func dropping(_ count: Int) -> Self {
    MachOFields(bytes: bytes, start: start + count, bits: bits, order: order)
  }
}
