import Foundation
import TestSupport
import Testing

@testable import BinaryImage
@testable import ObjectFiles

/// Files that are cut off, overwritten or made to hurt: an answer or an `ImageError`, never a
/// crash, never memory beyond reason.
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
    let long = Array(stride(from: 4096, to: bytes.count, by: 64))
    for length in Effort.sample(300, of: Array(0..<4096) + long).reversed() {
      try Fixture.stretch(path, to: UInt64(length))
      if case .success(let texts) = answer(path) {
        Issue.record("\(texts) was read of \(length) bytes")
      }
    }
  }

  /// Where the chained fixups stand: behind one symbol, and its name.
  private static let tables = 0x2018

  /// Where a load command of this number stands.
  static func command(_ number: UInt32, _ bytes: [UInt8]) -> Int {
    var place = 32
    while bytes.number(4, at: place) != number { place += Int(bytes.number(4, at: place + 4)) }
    return place
  }

  static let harms: [Lie<[UInt8]>] = [
    Lie("four thousand million commands", .malformed) { $0.put(0xee00_0000, 4, at: 16) },
    Lie("more commands than their bytes hold", .malformed) { $0.put(100, 4, at: 16) },
    Lie("commands past the end of the file", .truncated) { $0.put(0x00f0_0000, 4, at: 20) },
    Lie("commands of four gigabytes", .malformed) { $0.put(.max, 4, at: 20) },
    Lie("a command of no size", .malformed) { $0.put(0, 4, at: 36) },
    Lie("a command of seven bytes", .malformed) { $0.put(7, 4, at: 36) },
    Lie("a command past the others", .malformed) { $0.put(0x1000, 4, at: 36) },
    Lie("a file type that nobody knows", .unsupported) { $0.put(77, 4, at: 12) },
    Lie("a collection of images", .unsupported) { $0.put(12, 4, at: 12) },
    Lie("more sections than the command holds", .malformed) { $0.put(0x0fff_ffff, 4, at: 96) },
    Lie("a segment past the end of the file", .truncated) { $0.put(0x0f00_0000, 4, at: 32 + 48) },
    Lie("segments that share addresses", .malformed) { $0.put(0x2000, 4, at: 32 + 32) },
    Lie("a segment of the other class", .malformed) { $0.put(1, 4, at: 32) },
    Lie("two symbol tables", .malformed) { $0.put(2, 4, at: command(0xb, $0)) },
    Lie("a symbol table past the end", .truncated) {
      $0.put(.max, 4, at: command(2, $0) + 12)
    },
    Lie("chained fixups of a version to come", .unsupported) { $0.put(1, 4, at: tables) },
    Lie("imports whose names are compressed", .unsupported) { $0.put(1, 4, at: tables + 24) },
    Lie("imports of an unknown format", .unsupported) { $0.put(9, 4, at: tables + 20) },
    Lie("imports outside the table", .malformed) { $0.put(0x4000, 4, at: tables + 8) },
    Lie("chain starts outside the table", .malformed) { $0.put(0x4000, 4, at: tables + 4) },
    Lie("a chain that leaves its page", .malformed) { $0[0x1007] = 0x7f },
    Lie("a segment at the end of all numbers", .malformed) {
      // The second segment's offset in the file; its pages are not where they are said to be.
      $0.put(.max, 4, at: 32 + 152 + 40)
      $0.put(.max, 4, at: 32 + 152 + 44)
    },
    Lie("a page of no size", .malformed) { $0.put(6 << 16, 4, at: tables + 32 + 20) },
  ]

  @Test("say that a segment is of the other class, not that its size is wrong")
  func otherClass() throws {
    var bytes = MachOBuilder().bytes
    bytes.put(1, 4, at: 32)
    switch answer(try Fixture.write(bytes, as: "other-class")) {
    case .success(let texts): Issue.record("\(texts) was read")
    case .failure(let error): #expect(error.message.contains("a segment of 32 bits"))
    }
  }

  @Test("that make no sense are refused, with the reason", arguments: harms)
  func hostile(harm: Lie<[UInt8]>) throws {
    var builder = MachOBuilder()
    builder.slots = [.symbol("_other"), .text("ShopModule")]
    var bytes = builder.bytes
    harm.change(&bytes)
    let path = try Fixture.write(bytes, as: "harm-\(UUID().uuidString)")
    switch answer(path) {
    case .success(let texts): Issue.record("\(texts) was read")
    case .failure(let error):
      #expect(error.code == harm.code)
      #expect(error.message.count > 20)
    }
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
    bytes.put(UInt64(count), 4, at: 16)
    bytes.put(UInt64(count * 8), 4, at: 20)
    let image = try MachOFile(path: Fixture.write(bytes, as: "many-commands"))
    #expect(try image.allSections().isEmpty)
    #expect(try image.sections(named: "BeehiveMods").isEmpty)
    #expect(image.file.bytesRead == UInt64(rest.count))
  }
}
