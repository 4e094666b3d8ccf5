import BinaryImage
import ObjectFiles
import Testing

@Suite("Pointers of a Mach-O file")
struct MachOPointersTests {
  static func image(_ builder: MachOBuilder) throws -> MachOFile {
    try MachOFile(bytes: builder.bytes)
  }

  static func pointers(_ builder: MachOBuilder) throws -> [PointerValue] {
    try image(builder).pointers(of: "BeehiveMods")
  }

  static func narrow(_ builder: inout MachOBuilder) {
    (builder.bits, builder.machine, builder.base) = (32, 7, 0x4000)
  }

  /// Machines and fixups of their files: chains of every format, programs, and relocations. The last file is an
  /// executable at a fixed address without fixups.
  static let encodings: [(machine: UInt32, fixups: MachOBuilder.Fixups)] =
    ([1, 2, 6, 9, 12] as [UInt16]).map { (0x0100_000c, .chained($0)) } + [
      (7, .chained(3)), (0x0100_000c, .programs), (7, .programs), (0x0200_000c, .programs),
      (18, .programs), (7, .classic), (18, .classic), (0x0100_0007, .classic), (0x0100_000c, .none),
    ]

  @Test("lead to the texts, however the loader is told", arguments: encodings)
  func texts(machine: UInt32, fixups: MachOBuilder.Fixups) throws {
    var builder = MachOBuilder()
    if [7, 18, 0x0200_000c].contains(machine) { Self.narrow(&builder) }
    if machine == 18 { builder.order = .big }
    (builder.machine, builder.fixups) = (machine, fixups)
    if fixups == .none { (builder.type, builder.flags) = (2, 0x85) }
    let image = try Self.image(builder)
    let texts = try image.texts(of: "BeehiveMods")
    #expect(texts.map(\.text) == ["ShopModule", "Cart.CartModule"])
    let resolution: PointerValue.Resolution =
      switch fixups {
      case .chained: .chainedRebase
      case .programs, .classic: .rebase
      case .none: .absolute
      }
    #expect(texts.allSatisfy { $0.pointer.resolution == resolution })
  }

  @Test(
    "of arm64e are read signed or not, from the address or the start of the image",
    arguments: [1, 9, 12] as [UInt16])
  func signed(format: UInt16) throws {
    let image = try Self.image(
      MachOBuilder(
        subtype: 0x8000_0002,
        slots: [.signed("first"), .null, .text("second"), .signed("third")],
        fixups: .chained(format)))
    #expect(image.identity.machine == "arm64e")
    #expect(try image.texts(of: "BeehiveMods").map(\.text) == ["first", "second", "third"])
  }

  @Test(
    "to symbols name them, in every format of chains and imports",
    arguments: [1, 2, 3, 6, 9, 12] as [UInt16], [1, 2, 3] as [UInt32])
  func imports(format: UInt16, importFormat: UInt32) throws {
    var builder = MachOBuilder()
    if format == 3 { Self.narrow(&builder) }
    (builder.fixups, builder.importFormat) = (.chained(format), importFormat)
    builder.slots = [
      .symbol("_first", library: 1), .text("text"), .symbol("_own", library: -3, addend: 2),
      .symbol("_other", library: -2),
    ]
    builder.definitions = ["_own": "- own text"]
    let pointers = try Self.pointers(builder)
    #expect(pointers[0].target == .imported(symbol: "_first"))
    #expect(pointers[2].symbol == "_own")
    #expect(pointers[3].target == .imported(symbol: "_other"))
    #expect(pointers.map(\.resolution) == [.symbol, .chainedRebase, .symbol, .symbol])
    // The image's own definition counts unless another image overrides it.
    #expect(try Self.image(builder).text(at: pointers[2].target) == "own text")
  }

  @Test("that are rebased and weakly bound lead to the image's own, and name the symbol")
  func weakBinds() throws {
    var builder = MachOBuilder(
      slots: [.text("first"), .text("second"), .symbol("_third")], fixups: .programs)
    // Binds the first text weakly, and a word that is bound to a library anyway.
    builder.weakProgram =
      [0x40] + Array("_weak".utf8) + [0, 0x51, 0x71, 0, 0x90]
      + [0x40] + Array("_other".utf8) + [0, 0x71, 16, 0x90, 0]
    let pointers = try Self.pointers(builder)
    #expect(pointers.map(\.symbol) == ["_weak", nil, "_third"])
    #expect(pointers.map(\.resolution) == [.rebase, .rebase, .symbol])
    #expect("\(pointers[0].target)".hasPrefix("address"))
  }

  @Test("to symbols are found in programs and classic relocations too")
  func olderImports() throws {
    var builder = MachOBuilder()
    builder.slots = [.symbol("_first"), .null, .symbol("_second", library: -2), .text("text")]
    for fixups in [MachOBuilder.Fixups.programs, .classic] {
      builder.fixups = fixups
      if fixups == .classic { Self.narrow(&builder) }
      #expect(
        try Self.pointers(builder).map(\.target)[..<3] == [
          .imported(symbol: "_first"), .null, .imported(symbol: "_second"),
        ])
    }
  }

  @Test(
    "of a format that nothing here reads say which", arguments: [4, 5, 7, 8, 10, 11, 13, 14, 99])
  func unsupported(format: Int) throws {
    let builder = MachOBuilder(fixups: .chained(UInt16(format)))
    expectError(.unsupported, saying: "format \(format)") { try Self.pointers(builder) }
  }

  @Test("that no fixup covers are null or unresolvable")
  func uncovered() throws {
    let pointers = try Self.pointers(
      MachOBuilder(slots: [.null, .number(0x1_0000_0800), .text("text")]))
    #expect(pointers[0].target == .null)
    #expect(pointers[1].target == .unresolvable("no fixup covers the word"))
    #expect(pointers[1].resolution == .number)
  }

  @Test("that lead into an encrypted part say so")
  func encrypted() throws {
    var builder = MachOBuilder(encryption: 1)
    for bits in [64, 32] {
      if bits == 32 {
        Self.narrow(&builder)
        builder.fixups = .programs
      }
      expectError(.encrypted) { try Self.image(builder).texts(of: "BeehiveMods") }
    }
  }

  /// Programs that no linker writes, and the expected error code.
  static let programs: [(rebase: [UInt8], bind: [UInt8], ImageError.Code)] = [
    // Four thousand million words in five bytes.
    ([0x11, 0x21, 0, 0x60, 0xff, 0xff, 0xff, 0xff, 0x0f], [0], .malformed),
    // No segment; one that is not there; outside of it; a number without end.
    ([0x11, 0x51], [0], .malformed), ([0x11, 0x2f, 0, 0x51], [0], .malformed),
    ([0x11, 0x21, 0x80, 0x80, 0x80, 0x01, 0x51], [0], .malformed),
    ([0x21] + [UInt8](repeating: 0xff, count: 20), [0], .malformed),
    ([0x21, 0x80], [0], .malformed), ([0xf0], [0], .unsupported),
    // The same for symbols, and a name without end.
    ([0], [0x11, 0x40, 0x5f], .malformed), ([0], [0x90], .malformed),
    ([0], [0x71, 0, 0xc0, 0xff, 0xff, 0xff, 0xff, 0x0f, 0], .malformed),
    ([0], [0xd1], .unsupported), ([0], [0xe0], .unsupported),
  ]

  @Test("of programs that make no sense are refused", arguments: programs)
  func refusedProgram(rebase: [UInt8], bind: [UInt8], code: ImageError.Code) throws {
    let builder = MachOBuilder(fixups: .programs, rebaseProgram: rebase, bindProgram: bind)
    expectError(code) { try Self.pointers(builder) }
  }

  @Test("of programs that repeat and skip lead to the same texts")
  func repeated() throws {
    var builder = MachOBuilder()
    builder.fixups = .programs
    builder.slots = [.text("a"), .text("b"), .null, .text("c"), .null, .text("d"), .text("e")]
    // Two in a row, over one; one and skip one by a number; one and the rest by steps.
    builder.rebaseProgram = [0x11, 0x21, 0, 0x52, 0x41, 0x70, 8, 0x80, 1, 0, 0x30, 0, 0x51, 0]
    let texts = try Self.image(builder).texts(of: "BeehiveMods")
    #expect(texts.map(\.text) == ["a", "b", "c", "d", "e"])
  }

  @Test("A fixup that writes a part of a slot, or of its text, makes it none")
  func rewritten() throws {
    for (offset, texts) in [(16, ["first", "second"]), (4, ["", ""]), (12, ["first", ""])] {
      let builder = MachOBuilder(
        slots: [.text("first"), .text("second"), .null], fixups: .programs,
        rebaseProgram: [0x11, 0x21, 0, 0x52, 0x21, UInt8(offset), 0x51, 0])
      let image = try Self.image(builder)
      let found = try image.textsOfSlots(in: image.section("BeehiveMods"))
      #expect(found.prefix(2).elementsEqual(texts))
    }
  }
}
