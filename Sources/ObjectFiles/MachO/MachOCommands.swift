internal import BinaryImage

/// What the load commands say: segments, sections, and where the tables of the loader stand.
///
/// C: `struct load_command` and its kin in `<mach-o/loader.h>`.
struct MachOCommands {
  /// `LC_DYLD_INFO`: programs for the loader, one for each kind of fixup.
  struct DyldInfo {
    /// What to add the slide to.
    var rebase: FileExtent
    /// Which symbols to write, at once, where images share definitions, and at the first call.
    var bind: FileExtent, weakBind: FileExtent, lazyBind: FileExtent
  }

  /// The segments in file order; of an object, the one that all sections stand in.
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
  /// `LC_UUID`; empty where there is none.
  private(set) var uuid: [UInt8] = []
  /// What is encrypted in this file: `LC_ENCRYPTION_INFO` with a `cryptid`.
  private(set) var encrypted: FileExtent?

  /// Commands that must not stand twice, since each says where the one table of its kind is.
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
        throw malformed("stands twice")
      }
      // A segment of the other class would be read wrongly: the loader refuses it too.
      guard kind != 0x1 && kind != 0x19 || (kind == 0x19) == (header.bits == 64) else {
        throw malformed(
          "tells of a segment of \(96 - header.bits) bits, in a file of \(header.bits)")
      }
      let fields = MachOFields(
        bytes, position..<position + Int(size), bits: header.bits, order: header.order)
      guard read(kind, fields) else { throw malformed("has not the size of what it holds") }
      position += Int(size)
    }
    guard position == bytes.count else {
      throw file.error(
        .malformed,
        "\(header.commandCount) load commands leave \(bytes.count - position) of their "
          + "\(bytes.count) bytes.", at: UInt64(header.size + position))
    }
  }

  /// Takes in one command; false where it is too small, or a segment's has not the size of its
  /// sections.
  private mutating func read(_ command: UInt32, _ fields: MachOFields) -> Bool {
    func extent(_ place: Int) -> FileExtent? {
      guard let offset = fields.single(place), let size = fields.single(place + 4) else {
        return nil
      }
      return FileExtent(offset: UInt64(offset), size: UInt64(size))
    }
    switch command {
    case 0x1, 0x19:
      guard let segment = MachOSegment(fields),
        let own = MachOSection.all(of: segment, at: segments.count, fields)
      else { return false }
      segments.append(segment)
      sections += own
    case 0x2:
      guard let table = MachOSymbolTable(fields) else { return false }
      symbols = table
    case 0xb:
      guard let external = extent(64), let local = extent(72) else { return false }
      classicRelocations = [external, local].map {
        FileExtent(offset: $0.offset, size: $0.size * 8)
      }
    case 0x1b:
      guard let bytes = fields.bytes(8, count: 16) else { return false }
      uuid = bytes
    case 0x21, 0x2c:
      guard let range = extent(8), let system = fields.single(16) else { return false }
      if system != 0, range.size > 0 { encrypted = range }
    case 0x22:
      guard let rebase = extent(8), let bind = extent(16), let weak = extent(24),
        let lazy = extent(32)
      else { return false }
      dyldInfo = DyldInfo(rebase: rebase, bind: bind, weakBind: weak, lazyBind: lazy)
    case 0x8000_0034:
      guard let table = extent(8) else { return false }
      chainedFixups = table
    default: break
    }
    return true
  }
}
