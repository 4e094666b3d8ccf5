import Foundation
import TestSupport
import Testing

@Suite("Other machines: 32 bits, big endian, Mach-O; compiled, not run")
struct HeaderMachinesTests {
  private func options(_ target: String) -> [String] {
    ["--target=\(target)", "-ffreestanding", "-nostdinc++"]
  }

  @Test("layout", arguments: Targets.elf + Targets.machO) func layout(target: String) throws {
    try Compiler.clang.needs("--target=\(target)")
    try Compiler.clang.compile(HeaderSource.layout, options(target))
  }

  @Test("records", arguments: Targets.elf, [Compiler.clang, .clangxx])
  func records(target: String, compiler: Compiler) throws {
    try compiler.needs("--target=\(target)")
    let object = try compiler.compile(HeaderSource.everything, options(target) + ["-fPIC"])
    #expect(try Annotations(object).records == Annotations.expected())
  }

  @Test("gcc -m32") func gcc32() throws {
    try Compiler.gcc.needs("-m32")
    let options = ["-m32", "-ffreestanding"]
    try Compiler.gcc.compile(HeaderSource.layout, options)
    let object = try Compiler.gcc.compile(HeaderSource.everything, options + ["-fPIC"])
    #expect(try Annotations(object).records == Annotations.expected())
  }

  @Test("sections of Mach-O", arguments: Targets.machO, [Compiler.clang, .clangxx])
  func sections(target: String, compiler: Compiler) throws {
    try compiler.needs("--target=\(target)")
    try Needs.programs("llvm-objdump")
    // Address sanitizer would pad the entries if they did not forbid it.
    let object = try compiler.compile(
      HeaderSource.everything, options(target) + ["-fsanitize=address"])

    let table = try Command.output("llvm-objdump", ["--section-headers", object.path])
      .split(separator: "\n").map { $0.split(separator: " ") }.filter { $0.count > 2 }
    let sizes = [
      ("BeehiveMods", "00000030"), ("BeehiveServices", "00000010"), ("BeehiveRecords", "000005b0"),
    ]
    for (name, size) in sizes {
      #expect(table.contains { $0[1] == name && $0[2] == size }, "\(name): \(table)")
    }

    let headers = try Command.output(
      "llvm-objdump", ["--macho", "--private-headers", object.path]
    ).split(separator: "\n").map { $0.split(separator: " ") }
    let record = try #require(headers.firstIndex { $0 == ["sectname", "BeehiveRecords"] })
    #expect(headers.dropFirst(record + 1).first == ["segname", "__DATA"])
  }
}
