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

  /// A change to a good file, and the code of the refusal.
  struct Harm: Sendable, CustomTestStringConvertible {
    var testDescription: String
    var code: ImageError.Code
    var change: @Sendable (inout [UInt8]) -> Void

    init(
      _ name: String, _ code: ImageError.Code, _ change: @escaping @Sendable (inout [UInt8]) -> Void
    ) {
      (testDescription, self.code, self.change) = (name, code, change)
    }
  }

  /// Where the chained fixups stand: behind one symbol, and its name.
  private static let tables = 0x2018

  /// Writes a number of four bytes.
  private static func put(_ value: UInt32, at place: Int, _ bytes: inout [UInt8]) {
    for index in 0..<4 { bytes[place + index] = UInt8(truncatingIfNeeded: value >> (8 * index)) }
  }

  /// Where a load command of this number stands.
  static func command(_ number: UInt32, _ bytes: [UInt8]) -> Int {
    func word(_ place: Int) -> UInt32 {
      (0..<4).reduce(0) { $0 | UInt32(bytes[place + $1]) << UInt32(8 * $1) }
    }
    var place = 32
    while word(place) != number { place += Int(word(place + 4)) }
    return place
  }

  static let harms: [Harm] = [
    Harm("four thousand million commands", .malformed) { put(0xee00_0000, at: 16, &$0) },
    Harm("more commands than their bytes hold", .malformed) { put(100, at: 16, &$0) },
    Harm("commands past the end of the file", .truncated) { put(0x00f0_0000, at: 20, &$0) },
    Harm("commands of four gigabytes", .malformed) { put(.max, at: 20, &$0) },
    Harm("a command of no size", .malformed) { put(0, at: 36, &$0) },
    Harm("a command of seven bytes", .malformed) { put(7, at: 36, &$0) },
    Harm("a command past the others", .malformed) { put(0x1000, at: 36, &$0) },
    Harm("a file type that nobody knows", .unsupported) { put(77, at: 12, &$0) },
    Harm("a collection of images", .unsupported) { put(12, at: 12, &$0) },
    Harm("more sections than the command holds", .malformed) { put(0x0fff_ffff, at: 96, &$0) },
    Harm("a segment past the end of the file", .truncated) { put(0x0f00_0000, at: 32 + 48, &$0) },
    Harm("segments that share addresses", .malformed) { put(0x2000, at: 32 + 32, &$0) },
    Harm("a segment of the other class", .malformed) { put(1, at: 32, &$0) },
    Harm("two symbol tables", .malformed) { put(2, at: command(0xb, $0), &$0) },
    Harm("a symbol table past the end", .truncated) {
      put(.max, at: command(2, $0) + 12, &$0)
    },
    Harm("chained fixups of a version to come", .unsupported) { put(1, at: tables, &$0) },
    Harm("imports whose names are compressed", .unsupported) { put(1, at: tables + 24, &$0) },
    Harm("imports of an unknown format", .unsupported) { put(9, at: tables + 20, &$0) },
    Harm("imports outside the table", .malformed) { put(0x4000, at: tables + 8, &$0) },
    Harm("chain starts outside the table", .malformed) { put(0x4000, at: tables + 4, &$0) },
    Harm("a chain that leaves its page", .malformed) { $0[0x1007] = 0x7f },
    Harm("a segment at the end of all numbers", .malformed) {
      // The second segment's offset in the file; its pages are not where they are said to be.
      put(.max, at: 32 + 152 + 40, &$0)
      put(.max, at: 32 + 152 + 44, &$0)
    },
    Harm("a page of no size", .malformed) { put(6 << 16, at: tables + 32 + 20, &$0) },
  ]

  @Test("say that a segment is of the other class, not that its size is wrong")
  func otherClass() throws {
    var bytes = MachOBuilder().bytes
    Self.put(1, at: 32, &bytes)
    switch answer(try Fixture.write(bytes, as: "other-class")) {
    case .success(let texts): Issue.record("\(texts) was read")
    case .failure(let error): #expect(error.message.contains("a segment of 32 bits"))
    }
  }

  @Test("that make no sense are refused, with the reason", arguments: harms)
  func hostile(harm: Harm) throws {
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
    Self.put(UInt32(count), at: 16, &bytes)
    Self.put(UInt32(count * 8), at: 20, &bytes)
    let image = try MachOFile(path: Fixture.write(bytes, as: "many-commands"))
    #expect(try image.allSections().isEmpty)
    #expect(try image.sections(named: "BeehiveMods").isEmpty)
    #expect(image.file.bytesRead == UInt64(rest.count))
  }
}
