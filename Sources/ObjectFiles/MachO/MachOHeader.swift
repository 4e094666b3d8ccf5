internal import BinaryImage

/// The Mach-O header: class, byte order, machine, and how many load commands follow.
///
/// C: `struct mach_header` and `mach_header_64` of `<mach-o/loader.h>`.
struct MachOHeader {
  /// 32 or 64; 32 for arm64_32 too, whose registers are wider than its addresses.
  let bits: Int
  /// The byte order of the magic.
  let order: ImageIdentity.ByteOrder
  /// `cputype` and `cpusubtype`.
  let machine: MachOMachine
  /// `filetype`.
  let type: FileType
  /// `flags`.
  let flags: UInt32
  /// `ncmds`.
  let commandCount: UInt32
  /// `sizeofcmds`.
  let commandSize: UInt32

  /// How many bytes come before the load commands.
  var size: Int { bits == 64 ? 32 : 28 }
  /// Whether addresses are relative to sections: `MH_OBJECT`.
  var isObject: Bool { type == .object }
  /// Whether a linker made the file for a loader, which maps each of its bytes in some segment.
  var isLinked: Bool { [.execute, .dylib, .bundle].contains(type) }
  /// The size of an address in bytes.
  var wordSize: Int { bits / 8 }
  /// The size of an entry of the symbol table in bytes: `nlist`, `nlist_64`.
  var symbolSize: Int { bits == 64 ? 16 : 12 }

  /// Whether the linked addresses are those of the process: an executable without `MH_PIE`.
  var hasFixedAddress: Bool {
    (type == .execute && flags & 0x20_0000 == 0) || type == .preload || type == .core
  }

  /// Whether the writable segments may move apart from the others: `MH_SPLIT_SEGS`.
  var hasSplitSegments: Bool { flags & 0x20 != 0 }

  /// Whether linkers may take sections apart at their symbols: `MH_SUBSECTIONS_VIA_SYMBOLS`.
  var isDivisible: Bool { flags & 0x2000 != 0 }

  /// More bytes than the load commands of any file have.
  private static let mostCommandBytes: UInt32 = 1 << 24

  /// The values of `filetype` that this reader knows.
  enum FileType: UInt32 {
    case object = 1, execute
    case core = 4, preload, dylib, dylinker, bundle, dylibStub, dsym, kext

    /// What a file of a type that is not read holds, by its number.
    static let others: [UInt32: String] = [
      3: "a fixed virtual memory library", 12: "several images, as a kernel collection does",
      13: "a GPU program", 14: "a GPU library",
    ]
  }

  /// The class and byte order that a file's first four bytes tell; nil where it is no Mach-O file.
  static func format(of head: [UInt8]) -> (bits: Int, order: ImageIdentity.ByteOrder)? {
    switch head.prefix(4) {
    case [0xce, 0xfa, 0xed, 0xfe]: (32, .little)
    case [0xcf, 0xfa, 0xed, 0xfe]: (64, .little)
    case [0xfe, 0xed, 0xfa, 0xce]: (32, .big)
    case [0xfe, 0xed, 0xfa, 0xcf]: (64, .big)
    default: nil
    }
  }

  /// Reads and checks the header of `file`.
  init(of file: OpenedFile) throws(ImageError) {
    guard let (bits, order) = Self.format(of: file.head) else {
      throw file.error(.notAnObject, "The file does not start with a Mach-O magic.")
    }
    (self.bits, self.order) = (bits, order)
    let head = file.head
    func field(_ index: Int) throws(ImageError) -> UInt32 {
      guard let value: UInt32 = head.span.integer(at: index * 4, order: order) else {
        throw file.error(.truncated, "The file ends inside the Mach-O header.")
      }
      return value
    }
    machine = try MachOMachine(type: field(1), subtype: field(2))
    let number = try field(3)
    commandCount = try field(4)
    commandSize = try field(5)
    flags = try field(6)
    if bits == 64 { _ = try field(7) }
    guard let type = FileType(rawValue: number) else {
      let other = FileType.others[number].map { "The file holds \($0), which is not read." }
      throw file.error(
        .unsupported, other ?? "Mach-O file type \(number) is unknown.", at: 12)
    }
    self.type = type
    try file.check(
      commandSize <= Self.mostCommandBytes && commandCount <= commandSize / 8, .malformed,
      "\(commandCount) load commands are said to take \(commandSize) bytes; no file has that.",
      at: 16)
    try file.check(
      UInt64(size) + UInt64(commandSize) <= file.size, .truncated,
      "The file ends before its \(commandSize) bytes of load commands do.", at: 20)
  }
}
