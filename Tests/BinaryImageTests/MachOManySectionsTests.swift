import TestSupport
import Testing

@testable import BinaryImage
@testable import ObjectFiles

/// Files that claim thousands of sections or segments: an answer, or a problem, in little time.
@Suite("Mach-O files of many sections")
struct MachOManySectionsTests {
  /// A file of little-endian 64 bits whose one segment holds all of its bytes, and sections of one
  /// name.
  struct Crowd {
    /// `MH_OBJECT`, or `MH_DYLIB`.
    var isObject = false
    var count: Int
    /// Of each of the sections.
    var size: UInt64 = 0
    /// How many bytes one section starts behind the other.
    var step = 64
    /// Relocations, all of them in one place.
    var relocations: UInt64 = 0
    /// The sections and the flags of symbols.
    var symbols: [(section: UInt8, description: UInt16, offset: Int)] = []
    /// Bytes of a program for the loader that does nothing.
    var program = 0
    /// Whether the loader walks chains, of which none starts in any of its tiny pages.
    var isChained = false
    /// Further segments of one byte, 63 bytes of no segment before each.
    var segments = 0

    static let base: UInt64 = 0x1_0000_0000

    private func numbers(_ values: UInt64..., size: Int = 4) -> [UInt8] {
      var bytes: [UInt8] = []
      for value in values {
        var rest = value
        for _ in 0..<size {
          bytes.append(UInt8(truncatingIfNeeded: rest))
          rest >>= 8
        }
      }
      return bytes
    }
    private func name(_ text: String) -> [UInt8] {
      Array(text.utf8) + [UInt8](repeating: 0, count: 16 - text.utf8.count)
    }

    var bytes: [UInt8] {
      let table = isObject ? 24 : isChained ? 16 : 48
      let commands = 72 + count * 80 + table + segments * 72
      let contents = 32 + commands
      let symbolTable = contents + count * step + 64
      let pages = symbolTable / 256 + 1
      let chains = isChained ? 28 + 8 + 22 + 2 * pages : 0
      let end = UInt64(symbolTable + symbols.count * 16 + chains + program)
      let base = isObject ? 0 : Self.base
      var file = numbers(0xfeed_facf, 0x0100_000c, 0, isObject ? 1 : 6)
      file += numbers(UInt64(2 + segments), UInt64(commands))
      file += numbers(0x2000, 0, 0x19, UInt64(72 + count * 80)) + name("__DATA")
      file += numbers(base, end, 0, end, size: 8) + numbers(3, 3, UInt64(count), 0)
      let title = name("BeehiveMods") + name("__DATA")
      for index in 0..<count {
        let place = UInt64(contents + index * step)
        file += title + numbers(base + place, size, size: 8)
        file += numbers(place, 0, UInt64(contents), relocations, 0, 0, 0, 0)
      }
      if isObject {
        file += numbers(2, 24, UInt64(symbolTable), UInt64(symbols.count), UInt64(end), 0)
      } else if isChained {
        file += numbers(0x8000_0034, 16, UInt64(symbolTable), UInt64(chains))
      } else {
        file += numbers(0x22, 48, end - UInt64(program), UInt64(program))
        file += [UInt8](repeating: 0, count: 32)
      }
      for index in 0..<UInt64(segments) {
        file += numbers(0x19, 72) + name("__HOLE")
        file += numbers(2 * base + index, 1, end + 63 + index * 64, 1, size: 8)
        file += numbers(1, 1, 0, 0)
      }
      file += [UInt8](repeating: 0, count: symbolTable - file.count)
      if isChained {
        file += numbers(0, 28, end, end, 0, 1, 0, 1, 8, UInt64(22 + 2 * pages))
        file += numbers(256, 6, size: 2) + numbers(0, size: 8) + numbers(0)
        file += numbers(UInt64(pages), size: 2) + [UInt8](repeating: 0xff, count: 2 * pages)
      }
      for symbol in symbols {
        file += [0, 0, 0, 0, 0xe, symbol.section] + numbers(UInt64(symbol.description), size: 2)
        let address = contents + (Int(symbol.section) - 1) * step + symbol.offset
        file += numbers(UInt64(address), size: 8)
      }
      return file + [UInt8](repeating: 0, count: program + segments * 64)
    }
  }

  private func open(_ bytes: [UInt8], _ name: String) throws -> MachOFile {
    try MachOFile(path: Fixture.write(bytes, as: "crowd-\(name)"))
  }

  @Test(
    "look behind the end of each without reading what tells of all others anew", .mayHang,
    arguments: [
      (Effort.times(5_000, full: 20_000), false), (Effort.times(15_000, full: 60_000), true),
    ])
  func gaps(count: Int, isChained: Bool) throws {
    var crowd = Crowd(count: count, step: 16)
    crowd.isChained = isChained
    crowd.program = isChained ? 0 : 4096
    let bytes = crowd.bytes
    let image = try open(bytes, "gaps-\(isChained)")
    #expect(try image.sections(named: "BeehiveMods").count == count)
    try image.checkExtents()
    // The program is read once. Of chains, what tells where those of a page start, for each page.
    let pages = isChained ? bytes.count / 256 : 0
    #expect(image.file.bytesRead <= UInt64(bytes.count + pages * 2 * 8192))
  }

  @Test("are refused where one of them is followed by a word that the loader writes")
  func followed() throws {
    var crowd = Crowd(count: 2000)
    crowd.isChained = true
    var bytes = crowd.bytes
    // The starts of the chains stand last: one that begins with the hundredth page from the end.
    bytes.replaceSubrange(bytes.count - 200..<bytes.count - 198, with: [0, 0])
    let image = try open(bytes, "followed")
    #expect(try image.sections(named: "BeehiveMods").count == 2000)
    expectError(.malformed) { try image.checkExtents() }
  }

  @Test("are refused where no linker writes so many of one name")
  func absurd() throws {
    let image = try open(Crowd(count: 65_536, step: 8).bytes, "absurd")
    expectError(.malformed) { try image.sections(named: "BeehiveMods") }
  }

  @Test("are refused where their relocations share bytes", arguments: [2, 2000])
  func relocations(count: Int) throws {
    var crowd = Crowd(isObject: true, count: count, size: 8)
    let size = crowd.bytes.count
    // All of them together, though none by itself, have more bytes than the file.
    crowd.relocations = UInt64(size / 8 * 2 / 3 / (count / 2))
    let image = try open(crowd.bytes, "relocations-\(count)")
    expectError(.malformed) { try image.sections(named: "BeehiveMods") }
    crowd.relocations = UInt64(size / 8 / count)
    let sound = try open(crowd.bytes, "sound-relocations-\(count)")
    #expect(try sound.sections(named: "BeehiveMods").count == count)
  }

  @Test("go through the symbols once to say which sections are retained", .mayHang)
  func retained() throws {
    var crowd = Crowd(isObject: true, count: 2000, size: 16)
    // Marked are all parts of the first section, none of the second, one of two of the third.
    crowd.symbols = [(1, 0x20, 8), (1, 0x20, 0), (2, 0, 0), (3, 0x20, 0), (3, 0, 8)]
    crowd.symbols += (0..<60_000).map { (UInt8(4 + $0 % 252), 0x20, 0) }
    let bytes = crowd.bytes
    let image = try open(bytes, "retained")
    let sections = try image.sections(named: "BeehiveMods")
    var kept: [Int] = []
    for section in sections where try image.isRetained(section) { kept.append(section.index) }
    // What one byte cannot name no symbol marks.
    #expect(kept == [1] + Array(4...255))
    #expect(image.file.bytesRead <= UInt64(bytes.count))
  }

  @Test("are refused where they have more segments than any file", arguments: [255, 256])
  func segments(further: Int) throws {
    var crowd = Crowd(count: 0)
    crowd.segments = further
    let image = try open(crowd.bytes, "segments-\(further)")
    if further < 256 {
      try image.checkExtents()
    } else {
      expectError(.malformed) { try image.checkExtents() }
    }
  }

  @Test("look at the start of each hole between their segments", arguments: [1, 100, 255])
  func holes(hole: Int) throws {
    var crowd = Crowd(count: 0)
    crowd.segments = 255
    var bytes = crowd.bytes
    bytes[bytes.count - 255 * 64 + (hole - 1) * 64 + 7] = 1
    let image = try open(bytes, "hole-\(hole)")
    expectError(.malformed) { try image.checkExtents() }
  }
}
