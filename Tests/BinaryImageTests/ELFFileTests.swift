import BinaryImage
import Foundation
import ObjectFiles
import TestSupport
import Testing

@Suite("ELF files")
struct ELFFileTests {
  static let source = ELFPointersTests.source

  private func library(_ name: String, _ arguments: [String] = []) throws -> String {
    try Fixture.compile(Self.source, as: name, ["-shared", "-fPIC", "-nostdlib"] + arguments)
  }

  // MARK: - Identity

  @Test("carry the build-id that the linker wrote", arguments: ["bfd", "gold", "lld", "mold"])
  func buildID(linker: String) throws {
    try Needs.linker(linker)
    let id = "0x00112233445566778899aabbccddeeff00112233"
    let path = try library("id-\(linker).so", ["-fuse-ld=\(linker)", "-Wl,--build-id=\(id)"])
    let bytes = try ELFFile(path: path).identity.id
    #expect(bytes.map { String(format: "%02x", $0) }.joined() == id.dropFirst(2))
  }

  @Test("without a build-id have none")
  func noBuildID() throws {
    let path = try library("no-id.so", ["-Wl,--build-id=none"])
    #expect(try ELFFile(path: path).identity.id == [])
  }

  @Test("of split debug information say so and have no contents", arguments: ["-shared", "-pie"])
  func debugOnly(linkage: String) throws {
    let path = try Fixture.compile(
      Self.source, as: "debugged\(linkage)",
      [linkage, "-fPIC", "-g", "-nostartfiles", "-Wl,--build-id"])
    let debug = path + ".debug"
    try Fixture.run("objcopy", ["--only-keep-debug", path, debug])
    let image = try ELFFile(path: debug)
    #expect(image.identity.kind == .debug)
    #expect(image.identity.id == (try ELFFile(path: path).identity.id))
    #expect(image.identity.id.count == 20)
    let section = try image.section("BeehiveMods")
    #expect(section.offset == nil)
    expectError(.noContents) { try image.bytes(of: section) }
    expectError(.noContents) { try image.pointer(at: 0, in: section) }
  }

  // MARK: - Sections

  @Test(
    "list the sections that readelf lists",
    arguments: ["libc.so.6", "libstdc++.so.6", "libelf.so.1", "libcrypto.so.3"])
  func sections(library: String) throws {
    let path = try Fixture.systemLibrary(library)
    let image = try ELFFile(path: path)
    let sections = try image.allSections()
    var listed = 0
    for line in try Fixture.run("readelf", ["-SW", path]).split(separator: "\n") {
      // "  [ 1] .note.gnu.property NOTE 0000000000000350 000350 000020 00   A  0   0  8"
      guard let close = line.firstIndex(of: "]"), let open = line.firstIndex(of: "["),
        let index = Int(line[line.index(after: open)..<close].drop { $0 == " " }), index > 0
      else { continue }
      let fields = line[line.index(after: close)...].split(separator: " ")
      let section = sections[index - 1]
      listed += 1
      #expect(section.index == index)
      #expect(section.name == fields[0])
      #expect(section.address.rawValue == UInt64(fields[2], radix: 16))
      #expect(section.size == UInt64(fields[4], radix: 16))
      #expect(section.flags == (fields.count > 9 ? String(fields[6]) : ""))
      if fields[1] == "NOBITS" {
        #expect(section.offset == nil)
      } else {
        #expect(section.offset?.rawValue == UInt64(fields[3], radix: 16))
      }
      #expect(try image.sections(named: section.name).contains(section))
    }
    #expect(listed == sections.count)
  }

  @Test("find sections by exactly their name, and all of them", .needs("clang"))
  func namesakes() throws {
    let source = """
      .section BeehiveMods,"a",@progbits
      .quad 0
      .section BeehiveMods,"aw",@progbits,unique,1
      .quad 0, 0
      .section BeehiveModsToo,"aw",@progbits
      .quad 0

      """
    let path = try Fixture.compile(source, suffix: "s", as: "namesakes.o", with: "clang", ["-c"])
    let image = try ELFFile(path: path)
    #expect(try image.sections(named: "BeehiveMods").map(\.size) == [8, 16])
    #expect(try image.sections(named: "BeehiveMod") == [])
    #expect(try image.sections(named: "Mods") == [])
    #expect(try image.sections(named: "") == [])
  }

  @Test("say which sections an object wants to keep")
  func retained() throws {
    let path = try Fixture.compile(Self.source, as: "retained.o", ["-c", "-fPIC"])
    let image = try ELFFile(path: path)
    #expect(try image.sections(named: "BeehiveMods").allSatisfy(\.isRetained))
    #expect(try image.sections(named: ".text").allSatisfy { !$0.isRetained })
  }

  @Test("lend a section's bytes as they stand in the file")
  func contents() throws {
    let path = try library("contents.so")
    let image = try ELFFile(path: path)
    let file = try Fixture.bytes(of: path)
    for section in try image.allSections() {
      guard let offset = section.offset else { continue }
      let bytes = try image.bytes(of: section)
      #expect(bytes == Array(file[Int(offset.rawValue)...].prefix(Int(section.size))))
    }
  }

  // MARK: - Texts

  @Test("of either format lend no text past the limit, the segment or the image")
  func texts() throws {
    let far = VirtualAddress(rawValue: 1 << 40)
    for bytes in [try Fixture.bytes(of: library("texts.so")), MachOBuilder().bytes] {
      let image = try ImageFile.open(Fixture.write(bytes, as: "texts"))
      let target = try image.pointer(of: "BeehiveMods").target
      #expect(try image.text(at: target, limit: 10) == "ShopModule")
      expectError(.unterminated) { try image.text(at: target, limit: 9) }
      for target in [.null, .imported(symbol: "x"), .address(far), .section(index: 999, offset: 0)]
        as [PointerValue.Target]
      {
        expectError(.outOfImage) { try image.text(at: target, limit: 64) }
      }
    }
  }

  @Test("lend no text that runs to the end of its segment")
  func unterminated() throws {
    // A script puts the text at the very end of a segment of its own.
    let script = """
      PHDRS { text PT_LOAD; data PT_LOAD; dynamic PT_DYNAMIC; }
      SECTIONS { . = 0x1000; .text : { *(.text) } :text
        . = 0x2000; .dynamic : { *(.dynamic) } :data :dynamic
        .rela.dyn : { *(.rela*) } :data
        BeehiveMods : { *(BeehiveMods) } :data
        .last : { *(.last) } :data
        .bss : { *(.bss) } :data }
      """
    _ = try Fixture.write(Array(script.utf8), as: "last.ld")
    let source = """
      .section BeehiveMods,"aw"
      .quad last
      .section .last,"aw"
      last: .ascii "no end"
      .bss
      .zero 64

      """
    let path = try Fixture.compile(
      source, suffix: "s", as: "last.so", ["-shared", "-nostdlib", "-Wl,-T,last.ld"])
    let image = try ELFFile(path: path)
    let target = try image.pointer(of: "BeehiveMods").target
    expectError(.unterminated) { try image.text(at: target) }
  }

  @Test func `Sections are found by name one by one as in a list of all names`() throws {
    let path = "/proc/self/exe"
    let all = try ELFFile(path: path).allSections()
    let file = try ELFFile(path: path)
    // More lookups than the reader makes before it indexes all names.
    for section in all + all {
      let found = try file.sections(named: section.name)
      #expect(found.map(\.index) == all.filter { $0.name == section.name }.map(\.index))
    }
    #expect(all.count > 20)
    #expect(try file.sections(named: "no such section").isEmpty)
  }
}
