import TestSupport
import Testing

@testable import BinaryImage
@testable import ObjectFiles

/// Files that claim thousands of sections get an answer or a problem in little time.
@Suite("Mach-O files of many sections")
struct MachOManySectionsTests {
  /// A little-endian 64-bit object. Its one segment holds all of its bytes and sections of one name.
  struct Crowd {
    var count: Int
    /// The size of each section.
    var size: UInt64 = 0
    /// The distance in bytes between the starts of two sections.
    var step = 64
    /// The number of relocations of each section. All sections share the same bytes.
    var relocations: UInt64 = 0
    /// The section, flags and offset of each symbol.
    var symbols: [(section: UInt8, description: UInt16, offset: Int)] = []

    private func numbers(_ values: UInt64..., size: Int = 4) -> [UInt8] {
      values.flatMap { $0.bytes(size) }
    }
    var bytes: [UInt8] {
      let commands = 72 + count * 80 + 24
      let contents = 32 + commands
      let symbolTable = contents + count * step + 64
      let end = UInt64(symbolTable + symbols.count * 16)
      var file = numbers(0xfeed_facf, 0x0100_000c, 0, 1, 2, UInt64(commands))
      file += numbers(0x2000, 0, 0x19, UInt64(72 + count * 80)) + MachOBuilder.name("__DATA")
      file += numbers(0, end, 0, end, size: 8) + numbers(3, 3, UInt64(count), 0)
      let title = MachOBuilder.name("BeehiveMods") + MachOBuilder.name("__DATA")
      for index in 0..<count {
        let place = UInt64(contents + index * step)
        file += title + numbers(place, size, size: 8)
        file += numbers(place, 0, UInt64(contents), relocations, 0, 0, 0, 0)
      }
      file += numbers(2, 24, UInt64(symbolTable), UInt64(symbols.count), UInt64(end), 0)
      file += [UInt8](repeating: 0, count: symbolTable - file.count)
      for symbol in symbols {
        file += [0, 0, 0, 0, 0xe, symbol.section] + numbers(UInt64(symbol.description), size: 2)
        let address = contents + (Int(symbol.section) - 1) * step + symbol.offset
        file += numbers(UInt64(address), size: 8)
      }
      return file
    }
  }

  private func open(_ bytes: [UInt8], _ name: String) throws -> MachOFile {
    try MachOFile(path: Fixture.write(bytes, as: "crowd-\(name)"))
  }

  @Test("are refused where no linker writes so many of one name")
  func absurd() throws {
    let image = try open(Crowd(count: 65_536, step: 8).bytes, "absurd")
    expectError(.malformed) { try image.sections(named: "BeehiveMods") }
  }

  @Test("are refused where their relocations share bytes", arguments: [2, 2000])
  func relocations(count: Int) throws {
    var crowd = Crowd(count: count, size: 8)
    let size = crowd.bytes.count
    // Together they claim more bytes than the file has, though no single one does.
    crowd.relocations = UInt64(size / 8 * 2 / 3 / (count / 2))
    let image = try open(crowd.bytes, "relocations-\(count)")
    expectError(.malformed) { try image.sections(named: "BeehiveMods") }
    crowd.relocations = UInt64(size / 8 / count / 2)
    let sound = try open(crowd.bytes, "sound-relocations-\(count)")
    #expect(try sound.sections(named: "BeehiveMods").count == count)
  }

  @Test("go through the symbols once to say which sections are retained", .mayHang)
  func retained() throws {
    var crowd = Crowd(count: 2000, size: 16)
    // The symbols mark all parts of the first section, none of the second, and one of two of the third.
    crowd.symbols = [(1, 0x20, 8), (1, 0x20, 0), (2, 0, 0), (3, 0x20, 0), (3, 0, 8)]
    crowd.symbols += (0..<60_000).map { (UInt8(4 + $0 % 252), 0x20, 0) }
    let bytes = crowd.bytes
    let image = try open(bytes, "retained")
    let sections = try image.sections(named: "BeehiveMods")
    var kept: [Int] = []
    for section in sections where try image.isRetained(section) { kept.append(section.index) }
    // A symbol names its section in one byte, so it cannot mark sections after 255.
    #expect(kept == [1] + Array(4...255))
    #expect(image.file.bytesRead <= UInt64(bytes.count))
  }
}
