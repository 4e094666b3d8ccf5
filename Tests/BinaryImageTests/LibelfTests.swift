import CElf
import Foundation
import TestSupport
import Testing

@testable import BinaryImage

/// Why headers, tables and names are read here and not through `gelf_*`: what libelf takes from a file on
/// the file's word alone. `Benchmarks` has the row that compares their speed.
@Suite("Beside libelf")
struct LibelfTests {
  @Test("headers that are claimed and not stored are refused, where libelf makes room for each")
  func claimedHeaders() throws {
    let count: UInt64 = 1 << 20
    var file = Header(sections: 0)
    file.section(0, size: count)
    let path = try Fixture.write(file.bytes, as: "claimed-headers")
    // The size is there afterwards, the bytes are not: the file system stores one block.
    let handle = try FileHandle(forWritingTo: URL(fileURLWithPath: path))
    try handle.truncate(atOffset: 1 << 27)
    try handle.close()

    try unsafe Libelf.open(path) { elf in
      var claimed = 0
      #expect(unsafe elf_getshdrnum(elf, &claimed) == 0)
      #expect(claimed == Int(count))
      #expect(unsafe elf_getscn(elf, claimed - 1) != nil)
    }
    expectError(.malformed) { try ELFFile(path: path).allSections() }
  }

  @Test("sections that share their bytes are refused, where libelf copies the bytes for each")
  func sharedBytes() throws {
    let names = Array("\0.shstrtab\0BeehiveMods\0".utf8)
    let count = 200
    var file = Header(sections: count, names: 1)
    let size = UInt64(file.bytes.count + names.count)
    file.section(1, name: 1, type: 3, offset: size - UInt64(names.count), size: UInt64(names.count))
    for index in 2..<count { file.section(index, name: 11, type: 1, offset: 0, size: size) }
    let path = try Fixture.write(file.bytes + names, as: "shared-bytes")

    try unsafe Libelf.open(path) { elf in
      let copies = unsafe (2..<count).map { unsafe elf_getdata(elf_getscn(elf, $0), nil).pointee }
      #expect(unsafe copies.allSatisfy { unsafe $0.d_size == Int(size) })
      #expect(unsafe Set(copies.map { unsafe $0.d_buf }).count == copies.count)
    }
    expectError(.malformed) { try ELFFile(path: path).sections(named: "BeehiveMods") }
  }
}

/// What libelf says of a file, read as the library lets it read.
private enum Libelf {
  static func open(_ path: String, _ body: (OpaquePointer) throws -> Void) throws {
    let file = try OpenedFile(path: path, name: path)
    try #require(elf_version(UInt32(EV_CURRENT)) != UInt32(EV_NONE))
    let elf = try unsafe #require(elf_begin(file.descriptor, ELF_C_READ, nil))
    defer { unsafe elf_end(elf) }
    try unsafe body(elf)
  }
}

/// The header of a library of 64 bits and its section headers.
private struct Header {
  private(set) var bytes: [UInt8]

  init(sections: Int, names: UInt64 = 0) {
    bytes = [UInt8](repeating: 0, count: 64 + 64 * max(1, sections))
    put(0x464c_457f, 4, at: 0)
    (bytes[4], bytes[5], bytes[6]) = (2, 1, 1)
    put(3, 2, at: 16)
    put(62, 2, at: 18)
    put(64, 8, at: 40)
    put(64, 2, at: 58)
    put(UInt64(sections), 2, at: 60)
    put(names, 2, at: 62)
  }

  mutating func section(
    _ index: Int, name: UInt64 = 0, type: UInt64 = 0, offset: UInt64 = 0, size: UInt64
  ) {
    let start = 64 + 64 * index
    put(name, 4, at: start)
    put(type, 4, at: start + 4)
    put(offset, 8, at: start + 24)
    put(size, 8, at: start + 32)
  }

  private mutating func put(_ value: UInt64, _ size: Int, at place: Int) {
    for index in 0..<size {
      bytes[place + index] = UInt8(truncatingIfNeeded: value >> UInt64(index * 8))
    }
  }
}
