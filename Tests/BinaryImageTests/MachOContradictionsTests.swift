import BinaryImage
import ObjectFiles
import Testing

/// Load commands that do not fit together, or lead out of the file: always a problem, since
/// entries may be hidden by any of them.
@Suite("Mach-O files that contradict themselves")
struct MachOContradictionsTests {
  /// Where the command of `__DATA` and the header of its section stand in what `MachOBuilder` makes.
  private static let (segment, section) = (32 + 152, 32 + 152 + 72)

  /// Looks for the entries, reads them, and asks whether that is all.
  private func problem(of bytes: [UInt8]) throws -> ImageError.Code? {
    let path = try Fixture.write(bytes, as: "macho-lie-\(UInt64.random(in: 0 ... .max))")
    do throws(ImageError) {
      let image = try MachOFile(path: path)
      for section in try image.sections(named: "BeehiveMods") {
        _ = try image.withBytes(of: section) { $0.count }
        // Whatever is wrong with single entries, the file as a whole has a problem too.
        _ = try? image.pointer(at: 0, in: section)
      }
      try image.checkExtents()
      return nil
    } catch {
      #expect(error.message.count > 20)
      return error.code
    }
  }

  static let linkedLies: [Lie<[UInt8]>] = [
    Lie("nothing", nil) { _ in },
    Lie("one section less than the command holds", .malformed) { $0.put(0, 4, at: segment + 64) },
    Lie("one section more", .malformed) { $0.put(2, 4, at: segment + 64) },
    Lie("one command less than there are", .malformed) { $0[16] -= 1 },
    Lie("one command more", .malformed) { $0[16] += 1 },
    Lie("a section with the bytes of other addresses", .malformed) { $0[section + 48] += 8 },
    Lie("an unknown command in place of the UUID", nil) {
      $0.put(0x99, 4, at: MachODamageTests.command(0x1b, $0))
    },
  ]

  @Test(
    "linked", arguments: linkedLies, [.chained(6), .programs, .classic] as [MachOBuilder.Fixups])
  func linked(lie: Lie<[UInt8]>, fixups: MachOBuilder.Fixups) throws {
    var builder = MachOBuilder()
    builder.slots = [.text("ShopModule"), .text("Cart.CartModule"), .text("Last")]
    builder.fixups = fixups
    var bytes = builder.bytes
    lie.change(&bytes)
    #expect(try problem(of: bytes) == lie.code)
  }

  /// Each of the tables that the loader needs stands once.
  @Test(
    "with two tables for the loader of one kind",
    arguments: [(.chained(6), 0x8000_0034), (.programs, 0x8000_0022), (.programs, 0x22)]
      as [(MachOBuilder.Fixups, UInt32)])
  func twice(fixups: MachOBuilder.Fixups, command: UInt32) throws {
    var builder = MachOBuilder()
    builder.fixups = fixups
    var bytes = builder.bytes
    // LC_DYSYMTAB has room for either, and says where nothing is.
    bytes.put(UInt64(command), 4, at: MachODamageTests.command(0xb, bytes))
    #expect(try problem(of: bytes) == .malformed)
  }

  @Test("whose names fill their sixteen bytes end there")
  func names() throws {
    var bytes = MachOBuilder().bytes
    for (place, letter) in [(Self.section, "s"), (Self.section + 16, "S")] {
      bytes.replaceSubrange(place..<place + 16, with: String(repeating: letter, count: 16).utf8)
    }
    let image = try MachOFile(path: Fixture.write(bytes, as: "long-names"))
    let section = try #require(image.sections(named: "ssssssssssssssss").first)
    #expect(section.segment == "SSSSSSSSSSSSSSSS")
    #expect(try image.sections(named: "ssssssssssssssssSSSSSSSSSSSSSSSS").isEmpty)
    #expect(
      try image.texts(of: "ssssssssssssssss").map(\.text) == ["ShopModule", "Cart.CartModule"])
  }

  // MARK: - Objects

  @Test(
    "objects of either byte order lead to the same texts",
    arguments: [
      (32, .little, 7), (32, .big, 18), (64, .little, 0x0100_000c), (64, .big, 0x0100_0012),
    ]
      as [(Int, ImageIdentity.ByteOrder, UInt64)])
  func objects(bits: Int, order: ImageIdentity.ByteOrder, machine: UInt64) throws {
    let builder = MachOObjectBuilder(bits: bits, order: order, machine: machine)
    let image = try MachOFile(path: Fixture.write(builder.bytes, as: "object-\(bits)-\(order)"))
    #expect(image.identity.kind == .object)
    #expect(image.identity.byteOrder == order)
    let found = try image.texts(of: "BeehiveMods")
    #expect(found.map(\.text) == MachOObjectBuilder.texts)
    #expect(found.map(\.pointer.resolution) == [.section, .symbol])
    try image.checkExtents()
  }

  private static let builder = MachOObjectBuilder()

  static let objectLies: [Lie<[UInt8]>] = [
    Lie("nothing", nil) { _ in },
    Lie("relocations past the end", .truncated) { $0.put(0xffff, 4, at: builder.relocations) },
    Lie("relocations at the end of all numbers", .truncated) {
      $0.put(.max, 4, at: builder.relocations)
    },
    Lie("more relocations than the file holds", .truncated) {
      $0.put(0x1000, 4, at: builder.relocations + 4)
    },
    Lie("as many relocations as can be said", .truncated) {
      $0.put(.max, 4, at: builder.relocations + 4)
    },
  ]

  @Test("as objects", arguments: objectLies)
  func object(lie: Lie<[UInt8]>) throws {
    var bytes = Self.builder.bytes
    lie.change(&bytes)
    #expect(try problem(of: bytes) == lie.code)
  }

  @Test(
    "name no symbol whose name lies outside the names",
    arguments: [(8, .malformed), (0x00ff_ffff, .malformed), (.max, .malformed)]
      as [(UInt32, ImageError.Code)])
  func symbolName(place: UInt32, code: ImageError.Code) throws {
    var bytes = Self.builder.bytes
    bytes.put(UInt64(place), 4, at: Self.builder.symbol)
    let image = try MachOFile(path: Fixture.write(bytes, as: "strx-\(place)"))
    let section = try #require(image.sections(named: "BeehiveMods").first)
    #expect(try image.pointer(at: 0, in: section).resolution == .section)
    expectError(code) { try image.pointer(at: 8, in: section) }
  }
}
