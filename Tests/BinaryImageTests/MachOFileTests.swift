import BinaryImage
import ObjectFiles
import Testing

@Suite("Mach-O files")
struct MachOFileTests {
  /// File types and the expected kind of image.
  static let kinds: [(UInt32, ImageIdentity.Kind)] = [
    (2, .executable), (4, .core), (5, .executable), (6, .shared), (7, .executable), (8, .bundle),
    (9, .shared), (10, .debug), (11, .bundle),
  ]

  @Test("say what they are for", arguments: kinds)
  func kind(type: UInt32, kind: ImageIdentity.Kind) throws {
    let identity = try MachOPointersTests.image(MachOBuilder(type: type)).identity
    #expect(identity.kind == kind)
    #expect(identity.format == .macho)
    #expect(identity.id == (1...16).map { UInt8($0) })
  }

  /// `cputype`, `cpusubtype`, and the machine's name.
  static let machines: [(UInt32, UInt32, String)] = [
    (0x0100_0007, 3, "x86_64"), (0x0100_0007, 0x8000_0008, "x86_64h"), (0x0100_000c, 0, "arm64"),
    (0x0100_000c, 0x8000_0002, "arm64e"), (0x0200_000c, 1, "arm64_32"), (7, 3, "i386"),
    (12, 9, "armv7"), (12, 11, "armv7s"), (12, 12, "armv7k"), (18, 0, "ppc"),
    (0x0100_0012, 0, "ppc64"), (99, 0, "machine-99"),
  ]

  @Test("say for which machine they are", arguments: machines)
  func machine(type: UInt32, subtype: UInt32, name: String) throws {
    let builder = MachOBuilder(machine: type, subtype: subtype)
    #expect(try MachOPointersTests.image(builder).identity.machine == name)
  }

  @Test("list their sections with segments, places and flags")
  func sections() throws {
    let image = try MachOPointersTests.image(MachOBuilder())
    let sections = try image.allSections()
    #expect(sections.map(\.name) == ["__cstring", "BeehiveMods"])
    #expect(sections.map(\.segment) == ["__TEXT", "__DATA"])
    #expect(sections.map(\.index) == [1, 2])
    #expect(sections.map(\.flags) == ["cstring_literals", "regular"])
    #expect(sections[1].address == VirtualAddress(rawValue: 0x1_0000_1000))
    #expect(sections[1].offset == FileOffset(rawValue: 0x1000))
    #expect(sections[1].size == 16)
  }

  @Test(
    "find a section by its name, and by its segment's and its own",
    arguments: [
      ("BeehiveMods", 1), ("__DATA,BeehiveMods", 1), ("__TEXT,BeehiveMods", 0), ("beehivemods", 0),
      ("__DATA", 0), ("BeehiveModsX", 0), ("", 0),
    ])
  func named(name: String, count: Int) throws {
    #expect(try MachOPointersTests.image(MachOBuilder()).sections(named: name).count == count)
  }

  @Test(
    "that are objects of either byte order lead to the same texts",
    arguments: [
      (32, .little, 7), (32, .big, 18), (64, .little, 0x0100_000c), (64, .big, 0x0100_0012),
    ] as [(Int, ImageIdentity.ByteOrder, UInt32)])
  func objects(bits: Int, order: ImageIdentity.ByteOrder, machine: UInt32) throws {
    let image = try MachOPointersTests.image(.object(bits: bits, order: order, machine: machine))
    #expect(image.identity.kind == .object)
    #expect(image.identity.byteOrder == order)
    let found = try image.texts(of: "BeehiveMods")
    #expect(found.map(\.text) == ["ShopModule", "Cart.CartModule"])
    #expect(found.map(\.pointer.resolution) == [.section, .symbol])
    try image.checkExtents()
  }
}
