import Foundation
import TestSupport
import Testing

@testable import BinaryImage
@testable import ObjectFiles

/// Files that are cut off, overwritten or made to hurt, and load commands that contradict each other: an answer or an
/// `ImageError`, never a crash, never memory beyond reason.
@Suite("Damaged Mach-O files")
struct MachODamageTests {
  /// The texts of the entries, or the code of the failure.
  private func answer(_ path: String) -> Result<[String], ImageError> {
    Result { () throws(ImageError) in
      let image = try MachOFile(path: path)
      _ = image.identity
      var texts: [String] = []
      for section in try image.sections(named: "BeehiveMods") {
        _ = try image.withBytes(of: section) { $0.count }
        for offset in stride(from: 0, to: min(section.size, 4096), by: image.pointerSize) {
          let pointer = try image.pointer(at: offset, in: section)
          if case .imported(symbol: "_other", addend: 0) = pointer.target { continue }
          texts.append(
            try image.withText(at: pointer.target, limit: 4096) {
              String(decoding: Array(copying: $0), as: UTF8.self)
            })
        }
      }
      _ = try image.allSections()
      try image.checkExtents()
      return texts
    }
  }

  static let kinds: [MachOBuilder.Fixups] = [.chained(6), .chained(12), .programs, .classic]
  @Test("whose chain leads out of its page have that walked once, not for each word")
  func walkedOnce() throws {
    var builder = MachOBuilder()
    builder.slots = (0..<500).map { _ in .text("a") }
    var bytes = builder.bytes
    // The last word has a next one behind the page.
    bytes[Int(MachOBuilder.page) + 499 * 8 + 7] = 0x10
    let image = try MachOFile(path: Fixture.write(bytes, as: "endless-chain"))
    let section = try #require(image.sections(named: "BeehiveMods").first)
    for offset in stride(from: 0, to: section.size, by: 8) {
      expectError(.malformed) { try image.pointer(at: offset, in: section) }
    }
    #expect(image.file.bytesRead < 1 << 17)
  }

  @Test("whose chains are wanted in any order have each page walked once")
  func anyOrder() throws {
    var builder = MachOBuilder()
    builder.slots = (0..<500).map { _ in .text("a") }
    builder.chainPages = 16
    let image = try MachOFile(path: Fixture.write(builder.bytes, as: "many-chains"))
    let section = try #require(image.sections(named: "BeehiveMods").first)
    for slot in 0..<500 {
      let pointer = try image.pointer(at: UInt64(slot * 37 % 500 * 8), in: section)
      #expect(pointer.resolution == .chainedRebase)
    }
    #expect(image.file.bytesRead < 1 << 16)
  }

  static let builders = kinds.map { kind in
    var builder = MachOBuilder()
    builder.slots = [.text("ShopModule"), .symbol("_other"), .text("Cart.CartModule")]
    builder.fixups = kind
    return builder
  }

  @Test("cut off anywhere are refused", arguments: builders.indices)
  func truncated(index: Int) throws {
    let bytes = Self.builders[index].bytes
    let path = try Fixture.write(bytes, as: "cut-macho-\(index)")
    #expect(try answer(path).get().count == 2)
    // Longest first, so that the file only ever shrinks.
    let handle = try FileHandle(forWritingTo: URL(fileURLWithPath: path))
    let long = Array(stride(from: 4096, to: bytes.count, by: 64))
    for length in Effort.sample(300, of: Array(0..<4096) + long).reversed() {
      try handle.truncate(atOffset: UInt64(length))
      if case .success(let texts) = answer(path) {
        Issue.record("\(texts) was read of \(length) bytes")
      }
    }
    try handle.close()
  }

  /// A change to a good file, and the code of the refusal; nil if nothing is wrong.
  struct Harm: Sendable, CustomTestStringConvertible {
    var testDescription: String
    var code: ImageError.Code?
    /// A part of the message.
    var words: String
    var change: @Sendable (inout [UInt8]) -> Void

    init(
      _ name: String, _ code: ImageError.Code?, _ words: String = "",
      _ change: @escaping @Sendable (inout [UInt8]) -> Void
    ) {
      (testDescription, self.code, self.words, self.change) = (name, code, words, change)
    }
  }

  /// Where the chained fixups stand: behind one symbol, and its name.
  private static let tables = 0x2018

  /// The positions of the command of `__DATA` and the header of its section in a file of `MachOBuilder`.
  private static let (segment, section) = (32 + 152, 32 + 152 + 72)

  static let harms: [Harm] = [
    Harm("four thousand million commands", .malformed) { $0.put(0xee00_0000, at: 16) },
    Harm("more commands than their bytes hold", .malformed) { $0.put(100, at: 16) },
    Harm("commands past the end of the file", .truncated) { $0.put(0x00f0_0000, at: 20) },
    Harm("commands of four gigabytes", .malformed) { $0.put(0xffff_ffff, at: 20) },
    Harm("a command of no size", .malformed) { $0.put(0, at: 36) },
    Harm("a command of seven bytes", .malformed) { $0.put(7, at: 36) },
    Harm("a command past the others", .malformed) { $0.put(0x1000, at: 36) },
    Harm("a file type that nobody knows", .unsupported) { $0.put(77, at: 12) },
    Harm("a collection of images", .unsupported) { $0.put(12, at: 12) },
    Harm("more sections than the command holds", .malformed) { $0.put(0x0fff_ffff, at: 96) },
    Harm("a segment past the end of the file", .truncated) { $0.put(0x0f00_0000, at: 32 + 48) },
    Harm("segments that share addresses", .malformed) { $0.put(0x2000, at: 32 + 32) },
    Harm("a segment of the other class", .malformed, "a segment of 32 bits") { $0.put(1, at: 32) },
    Harm("two symbol tables", .malformed) { $0.put(2, at: $0.command(0xb)) },
    Harm("a symbol table past the end", .truncated) {
      $0.put(0xffff_ffff, at: $0.command(2) + 12)
    },
    Harm("chained fixups of a version to come", .unsupported) { $0.put(1, at: tables) },
    Harm("imports whose names are compressed", .unsupported) { $0.put(1, at: tables + 24) },
    Harm("imports of an unknown format", .unsupported) { $0.put(9, at: tables + 20) },
    Harm("imports outside the table", .malformed) { $0.put(0x4000, at: tables + 8) },
    Harm("chain starts outside the table", .malformed) { $0.put(0x4000, at: tables + 4) },
    Harm("a chain that leaves its page", .malformed) { $0[0x1007] = 0x7f },
    Harm("a segment at the end of all numbers", .malformed) {
      // The second segment's offset in the file; its pages are not where they are said to be.
      $0.put(0xffff_ffff, at: 32 + 152 + 40)
      $0.put(0xffff_ffff, at: 32 + 152 + 44)
    },
    Harm("a page of no size", .malformed) { $0.put(6 << 16, at: tables + 32 + 20) },
  ]

  /// Reads a file that is changed.
  private func expect(_ harm: Harm, of bytes: [UInt8]) throws {
    var bytes = bytes
    harm.change(&bytes)
    switch answer(try Fixture.write(bytes, as: "harm-\(UUID().uuidString)")) {
    case .success(let texts): #expect(harm.code == nil, "\(texts) was read")
    case .failure(let error):
      #expect(error.code == harm.code)
      #expect(
        error.message.count > 20 && (harm.words.isEmpty || error.message.contains(harm.words)))
    }
  }

  @Test("that make no sense are refused, with the reason", arguments: harms)
  func hostile(harm: Harm) throws {
    var builder = MachOBuilder()
    builder.slots = [.symbol("_other"), .text("ShopModule")]
    try expect(harm, of: builder.bytes)
  }

  static let contradictions: [Harm] = [
    Harm("nothing", nil) { _ in },
    Harm("one section less than the command holds", .malformed) { $0.put(0, at: segment + 64) },
    Harm("one section more", .malformed) { $0.put(2, at: segment + 64) },
    Harm("one command less than there are", .malformed) { $0[16] -= 1 },
    Harm("one command more", .malformed) { $0[16] += 1 },
    Harm("a section with the bytes of other addresses", .malformed) { $0[section + 48] += 8 },
    Harm("an unknown command instead of the UUID", nil) { $0.put(0x99, at: $0.command(0x1b)) },
  ]

  @Test(
    "that contradict themselves are refused, whatever their fixups are", arguments: contradictions,
    kinds)
  func contradiction(harm: Harm, fixups: MachOBuilder.Fixups) throws {
    var builder = MachOBuilder()
    builder.slots = [.text("ShopModule"), .text("Cart.CartModule"), .text("Last")]
    builder.fixups = fixups
    try expect(harm, of: builder.bytes)
  }

  /// Each of the tables that the loader needs stands once.
  @Test(
    "with two tables for the loader of one kind are refused",
    arguments: [(.chained(6), 0x8000_0034), (.programs, 0x8000_0022), (.programs, 0x22)]
      as [(MachOBuilder.Fixups, UInt64)])
  func twice(fixups: MachOBuilder.Fixups, command: UInt64) throws {
    var builder = MachOBuilder()
    builder.fixups = fixups
    // LC_DYSYMTAB has room for either, and says where nothing is.
    try expect(
      Harm("twice", .malformed) { $0.put(command, at: $0.command(0xb)) }, of: builder.bytes)
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

  private static let object = MachOObjectBuilder()

  static let objectHarms: [Harm] = [
    Harm("nothing", nil) { _ in },
    Harm("relocations past the end", .truncated) { $0.put(0xffff, at: object.relocations) },
    Harm("relocations at the end of all numbers", .truncated) {
      $0.put(0xffff_ffff, at: object.relocations)
    },
    Harm("more relocations than the file holds", .truncated) {
      $0.put(0x1000, at: object.relocations + 4)
    },
    Harm("as many relocations as can be said", .truncated) {
      $0.put(0xffff_ffff, at: object.relocations + 4)
    },
  ]

  @Test("that are objects are refused likewise", arguments: objectHarms)
  func objects(harm: Harm) throws { try expect(harm, of: Self.object.bytes) }

  @Test(
    "name no symbol whose name lies outside the names", arguments: [8, 0x00ff_ffff, 0xffff_ffff])
  func symbolName(place: UInt64) throws {
    var bytes = Self.object.bytes
    bytes.put(place, at: Self.object.symbol)
    let image = try MachOFile(path: Fixture.write(bytes, as: "strx-\(place)"))
    let section = try #require(image.sections(named: "BeehiveMods").first)
    #expect(try image.pointer(at: 0, in: section).resolution == .section)
    expectError(.malformed) { try image.pointer(at: 8, in: section) }
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
    let image = try MachOFile(path: Fixture.write(bytes, as: "many-commands"))
    #expect(try image.allSections().isEmpty)
    #expect(try image.sections(named: "BeehiveMods").isEmpty)
    #expect(image.file.bytesRead == UInt64(rest.count))
  }
}
