internal import BinaryImage

/// What the load commands say: segments, sections, and where the tables of the loader are.
///
/// C: `struct load_command` and its kin in `<mach-o/loader.h>`.
struct MachOCommands {
  /// `LC_DYLD_INFO`: programs for the loader, one for each kind of fixup.
  struct DyldInfo {
    /// What to add the slide to.
    var rebase: FileExtent
    /// Which symbols to write, at once, where images share definitions, and at the first call.
    var bind: FileExtent, weakBind: FileExtent, lazyBind: FileExtent

    var programs: [FileExtent] { [rebase, bind, weakBind, lazyBind] }
  }

  /// The segments in file order; of an object, the one that all sections are in.
  private(set) var segments: [MachOSegment] = []
  /// The sections of all segments, in the order that gives each its ordinal, from 1.
  private(set) var sections: [MachOSection] = []
  /// `LC_SYMTAB`.
  private(set) var symbols: MachOSymbolTable?
  /// `LC_DYLD_INFO` or `LC_DYLD_INFO_ONLY`.
  private(set) var dyldInfo: DyldInfo?
  /// `LC_DYLD_CHAINED_FIXUPS`.
  private(set) var chainedFixups: FileExtent?
  /// `LC_DYSYMTAB`: the relocations of linked files that are older than `LC_DYLD_INFO`, those that name
  /// a symbol and those that add the slide.
  private(set) var classicRelocations: [FileExtent]?
  /// `LC_DYSYMTAB`: numbers of symbols, one for each symbol pointer and stub.
  private(set) var indirectSymbols: FileExtent?
  /// `LC_UUID`; empty where there is none.
  private(set) var uuid: [UInt8] = []
  /// What is encrypted in this file: `LC_ENCRYPTION_INFO` with a `cryptid`.
  private(set) var encrypted: FileExtent?

  /// Commands that must not be there twice, since each says where the one table of its kind is.
  private static let single: Set<UInt32> = [0x2, 0xb, 0x22, 0x8000_0034]

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
      // LC_DYLD_INFO_ONLY is LC_DYLD_INFO for loaders that know nothing else.
      let kind = command == 0x8000_0022 ? 0x22 : command
      guard !Self.single.contains(kind) || seen.insert(kind).inserted else {
        throw malformed("is there twice")
      }
      // A segment of the other class would be read wrongly: the loader refuses it too.
      guard kind != 0x1 && kind != 0x19 || (kind == 0x19) == (header.bits == 64) else {
        throw malformed(
          "tells of a segment of \(96 - header.bits) bits, in a file of \(header.bits)")
      }
      let fields = MachOFields(
        bytes, position..<position + Int(size), bits: header.bits, order: header.order)
      guard (try? read(kind, fields, isSplit: header.type == .dsym)) != nil else {
        throw malformed("has not the size of what it holds")
      }
      position += Int(size)
    }
    try file.check(
      position == bytes.count, .malformed,
      "\(header.commandCount) load commands leave \(bytes.count - position) of their "
        + "\(bytes.count) bytes.", at: UInt64(header.size + position))
  }

  /// Takes in one command; throws where it is too small, or a segment's has not the size of its
  /// sections.
  private mutating func read(
    _ command: UInt32, _ fields: MachOFields, isSplit: Bool
  ) throws(MachOFields.TooShort) {
    switch command {
    case 0x1, 0x19:
      let segment = try MachOSegment(fields)
      sections += try MachOSection.all(of: segment, at: segments.count, fields, isSplit: isSplit)
      segments.append(segment)
    case 0x2: symbols = try MachOSymbolTable(fields)
    case 0xb:
      let (external, local) = (try fields.extent(64), try fields.extent(72))
      classicRelocations = [external, local].map {
        FileExtent(offset: $0.offset, size: $0.size * 8)
      }
      let indirect = try fields.extent(56)
      indirectSymbols = FileExtent(offset: indirect.offset, size: indirect.size * 4)
    case 0x1b: uuid = try fields.bytes(8, count: 16)
    case 0x21, 0x2c:
      let (range, system) = (try fields.extent(8), try fields.single(16))
      if system != 0, range.size > 0 { encrypted = range }
    case 0x22:
      dyldInfo = DyldInfo(
        rebase: try fields.extent(8), bind: try fields.extent(16), weakBind: try fields.extent(24),
        lazyBind: try fields.extent(32))
    case 0x8000_0034: chainedFixups = try fields.extent(8)
    default: break
    }
  }
}
