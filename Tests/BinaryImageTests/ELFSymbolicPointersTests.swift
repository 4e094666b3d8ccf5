import BinaryImage
import TestSupport
import Testing

/// Pointers to named symbols: the symbol decides the target.
@Suite("Pointers of an ELF file to symbols")
struct ELFSymbolicPointersTests {
  /// Returns the slots of `symbols.c`, each with its pointer and the text at its target.
  private func slots(
    _ arguments: [String], as name: String
  ) throws -> [(pointer: PointerValue, text: String?)] {
    let image = try ELFFile(
      path: Fixture.compile(
        Repository.fixture("BinaryImage/symbols.c"), as: name, with: "gcc", arguments))
    return try image.pointers(of: "Slots").map { ($0, try? image.text(at: $0.target)) }
  }

  @Test(
    "are followed in libraries and objects", .needs("gcc"),
    arguments: [["-shared"], ["-shared", "-fuse-ld=lld"], ["-shared", "-fuse-ld=mold"], ["-c"]])
  func symbols(arguments: [String]) throws {
    try Needs.linker(of: arguments)
    let slots = try slots(
      ["-fPIC", "-O1", "-fno-toplevel-reorder"] + arguments,
      as: "symbols\(arguments.joined())")
    try #require(slots.count == 5)
    #expect(slots[0].text == "here")
    #expect(slots[1].text == "re")
    #expect(slots[0].pointer.symbol == "here")
    #expect(slots[0].pointer.resolution == .symbol)
    #expect(slots[2].pointer.target == .imported(symbol: "elsewhere"))
    #expect(slots[2].pointer.symbol == "elsewhere")
    // A function picks the address at load time; the file does not contain it.
    #expect("\(slots[3].pointer.target)".hasPrefix("unresolvable"), "an indirect function")
    #expect(slots[4].pointer == PointerValue(rawValue: 0, target: .null, resolution: .none))
  }

  @Test(
    "to data that the loader copies in from a library name that library's symbol",
    arguments: ["bfd", "gold", "lld", "mold"])
  func copied(linker: String) throws {
    try Needs.linker(linker)
    let library = try Fixture.compile(
      "const char elsewhere[8] = \"copied\";", as: "libcopied-\(linker).so", ["-shared", "-fPIC"])
    let source = """
      extern const char elsewhere[8];
      __attribute__((used, retain, section("Slots"))) const char *const slot = elsewhere + 2;
      int main(void) { return elsewhere[0]; }
      """
    let path = try Fixture.compile(
      source, as: "copies-\(linker)",
      ["-no-pie", "-fno-pie", "-fno-pic", "-fuse-ld=\(linker)", library])
    #expect(try Fixture.run("readelf", ["-rW", path]).contains("R_X86_64_COPY"))
    let pointer = try ELFFile(path: path).pointer(of: "Slots")
    #expect(pointer.target == .imported(symbol: "elsewhere", addend: 2))
  }

  @Test("reach sections whose index needs more than 16 bits")
  func manySections() throws {
    let image = try ELFFile(path: Fixture.manySections("many.o"))
    #expect(try image.texts(of: "BeehiveMods").map(\.text) == ["far away", "by name", "Three"])
    #expect(try image.allSections().count > 66_000)
  }

  @Test(
    "and all others of a system library agree with readelf",
    arguments: ["libc.so.6", "libm.so.6", "libstdc++.so.6", "libcrypto.so.3", "libelf.so.1"])
  func oracle(library: String) throws {
    let path = try Fixture.systemLibrary(library)
    let image = try ELFFile(path: path)
    var truth: [UInt64: Substring] = [:]
    var packed: Set<UInt64> = []
    for line in try Fixture.run("readelf", ["-rW", path]).split(separator: "\n") {
      let fields = line.split(separator: " ")
      if fields.count == 1, fields[0].count == 16, let place = UInt64(fields[0], radix: 16) {
        packed.insert(place)
      }
      guard fields.count >= 4, fields[0].count == 16, fields[2].hasSuffix("_RELATIVE"),
        let place = UInt64(fields[0], radix: 16)
      else { continue }
      truth[place] = fields[3]
    }
    var compared = 0
    for name in [".init_array", ".fini_array", ".data.rel.ro", ".data"] {
      for section in try image.sections(named: name) {
        for offset in stride(from: 0, to: section.size / 8 * 8, by: 8) {
          let pointer = try image.pointer(at: offset, in: section)
          let place = section.address.rawValue + offset
          let stated = truth[place]
          #expect((pointer.resolution == .relr) == packed.contains(place))
          #expect((pointer.resolution == .relative) == (stated != nil))
          guard let stated, case .address(let address) = pointer.target else { continue }
          #expect(address.rawValue == UInt64(stated, radix: 16))
          compared += 1
        }
      }
    }
    #expect(compared > 0 || truth.isEmpty)
  }
}
