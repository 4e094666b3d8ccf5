import TestSupport
import Testing

@testable import BinaryImage

/// Machines with peculiar numbers or loaders. The tests need no tools for them.
@Suite("Pointers of machines with ways of their own")
struct ELFMachinesTests {
  /// The classes and byte orders of MIPS.
  static let kinds: [(Int, ImageIdentity.ByteOrder)] = [
    (32, .big), (32, .little), (64, .big), (64, .little),
  ]

  /// Returns a file as GNU's linker makes it for MIPS. `DT_AARCH64_AUTH_RELR` has another meaning there.
  private func mips(_ bits: Int, _ order: ImageIdentity.ByteOrder) -> ELFBuilder {
    let word = UInt64(bits / 8)
    // R_MIPS_REL32, in 64-bit files followed by R_MIPS_64.
    let type: UInt64 = bits == 64 ? 3 | 18 << 8 : 3
    return ELFBuilder(
      bits: bits, order: order,
      table: [0, 1 << UInt64(bits - 1), ELFBuilder.first, ELFBuilder.second, 0, 0],
      list: [ELFBuilder.first, 0, 0, 7],
      relocations: [
        .init(place: 0, type: 0), .init(place: ELFBuilder.list, type: type),
        .init(place: ELFBuilder.list + word, symbol: 1, type: type),
        .init(place: ELFBuilder.list + 2 * word, symbol: 2, type: type),
      ],
      tags: [
        (3, ELFBuilder.table), (0x7000_000a, 4), (0x7000_0011, 3), (0x7000_0012, 70),
        (0x7000_0013, 1),
      ])
  }

  private func pointers(
    _ builder: ELFBuilder, _ section: String = "list"
  ) throws -> [PointerValue] { try image(builder).pointers(of: section) }

  private func image(_ builder: ELFBuilder) throws -> ELFFile { try ELFFile(bytes: builder.bytes) }

  @Test("of MIPS, as GNU's linker writes them, are relative or name symbols", arguments: kinds)
  func entries(bits: Int, order: ImageIdentity.ByteOrder) throws {
    let found = try pointers(mips(bits, order))[..<3]
    #expect(
      found.map(\.target) == [
        .address(VirtualAddress(rawValue: ELFBuilder.first)),
        .address(VirtualAddress(rawValue: ELFBuilder.second)), .imported(symbol: "far"),
      ])
    #expect(found.map(\.resolution) == [.rel, .symbol, .symbol])
    #expect(found.map(\.symbol) == [nil, "own", "far"])
    try image(mips(bits, order)).checkExtents()
  }

  @Test("JMP_IREL calls a function as IRELATIVE does, and words of ARC are known")
  func numbers() {
    let types: [(UInt16, Int, UInt32)] = [(43, 64, 248), (2, 32, 248), (21, 64, 247)]
    for (number, bits, type) in types {
      let known = ELFMachine(number: number, bits: bits, order: .big).relocationTypes
      #expect(known?.chosen?.contains(type) == true)
    }
    let arc = ELFMachine(number: 195, bits: 32, order: .little)
    #expect(arc.name == "arc" && arc.relocationTypes?.writesAddress(56) == true)
  }

  @Test("of objects for SuperH add their word to the addend")
  func addedWords() throws {
    let source = """
      .section BeehiveMods, "aw"
      .quad text
      .section .rodata.text, "a"
      text: .zero 32
      """
    let path = try Fixture.compile(source, suffix: "s", as: "added.o", ["-c"])
    var editor = ELFEditor(try Fixture.bytes(of: path))
    let relocation = Int(editor.get(".relaBeehiveMods", .offset))
    // EM_SH, R_SH_DIR32, an addend and a word.
    for (value, place) in [(1, relocation + 8), (12, relocation + 16)] {
      editor.put(UInt64(value), 4, at: place)
    }
    editor.put(42, 2, at: 18)
    editor.put(4, 8, at: Int(editor.get("BeehiveMods", .offset)))
    #expect(
      try ELFFile(bytes: editor.bytes).pointer(of: "BeehiveMods").target
        == .section(index: editor.index(".rodata.text"), offset: 16))
  }

  @Test("of m68k are at any even address")
  func alignment() throws {
    #expect(try image(ELFBuilder(bits: 32, order: .big, machine: 4)).pointerAlignment == 2)
  }

  @Test("of MIPS' global offset table need no entries", arguments: kinds)
  func globalOffsets(bits: Int, order: ImageIdentity.ByteOrder) throws {
    let found = try pointers(mips(bits, order), ".got")
    #expect(
      found[2...].map(\.target) == [
        .address(VirtualAddress(rawValue: ELFBuilder.first)),
        .address(VirtualAddress(rawValue: ELFBuilder.second)),
        .address(VirtualAddress(rawValue: ELFBuilder.second)), .imported(symbol: "far"),
      ])
    #expect(found.map(\.resolution)[2...] == [.rel, .rel, .symbol, .symbol])
    // The loader's own words.
    #expect(found[..<2].allSatisfy { $0.resolution != .rel && $0.symbol == nil })
  }

  @Test("of a table of MIPS that no segment holds are a problem")
  func hugeTable() throws {
    var builder = mips(64, .little)
    builder.tags[1].value = .max
    expectError(.truncated) { try pointers(builder) }
    // A segment that claims to be larger than the file does not hold the table either.
    builder.tags[1].value = 1 << 40
    var bytes = builder.bytes
    for field in [32, 40] { bytes[64 + field + 6] = 1 }
    expectError(.truncated) { try ELFFile(bytes: bytes).pointer(of: "list") }
  }

  @Test("of other machines read the numbers of their own processor alone")
  func processorTags() throws {
    var builder = ELFBuilder(
      machine: 62, list: [0],
      relocations: [.init(place: ELFBuilder.list, type: 8, addend: ELFBuilder.first)],
      tags: [(0x7000_0012, 70)])
    #expect(try image(builder).texts(of: "list").map(\.text) == ["first"])
    // On AArch64 the tag means signed relocations, which are not read.
    builder.machine = 183
    expectError(.unsupported) { try pointers(builder) }
  }

  @Test("of hppa are relative where they name no symbol")
  func hppa() throws {
    let builder = ELFBuilder(
      bits: 32, order: .big, machine: 15, list: [0, 0, 0, 0],
      relocations: [
        .init(place: ELFBuilder.list, type: 1, addend: ELFBuilder.first),
        .init(place: ELFBuilder.list + 4, symbol: 1, type: 1, addend: 0),
        .init(place: ELFBuilder.list + 8, symbol: 2, type: 65, addend: 0),
        .init(place: ELFBuilder.list + 12, type: 153, addend: 8),
      ])
    #expect(try image(builder).identity.machine == "hppa")
    let found = try pointers(builder)
    #expect(
      found.map(\.target) == [
        .address(VirtualAddress(rawValue: ELFBuilder.first)),
        .address(VirtualAddress(rawValue: ELFBuilder.second)), .imported(symbol: "far"),
        .unresolvable("R_PARISC_TPREL32 writes no address of a word"),
      ])
  }

  @Test(
    "that a relocation of another kind writes name it as the machine does",
    arguments: [
      (62, 64, 18, "R_X86_64_TPOFF64"), (183, 64, 1030, "R_AARCH64_TLS_TPREL"),
      (8, 64, 48, "R_MIPS_TLS_TPREL64"), (243, 64, 11, "R_RISCV_TLS_TPREL64"),
      (3, 32, 14, "R_386_TLS_TPOFF"), (40, 32, 19, "R_ARM_TLS_TPOFF32"),
      (21, 64, 73, "R_PPC64_TPREL64"), (22, 64, 56, "R_390_TLS_TPOFF"),
      (62, 64, 200, "relocation type 200"),
    ])
  func names(machine: UInt64, bits: Int, type: UInt64, name: String) throws {
    let builder = ELFBuilder(
      bits: bits, machine: machine, list: [0],
      relocations: [.init(place: ELFBuilder.list, type: type, addend: 8)])
    #expect(
      try pointers(builder).map(\.target) == [.unresolvable("\(name) writes no address of a word")])
  }

  @Test("as GNU's linker makes them for MIPS", .needs("mips-linux-gnu-gcc"))
  func linked() throws {
    let path = try Fixture.compile(
      ELFPointersTests.source, as: "gnu.mips.so", with: "mips-linux-gnu-gcc",
      ["-shared", "-nostdlib", "-fPIC"])
    let texts = try ELFFile(path: path).texts(of: "BeehiveMods").map(\.text)
    #expect(Set(texts) == ["ShopModule", "Cart.CartModule"])
  }
}
