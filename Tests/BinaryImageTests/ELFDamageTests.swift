import Foundation
import TestSupport
import Testing

@testable import BinaryImage

/// Files that are cut off, overwritten or made to hurt. The reader answers or throws an `ImageError`. It never crashes
/// and never takes excessive memory.
@Suite("Damaged ELF files")
struct ELFDamageTests {
  static let linkages: [[String]] = [
    ["-shared", "-fuse-ld=bfd"], ["-shared", "-fuse-ld=lld", "-Wl,-zpack-relative-relocs"], ["-c"],
  ]

  @Test("cut off anywhere are refused or read the same", arguments: linkages)
  func truncated(arguments: [String]) throws {
    try Needs.linker(of: arguments)
    try expectWhole(FileAnswer.build("cut", arguments), lengths: 300)
  }

  @Test("with more sections than 16 bits count, cut off anywhere are refused or read the same")
  func truncatedExtended() throws {
    try expectWhole(Fixture.manySections("cut-extended.o"), lengths: 1000)
  }

  /// Cuts off a file of three entries. The lengths are all to 4 KiB and every 64th after, or a sample of `count`.
  private func expectWhole(_ path: String, lengths count: Int) throws {
    let bytes = try Fixture.bytes(of: path)
    let whole = FileAnswer(of: path)
    #expect(whole.count == 3)
    // Longest first, so that the file only ever shrinks.
    let long = Array(stride(from: 4096, to: bytes.count, by: 64))
    let lengths = Effort.sample(count, of: Array(0..<min(4096, bytes.count)) + long)
    for length in lengths.reversed() {
      try Fixture.stretch(path, to: UInt64(length))
      let cut = FileAnswer(of: path)
      guard case .texts = cut else { continue }
      #expect(cut == whole, "\(length) of \(bytes.count) bytes")
    }
  }

  @Test("with a table beyond their end miss it", arguments: [UInt64.max, 1 << 40, 100])
  func tableOutside(offset: UInt64) throws {
    var file = HeaderBytes(sections: 0, claiming: 4)
    file.put(offset, 8, at: 40)
    expectError(.sectionTableMissing) {
      try ELFFile(bytes: file.bytes).sections(named: ".text")
    }
  }

  @Test("a section that the file ends before hides none of its name")
  func claimed() throws {
    var editor = ELFEditor(try Fixture.bytes(of: FileAnswer.build("claimed", ["-shared"])))
    let other = editor.names == ".strtab" ? ".symtab" : ".strtab"
    editor.set(other, .name, editor.get("BeehiveMods", .name))
    editor.set(other, .size, 1 << 40)
    let image = try ELFFile(bytes: editor.bytes)
    #expect(try image.sections(named: "BeehiveMods").count == 2)
  }

  /// Returns the builder of an x86-64 file with one pointer.
  private static func pointing(
    _ relocations: [ELFBuilder.Relocation] = [], _ change: (inout ELFBuilder) -> Void = { _ in }
  ) -> ELFBuilder {
    var builder = ELFBuilder(machine: 62, list: [ELFBuilder.first], relocations: relocations)
    change(&builder)
    return builder
  }

  private func pointer(_ bytes: [UInt8]) throws -> PointerValue {
    try ELFFile(bytes: bytes).pointer(of: "list")
  }

  @Test("a copy of a symbol without end reaches no further than a number can say")
  func endlessCopy() throws {
    let far: UInt64 = 1 << 63 | 0x40
    var bytes = Self.pointing([
      .init(place: ELFBuilder.list, type: 8, addend: far),
      .init(place: 0x10, symbol: 1, type: 5, addend: 0),
    ]).bytes
    bytes.replaceSubrange(0xa28..<0xa30, with: [UInt8](repeating: 0xff, count: 8))
    #expect(try pointer(bytes).target == .address(VirtualAddress(rawValue: far)))
  }

  @Test("a segment that goes on behind the last address is refused, with a dynamic section there")
  func endlessSegment() throws {
    var editor = ELFEditor(Self.pointing([.init(place: ELFBuilder.list, type: 8, addend: 1)]).bytes)
    for segment in 0...1 { editor.put((0 as UInt64) &- 0x20, 8, at: 64 + 56 * segment + 16) }
    expectError(.malformed) { try pointer(editor.bytes) }
  }

  @Test("packed relocations of more words than the file stores are refused")
  func manyPacked() throws {
    let builder = Self.pointing {
      $0.table = [0x1000] + [UInt64](repeating: .max, count: 30)
      $0.tags = [(36, ELFBuilder.table), (35, 31 * 8), (37, 8)]
      $0.claimedSize = 1 << 16
    }
    expectError(.malformed) { try pointer(builder.bytes) }
  }

  @Test("of relocations of one place the last counts, unless it adds to the word")
  func repeated() throws {
    let place = ELFBuilder.list
    let explicit = Self.pointing([
      .init(place: place, type: 8, addend: ELFBuilder.first),
      .init(place: place, type: 8, addend: ELFBuilder.second),
    ])
    #expect(
      try pointer(explicit.bytes).target
        == .address(VirtualAddress(rawValue: ELFBuilder.second)))
    let packed = Self.pointing {
      $0.table = [place, place]
      $0.tags = [(36, ELFBuilder.table), (35, 16), (37, 8)]
    }
    #expect(try pointer(packed.bytes).target == .unresolvable("several relocations make the word"))
  }

  @Test("that shrink while they are open are refused")
  func shrinking() throws {
    let path = try Fixture.compile(
      ELFPointersTests.source, as: "shrinking.so", ["-shared", "-fPIC", "-nostdlib"])
    let image = try ELFFile(path: path)
    let section = try image.section("BeehiveMods")
    try Fixture.stretch(path, to: 512)
    expectError(.truncated) { try image.bytes(of: section) }
    expectError(.truncated) { try image.pointer(at: 0, in: section) }
  }

  @Test(
    "whose symbols or their names stand at the end of all numbers are refused", .needs("gcc"),
    arguments: [2, 3] as [UInt8], [.max, .max - 15, .max - 63] as [UInt64])
  func tableAtTheEnd(type: UInt8, offset: UInt64) throws {
    let path = try Fixture.compile(
      ELFPointersTests.source, as: "far-\(type)-\(offset).o", with: "gcc", ["-fPIC", "-c"])
    var editor = ELFEditor(try Fixture.bytes(of: path))
    // The last header, of the section names, stays. Every other table of this type goes.
    for header in stride(from: Int(editor.table), to: editor.bytes.count - 64, by: 64)
    where editor.bytes[header + 4] == type {
      editor.put(offset, 8, at: header + 24)
    }
    let image = try ELFFile(bytes: editor.bytes)
    let section = try #require(image.sections(named: "BeehiveMods").first { $0.size > 0 })
    if type == 2 {
      expectError(.truncated) { try image.pointer(at: 0, in: section) }
    } else {
      // Symbols that stand for sections have no names.
      #expect(try image.pointer(at: 0, in: section).resolution == .section)
    }
    expectError(.truncated) { try image.checkExtents() }
  }

  @Test("whose symbols share one chain are looked up in as if each name had its own, or refused")
  func chains() throws {
    let names = (0..<4096).map { "s\($0)" }
    let path = try Fixture.compile(
      names.map { "int \($0);\n" }.joined(), as: "chains.so",
      ["-shared", "-nostdlib", "-Wl,--hash-style=gnu"])
    var editor = ELFEditor(try Fixture.bytes(of: path))
    let start = Int(editor.get(".gnu.hash", .offset))
    let end = start + Int(editor.get(".gnu.hash", .size))
    let words = start + 16 + 8 * Int(editor.number(4, at: start + 8))
    // The filter admits each name, and no chain ends before the last one does.
    for word in stride(from: start + 16, to: words, by: 8) { editor.put(.max, 8, at: word) }
    let chains = words + 4 * Int(editor.number(4, at: start))
    for chain in stride(from: chains, to: end - 4, by: 4) { editor.bytes[chain] &= 0xfe }
    let hostile = try Fixture.write(editor.bytes, as: "one-chain.so")
    func define(all path: String) throws -> Bool {
      let bindings = try ELFBindings(of: ELFFile(path: path))
      return try names.allSatisfy { try bindings.definition(of: BoundSymbol(name: $0)) != nil }
    }
    #expect(try define(all: path))
    expectError(.malformed) { try define(all: hostile) }
  }
}
