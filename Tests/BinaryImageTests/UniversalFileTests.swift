import BinaryImage
import ObjectFiles
import Testing

@Suite("Universal files")
struct UniversalFileTests {
  /// A slice as the table describes it, wherever its bytes are.
  typealias Slice = (type: UInt32, offset: UInt64, size: UInt64)

  static func big(_ value: UInt64, _ size: Int) -> [UInt8] { value.bytes(size, .big) }

  /// Returns the header and the table, with room after them for the first slice at 256.
  static func header(_ slices: [Slice], count: UInt32? = nil, is64: Bool = false) -> [UInt8] {
    let word = is64 ? 8 : 4
    var bytes =
      big(is64 ? 0xcafe_babf : 0xcafe_babe, 4) + big(UInt64(count ?? UInt32(slices.count)), 4)
    for slice in slices {
      bytes += big(UInt64(slice.type), 4) + big(0, 4) + big(slice.offset, word)
      bytes += big(slice.size, word) + big(2, 4) + (is64 ? big(0, 4) : [])
    }
    return bytes + [UInt8](repeating: 0, count: 256 - bytes.count)
  }

  static let arm64: UInt32 = 0x0100_000c
  static let intel: UInt32 = 0x0100_0007

  @Test("give each slice under the name of its machine", arguments: [false, true])
  func slices(is64: Bool) throws {
    let image = MachOBuilder().bytes
    let size = UInt64(image.count)
    let bytes =
      Self.header(
        [(Self.intel, 256, size), (Self.arm64, 256 + size, size)], is64: is64) + image + image
    #expect(try ArchiveTests.found(in: bytes) == ["x86_64 arm64 2", "arm64 arm64 2"])
    #expect(try ArchiveTests.found(in: bytes, architecture: "arm64") == ["arm64 arm64 2"])
    #expect(try ArchiveTests.found(in: bytes, architecture: "ppc") == [": no-such-architecture"])
  }

  @Test("may hold archives")
  func archive() throws {
    let member = ArchiveTests.magic + ArchiveTests.member("a.o/", MachOBuilder().bytes)
    let slice: Slice = (Self.arm64, 256, UInt64(member.count))
    #expect(try ArchiveTests.found(in: Self.header([slice]) + member) == ["arm64/a.o arm64 2"])
  }

  @Test("that hold themselves, overlap, or lie outside are refused slice by slice")
  func hostile() throws {
    let image = MachOBuilder().bytes
    let size = UInt64(image.count)
    let good: Slice = (Self.arm64, 256, size)
    func found(_ slice: Slice) throws -> [String] {
      try ArchiveTests.found(in: Self.header([slice, good]) + image)
    }
    // The whole file as a slice of itself shares its header.
    #expect(try found((Self.intel, 0, 256 + size)) == [": malformed", ": malformed"])
    #expect(try found((Self.intel, 256 + size / 2, 8)) == [": malformed", "arm64 arm64 2"])
    #expect(try found((Self.intel, 1 << 31, size)) == [": truncated", "arm64 arm64 2"])
    #expect(try found((Self.intel, 256 + size, 0)) == [": malformed", "arm64 arm64 2"])
  }

  @Test("whose header stands in the other byte order are refused, and not taken for no object")
  func swapped() throws {
    let image = MachOBuilder().bytes
    for magic in [0xbe, 0xbf] as [UInt8] {
      // One slice. A reader of the same byte order would believe every number of it.
      var header = [magic, 0xba, 0xfe, 0xca, 1, 0, 0, 0, 0x0c, 0, 0, 1, 0, 0, 0, 0, 0, 1, 0, 0]
      header += [UInt8](repeating: 0, count: 256 - header.count)
      #expect(try ArchiveTests.found(in: header + image) == [": unsupported"])
    }
  }

  @Test("that claim more slices than any file has are compiled Java, or refused")
  func counts() throws {
    #expect(try ArchiveTests.found(in: Self.header([], count: 0)) == [": malformed"])
    #expect(try ArchiveTests.found(in: Self.header([], count: 52)) == [": not-an-object"])
    #expect(try ArchiveTests.found(in: Self.header([], count: .max)) == [": not-an-object"])
    #expect(try ArchiveTests.found(in: Self.header([], count: .max, is64: true)) == [": malformed"])
    #expect(try ArchiveTests.found(in: Array(Self.header([], count: 3)[..<40])) == [": truncated"])
  }
}
