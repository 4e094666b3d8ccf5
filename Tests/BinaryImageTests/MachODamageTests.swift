import Foundation
import TestSupport
import Testing

@testable import BinaryImage
@testable import ObjectFiles

/// Files that are cut off, overwritten or made to hurt, and load commands that contradict each other. The reader
/// answers or throws an `ImageError`. It never crashes and never takes excessive memory.
@Suite("Damaged Mach-O files")
struct MachODamageTests {
  static let kinds: [MachOBuilder.Fixups] = [.chained(6), .chained(12), .programs, .classic]

  @Test("whose chain leads out of its page have that walked once, not for each word")
  func walkedOnce() throws {
    var bytes = MachOBuilder(slots: (0..<500).map { _ in .text("a") }).bytes
    // The last word claims a next word after the page.
    bytes[Int(MachOBuilder.page) + 499 * 8 + 7] = 0x10
    let image = try MachOFile(bytes: bytes)
    for index in 0..<500 {
      expectError(.malformed) { try image.pointer(index, of: "BeehiveMods") }
    }
    #expect(image.file.bytesRead < 1 << 17)
  }

  @Test("whose chains are wanted in any order have each page walked once")
  func anyOrder() throws {
    let builder = MachOBuilder(slots: (0..<500).map { _ in .text("a") }, chainPages: 16)
    let image = try MachOFile(bytes: builder.bytes)
    for slot in 0..<500 {
      #expect(try image.pointer(slot * 37 % 500, of: "BeehiveMods").resolution == .chainedRebase)
    }
    #expect(image.file.bytesRead < 1 << 16)
  }

  static let builders = kinds.map { kind in
    MachOBuilder(
      slots: [.text("ShopModule"), .symbol("_other"), .text("Cart.CartModule")], fixups: kind)
  }

  @Test("cut off anywhere are refused", arguments: builders.indices)
  func truncated(index: Int) throws {
    let bytes = Self.builders[index].bytes
    let path = try Fixture.write(bytes, as: "cut-macho-\(index)")
    #expect(FileAnswer(of: path).count == 2)
    // Longest first, so that the file only ever shrinks.
    let long = Array(stride(from: 4096, to: bytes.count, by: 64))
    for length in Effort.sample(300, of: Array(0..<4096) + long).reversed() {
      try Fixture.stretch(path, to: UInt64(length))
      #expect(FileAnswer(of: path).count == nil, "\(length) bytes")
    }
  }

  /// The offset of the chained fixups: after one symbol and its name.
  private static let tables = 0x2018

  /// The offsets of the command of `__DATA` and the header of its section in a file of `MachOBuilder`.
  private static let (segment, section) = (32 + 152, 32 + 152 + 72)

  static let harms: [Lie<[UInt8]>] = [
    Lie("four thousand million commands", .malformed) { $0.put(0xee00_0000, at: 16) },
    Lie("more commands than their bytes hold", .malformed) { $0.put(100, at: 16) },
    Lie("commands past the end of the file", .truncated) { $0.put(0x00f0_0000, at: 20) },
    Lie("commands of four gigabytes", .malformed) { $0.put(0xffff_ffff, at: 20) },
    Lie("a command of no size", .malformed) { $0.put(0, at: 36) },
    Lie("a command of seven bytes", .malformed) { $0.put(7, at: 36) },
    Lie("a command past the others", .malformed) { $0.put(0x1000, at: 36) },
    Lie("a file type that nobody knows", .unsupported) { $0.put(77, at: 12) },
    Lie("a collection of images", .unsupported) { $0.put(12, at: 12) },
    Lie("more sections than the command holds", .malformed) { $0.put(0x0fff_ffff, at: 96) },
    Lie("a segment past the end of the file", .truncated) { $0.put(0x0f00_0000, at: 32 + 48) },
    Lie("segments that share addresses", .malformed) { $0.put(0x2000, at: 32 + 32) },
    Lie("a segment of the other class", .malformed) { $0.put(1, at: 32) },
    Lie("two symbol tables", .malformed) { $0.put(2, at: $0.command(0xb)) },
    Lie("a symbol table past the end", .truncated) {
      $0.put(0xffff_ffff, at: $0.command(2) + 12)
    },
    Lie("chained fixups of a version to come", .unsupported) { $0.put(1, at: tables) },
    Lie("imports whose names are compressed", .unsupported) { $0.put(1, at: tables + 24) },
    Lie("imports of an unknown format", .unsupported) { $0.put(9, at: tables + 20) },
    Lie("imports outside the table", .malformed) { $0.put(0x4000, at: tables + 8) },
    Lie("chain starts outside the table", .malformed) { $0.put(0x4000, at: tables + 4) },
    Lie("a chain that leaves its page", .malformed) { $0[0x1007] = 0x7f },
    Lie("a segment at the end of all numbers", .malformed) {
      // Changes the second segment's file offset, so its pages are not where the chains say.
      $0.put(0xffff_ffff, at: 32 + 152 + 40)
      $0.put(0xffff_ffff, at: 32 + 152 + 44)
    },
    Lie("a page of no size", .malformed) { $0.put(6 << 16, at: tables + 32 + 20) },
  ]

  /// Reads a changed file and expects the code of the harm, or entries if it has none.
  private func expect(_ harm: Lie<[UInt8]>, of bytes: [UInt8]) throws {
    var bytes = bytes
    harm.change(&bytes)
    let answer = FileAnswer(of: try Fixture.write(bytes, as: "harm-\(UUID().uuidString)"))
    if let code = harm.code { #expect(answer == .refused(code)) }
    #expect((answer.count == nil) == (harm.code != nil), "\(answer)")
  }

  @Test("that make no sense are refused, with the reason", arguments: harms)
  func hostile(harm: Lie<[UInt8]>) throws {
    try expect(harm, of: MachOBuilder(slots: [.symbol("_other"), .text("ShopModule")]).bytes)
  }

  static let contradictions: [Lie<[UInt8]>] = [
    Lie("nothing", nil) { _ in },
    Lie("one section less than the command holds", .malformed) { $0.put(0, at: segment + 64) },
    Lie("one section more", .malformed) { $0.put(2, at: segment + 64) },
    Lie("one command less than there are", .malformed) { $0[16] -= 1 },
    Lie("one command more", .malformed) { $0[16] += 1 },
    Lie("a section with the bytes of other addresses", .malformed) { $0[section + 48] += 8 },
    Lie("an unknown command instead of the UUID", nil) { $0.put(0x99, at: $0.command(0x1b)) },
  ]

  @Test(
    "that contradict themselves are refused, whatever their fixups are", arguments: contradictions,
    kinds)
  func contradiction(harm: Lie<[UInt8]>, fixups: MachOBuilder.Fixups) throws {
    let slots = ["ShopModule", "Cart.CartModule", "Last"].map { MachOBuilder.Slot.text($0) }
    try expect(harm, of: MachOBuilder(slots: slots, fixups: fixups).bytes)
  }

  /// A file may have each of the loader's tables only once.
  @Test(
    "with two tables for the loader of one kind are refused",
    arguments: [(.chained(6), 0x8000_0034), (.programs, 0x8000_0022), (.programs, 0x22)]
      as [(MachOBuilder.Fixups, UInt64)])
  func twice(fixups: MachOBuilder.Fixups, command: UInt64) throws {
    let bytes = MachOBuilder(fixups: fixups).bytes
    // LC_DYSYMTAB is long enough for either command, and locates nothing here.
    try expect(Lie("twice", .malformed) { $0.put(command, at: $0.command(0xb)) }, of: bytes)
  }

  @Test("whose names fill their sixteen bytes end there")
  func names() throws {
    var bytes = MachOBuilder().bytes
    for (place, letter) in [(Self.section, "s"), (Self.section + 16, "S")] {
      bytes.replaceSubrange(place..<place + 16, with: String(repeating: letter, count: 16).utf8)
    }
    let image = try MachOFile(bytes: bytes)
    #expect(try image.section("ssssssssssssssss").segment == "SSSSSSSSSSSSSSSS")
    #expect(try image.sections(named: "ssssssssssssssssSSSSSSSSSSSSSSSS").isEmpty)
    #expect(
      try image.texts(of: "ssssssssssssssss").map(\.text) == ["ShopModule", "Cart.CartModule"])
  }

  private static let object = MachOBuilder.object().bytes

  static let objectHarms: [Lie<[UInt8]>] = [
    Lie("nothing", nil) { _ in },
    Lie("relocations past the end", .truncated) { $0.put(0xffff, at: section + 56) },
    Lie("relocations at the end of all numbers", .truncated) {
      $0.put(0xffff_ffff, at: section + 56)
    },
    Lie("more relocations than the file holds", .truncated) {
      $0.put(0x1000, at: section + 60)
    },
    Lie("as many relocations as can be said", .truncated) {
      $0.put(0xffff_ffff, at: section + 60)
    },
  ]

  @Test("that are objects are refused likewise", arguments: objectHarms)
  func objects(harm: Lie<[UInt8]>) throws { try expect(harm, of: Self.object) }

  @Test(
    "name no symbol whose name lies outside the names", arguments: [16, 0x00ff_ffff, 0xffff_ffff])
  func symbolName(place: UInt64) throws {
    var bytes = Self.object
    // The second symbol.
    bytes.put(place, at: Int(bytes.number(4, at: bytes.command(2) + 8)) + 16)
    let image = try MachOFile(bytes: bytes)
    #expect(try image.pointer(of: "BeehiveMods").resolution == .section)
    expectError(.malformed) { try image.pointer(1, of: "BeehiveMods") }
  }

  @Test("of many commands are read once", .mayHang)
  func large() throws {
    // 200,000 load commands of eight bytes that nobody knows.
    var bytes = MachOBuilder().bytes
    let count = 200_000
    var rest = [UInt8](repeating: 0, count: count * 8)
    for place in stride(from: 0, to: rest.count, by: 8) {
      (rest[place], rest[place + 4]) = (0x99, 8)
    }
    bytes.replaceSubrange(32..., with: rest)
    bytes.put(UInt64(count), at: 16)
    bytes.put(UInt64(count * 8), at: 20)
    let image = try MachOFile(bytes: bytes)
    #expect(try image.allSections().isEmpty)
    #expect(try image.sections(named: "BeehiveMods").isEmpty)
    #expect(image.file.bytesRead == UInt64(rest.count))
  }
}
