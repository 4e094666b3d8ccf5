import BinaryImage
import Foundation
import ObjectFiles
import TestSupport
import Testing

@Suite("Pointers of a Mach-O object", .needs("clang"))
struct MachOObjectTests {
  /// A compiler's target, its machine, and its directive for a pointer.
  typealias Target = (name: String, machine: String, word: String)

  static let targets: [Target] = [
    ("x86_64-apple-macos13", "x86_64", ".quad"), ("arm64-apple-macos13", "arm64", ".quad"),
    ("i386-apple-macos10.12", "i386", ".long"), ("armv7-apple-ios9", "armv7", ".long"),
  ]

  private func image(_ target: Target, _ words: [String]) throws -> MachOFile {
    let source = """
      .section __TEXT,__text
      _start: .space 8
      _end:
      .section __TEXT,__cstring
      L_private: .asciz "private"
      _named: .asciz "a named text"
      .section __DATA,BeehiveMods
      .p2align 3
      \(words.map { "\(target.word) \($0)" }.joined(separator: "\n"))
      """
    let path = try Fixture.compile(
      source, suffix: "s", as: "\(target.name)-\(words.count).o", with: "clang",
      ["-target", target.name, "-c"])
    return try MachOFile(path: path)
  }

  @Test("lead to named and private texts, and into their middle", arguments: targets)
  func texts(name: String, machine: String, word: String) throws {
    let image = try image(
      (name, machine, word), ["L_private", "_named", "_named + 2", "_named + 8"])
    #expect(image.identity.machine == machine)
    #expect(image.identity.kind == .object)
    let found = try image.texts(of: "BeehiveMods")
    #expect(found.map(\.text) == ["private", "a named text", "named text", "text"])
    #expect(found.allSatisfy { [.symbol, .section].contains($0.pointer.resolution) })
  }

  @Test("name what other files define, and no address that is none", arguments: targets)
  func others(name: String, machine: String, word: String) throws {
    let image = try image(
      (name, machine, word), ["_absent", "_absent + 4", "0", "_end - _start", "77"])
    #expect(try image.section("BeehiveMods").address.rawValue == 0)
    let pointers = try image.pointers(of: "BeehiveMods")
    #expect(pointers[0].target == .imported(symbol: "_absent"))
    #expect(pointers[0].symbol == "_absent")
    #expect(pointers[1].target == .imported(symbol: "_absent", addend: 4))
    #expect(pointers[2].target == .null)
    // A distance is a number that the assembler computes, or two relocations.
    for pointer in pointers[3...] { #expect("\(pointer.target)".hasPrefix("unresolvable")) }
  }

  /// Contents of a section, and whether a linker that strips dead code keeps all of it.
  static let sections = [
    ("_a: .long 0", false), (".no_dead_strip _a\n_a: .long 0", true), (".long 0", false),
    (".no_dead_strip _a\n_a: .long 0\n_b: .long 0", false),
    (".no_dead_strip _b\n_a: .long 0\n_b: .long 0", false),
    (".no_dead_strip _a\n.no_dead_strip _b\n_a: .long 0\n_b: .long 0", true),
    (".no_dead_strip _b\n_a:\n_b: .long 0", true), (".no_dead_strip _a\n_a:\n_b: .long 0", true),
    (".no_dead_strip _a\n.long 0\n_a: .long 0", false),
    (".no_dead_strip _a\n_a: .long 0\n.alt_entry _b\n_b: .long 0", true),
  ]

  @Test("says which sections are kept, by their symbols", arguments: sections)
  func retained(contents: String, isKept: Bool) throws {
    for (target, flags, ending, expected) in [
      ("arm64-apple-macos13", "", ".subsections_via_symbols", isKept),
      ("i386-apple-macos10.12", "", ".subsections_via_symbols", isKept),
      ("x86_64-apple-macos13", ",regular,no_dead_strip", ".subsections_via_symbols", true),
      ("x86_64-apple-macos13", "", "", contents.contains("no_dead_strip")),
    ] {
      let source = """
        .section __TEXT,__text
        .no_dead_strip _other
        _other: .long 0
        .section __DATA,BeehiveMods\(flags)
        \(contents)
        .section __DATA,BeehiveServices
        .no_dead_strip _last
        _last: .long 0
        \(ending)

        """
      let path = try Fixture.compile(
        source, suffix: "s", as: "retained-\(UUID().uuidString).o", with: "clang",
        ["-target", target, "-c"])
      let image = try MachOFile(path: path)
      let isRetained = try image.isRetained(image.section("BeehiveMods"))
      #expect(isRetained == expected, "\(target)\(flags) \(ending)")
    }
  }
}
