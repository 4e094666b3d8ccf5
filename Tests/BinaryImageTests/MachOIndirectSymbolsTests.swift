import BinaryImage
import Foundation
import ObjectFiles
import TestSupport
import Testing

/// Files without `LC_DYLD_INFO` and chains name the targets of symbol pointers in the indirect symbol table.
@Suite("The indirect symbol table of a Mach-O file")
struct MachOIndirectSymbolsTests {
  private static let (absolute, local): (UInt32, UInt32) = (0x4000_0000, 0x8000_0000)

  /// Types of pointer sections: non-lazy, lazy, lazily bound to a library, and thread-local.
  private static let types: [UInt64] = [0x6, 0x7, 0x10, 0x14]

  private static func builder(_ type: UInt64 = 0x7, bits: Int = 64) -> MachOBuilder {
    var builder = MachOBuilder()
    if bits == 32 { MachOPointersTests.narrow(&builder) }
    (builder.fixups, builder.sectionType) = (.none, type)
    builder.slots = [
      .symbol("_first"), .text("here"), .number(7), .null, .symbol("_second"), .null,
    ]
    builder.definitions = ["_own": "own text"]
    builder.indirectStart = 1
    builder.indirect = [99, 0, local, absolute, local, 1, 2]
    return builder
  }

  @Test("names what each word leads to", arguments: types, [32, 64])
  func names(type: UInt64, bits: Int) throws {
    let builder = Self.builder(type, bits: bits)
    let pointers = try MachOPointersTests.pointers(builder)
    #expect(pointers[0].target == .imported(symbol: "_first"))
    #expect(pointers[0].resolution == .symbol && pointers[0].symbol == "_first")
    #expect(pointers[1].resolution == .rebase)
    #expect(pointers[2].resolution == .number)
    #expect(pointers[3].target == .null)
    #expect(pointers[4].target == .imported(symbol: "_second"))
    // A symbol of the file itself, whose address the loader writes into a word that is zero.
    #expect(pointers[5].symbol == "_own")
    let image = try MachOPointersTests.image(builder)
    #expect(try [1, 5].map { try image.text(at: pointers[$0].target) } == ["here", "own text"])
    try image.checkExtents()
  }

  @Test("counts more than the relocation that adds the slide to a lazy pointer")
  func relocated() throws {
    var builder = Self.builder(bits: 32)
    builder.fixups = .classic
    builder.slots = [.text("stub helper"), .text("here")]
    builder.definitions = ["_own": "own text"]
    (builder.indirectStart, builder.indirect) = (0, [0, Self.local])
    let pointers = try MachOPointersTests.pointers(builder)
    #expect(pointers.map(\.symbol) == ["_own", nil])
    #expect(pointers.map(\.resolution) == [.symbol, .rebase])
  }

  @Test("says nothing of other sections, and nothing where newer tables do")
  func ignored() throws {
    let others: [(UInt64, MachOBuilder.Fixups)] = [
      (0, .none), (0xb, .none), (0x7, .programs), (0x7, .chained(6)),
    ]
    for (type, fixups) in others {
      var builder = Self.builder(type)
      builder.fixups = fixups
      builder.indirect = [UInt32](repeating: 1, count: 7)
      let pointers = try MachOPointersTests.pointers(builder)
      #expect(pointers[0].symbol == (fixups == .none ? nil : "_first"))
      #expect(pointers[5].target == .null)
    }
  }

  @Test("is refused where it is damaged")
  func damaged() throws {
    // Too short; a start far beyond the table; a symbol that does not exist.
    for (start, table) in [(0, [0]), (0xffff_fffe, [0, 1]), (0, [7, 0xfff])]
      as [(UInt64, [UInt32])]
    {
      var builder = Self.builder()
      (builder.indirectStart, builder.indirect) = (start, table)
      expectError(.malformed) { try MachOPointersTests.pointers(builder) }
    }
    var bytes = Self.builder().bytes
    let count = bytes.command(0xb) + 60
    bytes[count + 3] = 0x7f
    let image = try MachOFile(bytes: bytes)
    #expect(try image.pointer(of: "BeehiveMods").symbol == "_first")
    expectError(.truncated) { try image.checkExtents() }
  }

  // MARK: - Files of real tools

  private static let source = """
    extern int first(void), value;
    int own;
    int run(void) { return first() + value + own; }
    int *address(void) { return &value; }
    """

  @Test("of an object for i386 names what its words lead to", .needs("clang"))
  func object() throws {
    let folder = try Folder()
    try Compiler.compile(
      Self.source, as: "old.o", in: folder.url, with: "clang",
      ["-target", "i386-apple-macos10.6", "-fPIC", "-ffreestanding", "-c"])
    let image = try MachOFile(path: folder.place("old.o").path)
    let sections = try image.allSections().filter { $0.type == "non_lazy_symbol_pointers" }
    let found = try sections.flatMap { try image.pointers(of: $0.name) }
    #expect(found.contains { $0.target == .imported(symbol: "_value") }, "\(found)")
    try image.checkExtents()
  }

  @Test("names what the programs of the loader name", .needs("clang"), .needs("ld64.lld-19"))
  func linked() throws {
    let folder = try Folder()
    try Compiler.compile(
      Self.source, as: "new.o", in: folder.url, with: "clang",
      ["-target", "x86_64-apple-macos11", "-ffreestanding", "-c"])
    try Command.output(
      "ld64.lld-19",
      [
        "-arch", "x86_64", "-platform_version", "macos", "11.0", "11.0", "-dylib", "-undefined",
        "dynamic_lookup", "-install_name", "x", "-no_fixup_chains", "new.o", "-o", "new.dylib",
      ], in: folder.url)
    func symbols(of name: String) throws -> [String: [String?]] {
      let image = try MachOFile(path: folder.place(name).path)
      let sections = try image.allSections().filter { $0.type.hasSuffix("symbol_pointers") }
      return try Dictionary(
        uniqueKeysWithValues: sections.map {
          ($0.name, try image.pointers(of: $0.name).map(\.symbol))
        })
    }
    let programs = try symbols(of: "new.dylib")
    #expect(programs["__la_symbol_ptr"] == ["_first"])
    #expect(programs["__got"]?.contains("_value") == true)
    // Without LC_DYLD_INFO_ONLY only the older table is left.
    var bytes = try [UInt8](Data(contentsOf: folder.place("new.dylib")))
    bytes.put(0x77, at: bytes.command(0x8000_0022))
    try Data(bytes).write(to: folder.place("old.dylib"))
    #expect(try symbols(of: "old.dylib") == programs)
  }
}
