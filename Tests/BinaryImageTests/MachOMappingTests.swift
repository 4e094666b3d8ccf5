import BinaryImage
import Foundation
import ObjectFiles
import TestSupport
import Testing

/// The bytes of sections that no loader maps, or that are in another file.
@Suite("Sections of a Mach-O file that no process gets")
struct MachOMappingTests {
  /// The offsets of the commands of `__TEXT` and `__DATA` in a file of `MachOBuilder`.
  private static let (text, data) = (32, 32 + 152)

  @Test("are none where a segment takes no memory") func unmapped() throws {
    var bytes = MachOBuilder().bytes
    bytes.put(0, 8, at: Self.data + 32)
    let image = try MachOFile(bytes: bytes)
    let section = try image.section("BeehiveMods")
    #expect(!section.isMapped)
    // The bytes are in the file, and mean nothing.
    #expect(try image.stored(of: section)?.size == 16)
    #expect(try image.pointer(at: 0, in: section).resolution == .number)
    #expect(try image.sections(named: "__cstring").allSatisfy(\.isMapped))
  }

  @Test("are in the file that debug information was split from, if the header is at their offset")
  func debugInformation() throws {
    let builder = MachOBuilder(type: 10, fixups: .none)
    var bytes = builder.bytes
    // __TEXT keeps the bytes of one section, at another distance than in memory.
    bytes.put(MachOBuilder.texts, 8, at: Self.text + 40)
    bytes.put(0x100, 8, at: Self.text + 48)
    // The section of __DATA says 0, as the others of __TEXT would.
    bytes.put(0, 8, at: Self.data + 48)
    bytes.put(8, 8, at: Self.data + 40)
    bytes.put(0, at: Self.data + 72 + 48)
    let image = try MachOFile(bytes: bytes)
    let kept = try image.section("__cstring")
    #expect(!kept.isMapped)
    #expect(try image.bytes(of: kept).starts(with: "ShopModule".utf8))
    #expect(try image.bytes(at: kept.address, count: 4) == Array("Shop".utf8))
    let first = VirtualAddress(rawValue: builder.base)
    expectError(.outOfImage) { try image.bytes(at: first, count: 4) }
    let gone = try image.section("BeehiveMods")
    #expect(gone.offset == nil)
    expectError(.noContents) { try image.bytes(of: gone) }
    expectError(.noContents) { try image.pointer(at: 0, in: gone) }
    try image.checkExtents()
  }

  @Test(
    "of a real dSYM with __eh_frame have no bytes, and __eh_frame has its own",
    .needs("clang"), .needs("ld64.lld-19"), .needs("dsymutil-19"))
  func realDebugInformation() throws {
    let folder = try Folder()
    let target = ["-target", "x86_64-apple-macos11", "-c"]
    // No compact encoding can express this, so the linker keeps __eh_frame.
    try Compiler.compile(
      """
      .globl _odd
      _odd: .cfi_startproc
      .cfi_def_cfa %r10, 8
      ret
      .cfi_endproc
      .subsections_via_symbols
      """, suffix: "s", as: "odd.o", in: folder.url, with: "clang", target)
    try Compiler.compile(
      "int run(int x) { return x; }", as: "run.o", in: folder.url, with: "clang", target + ["-g"])
    try Command.output(
      "ld64.lld-19",
      [
        "-arch", "x86_64", "-platform_version", "macos", "11.0", "11.0", "-dylib", "-undefined",
        "dynamic_lookup", "-install_name", "x", "odd.o", "run.o", "-o", "run.dylib",
      ], in: folder.url)
    try Command.output("dsymutil-19", ["--flat", "run.dylib", "-o", "run.dwarf"], in: folder.url)
    func bytes(of name: String, in file: String) throws -> [UInt8] {
      let image = try MachOFile(path: folder.place(file).path)
      try image.checkExtents()
      return try image.bytes(of: image.section(name))
    }
    let frames = try bytes(of: "__eh_frame", in: "run.dwarf")
    #expect(try frames.count > 32 && frames == bytes(of: "__eh_frame", in: "run.dylib"))
    #expect(try !bytes(of: "__text", in: "run.dylib").isEmpty)
    expectError(.noContents) { try bytes(of: "__text", in: "run.dwarf") }
    expectError(.noContents) { try bytes(of: "__unwind_info", in: "run.dwarf") }
  }
}
