import BinaryImage
import TestSupport
import Testing

@Suite("Pointers of an ELF file")
struct ELFPointersTests {
  /// Annotated by hand, as somebody would who has never seen this project's headers.
  static let source = """
    #define ENTRY(section_name) \\
      __attribute__((used, retain, aligned(8), section(section_name))) static const char *const
    ENTRY("BeehiveMods") first = "ShopModule";
    ENTRY("BeehiveMods") second = "Cart.CartModule";
    ENTRY("BeehiveServices") third = "{ \\"HomeService\\" : \\"HomeViewModel\\" }";
    int answer(void) { return 42; }
    int main(void) { return 0; }
    void _start(void) {}
    """

  /// A way to make a file of the source, and how its pointers must have been resolved.
  struct Linkage: Sendable, CustomTestStringConvertible {
    var name: String
    var linker: String
    var arguments: [String]
    var resolution: PointerValue.Resolution
    var kind: ImageIdentity.Kind
    var testDescription: String { "\(name) by \(linker)" }
  }

  static let linkages: [Linkage] = ["bfd", "gold", "lld", "mold"].flatMap { linker in
    let packing = linker == "mold" ? "--pack-dyn-relocs=relr" : "-zpack-relative-relocs"
    let shared = ["-shared", "-fPIC", "-nostdlib"]
    var all =
      [
        ("shared", shared, .relative, .shared),
        ("pie", ["-pie", "-fPIE", "-nostartfiles"], .relative, .executable),
        ("no-pie", ["-no-pie", "-fno-pie", "-nostartfiles"], .absolute, .executable),
        ("object", ["-r", "-fPIC", "-nostdlib"], .section, .object),
        ("gc", shared + ["-ffunction-sections", "-Wl,--gc-sections"], .relative, .shared),
        ("stripped", shared + ["-s"], .relative, .shared),
      ] as [(String, [String], PointerValue.Resolution, ImageIdentity.Kind)]
    // gold knows neither gcc's static PIE nor packed relocations for this machine.
    if linker != "gold" {
      all.append(("static-pie", ["-static-pie", "-fPIE", "-nostdlib"], .relative, .executable))
      all.append(("packed", shared + ["-Wl,\(packing)"], .relr, .shared))
    }
    if linker == "lld" {
      all.append(("filled", shared + ["-Wl,--apply-dynamic-relocs"], .relative, .shared))
      all.append(("android", shared + ["-Wl,--pack-dyn-relocs=android"], .relative, .shared))
      all.append(("android-relr", shared + ["-Wl,--pack-dyn-relocs=android+relr"], .relr, .shared))
    }
    return all.map {
      Linkage(
        name: $0.0, linker: linker, arguments: $0.1 + ["-fuse-ld=\(linker)"], resolution: $0.2,
        kind: $0.3)
    }
  }

  @Test("lead to the source's texts, whoever linked it and however", arguments: linkages)
  func linked(linkage: Linkage) throws {
    try Needs.linker(linkage.linker)
    let path = try Fixture.compile(
      Self.source, as: "\(linkage.name)-\(linkage.linker)", linkage.arguments)
    let image = try ELFFile(path: path)
    #expect(image.identity.kind == linkage.kind)
    try expectTexts(of: image, by: linkage.resolution)
  }

  @Test(
    "that were packed into bitmaps lead each to its own text",
    arguments: ["bfd", "lld", "mold"], [1, 3, 70] as [UInt64])
  func bitmaps(linker: String, gap: UInt64) throws {
    try Needs.linker(linker)
    // More words than one bitmap holds, in runs and with holes of every kind.
    var source = ".section Slots,\"aw\"\n.balign 8\n"
    for index in 0..<200 { source += ".quad t\(index)\n.zero \(8 * (gap - 1))\n" }
    source += ".section .rodata\n"
    for index in 0..<200 { source += "t\(index): .asciz \"text \(index)\"\n" }
    let packing = linker == "mold" ? "--pack-dyn-relocs=relr" : "-zpack-relative-relocs"
    let path = try Fixture.compile(
      source, suffix: "s", as: "bitmaps-\(linker)-\(gap).so",
      ["-shared", "-nostdlib", "-fuse-ld=\(linker)", "-Wl,\(packing)"])
    let image = try ELFFile(path: path)
    let texts = try image.texts(of: "Slots")
    #expect(texts.map(\.text) == (0..<200).map { "text \($0)" })
    #expect(texts.allSatisfy { $0.pointer.resolution == .relr })
  }

  // MARK: - Other machines

  /// A machine that is not the host's, as the compiler calls it and as identities do.
  struct Machine: Sendable, CustomTestStringConvertible {
    var triple: String
    var name: String
    var bits: Int
    var order: ImageIdentity.ByteOrder
    /// How a shared library's pointers are resolved; nil where none can be linked here.
    var resolution: PointerValue.Resolution?
    var testDescription: String { triple }
  }

  static let machines: [Machine] = [
    Machine("x86_64-linux-gnu", "x86_64", 64, .little, .relative),
    Machine("aarch64-linux-gnu", "aarch64", 64, .little, .relative),
    Machine("aarch64_be-linux-gnu", "aarch64", 64, .big, .relative),
    Machine("riscv64-linux-gnu", "riscv64", 64, .little, .relative),
    Machine("riscv32-linux-gnu", "riscv32", 32, .little, .relative),
    Machine("s390x-linux-gnu", "s390x", 64, .big, .relative),
    Machine("powerpc64le-linux-gnu", "ppc64le", 64, .little, .relative),
    Machine("powerpc64-linux-gnu", "ppc64", 64, .big, .relative),
    Machine("powerpc-linux-gnu", "ppc", 32, .big, .relative),
    Machine("i386-linux-gnu", "i386", 32, .little, .rel),
    Machine("armv7-linux-gnueabihf", "arm", 32, .little, .rel),
    Machine("mips-linux-gnu", "mips", 32, .big, .rel),
    Machine("mipsel-linux-gnu", "mips", 32, .little, .rel),
    Machine("mips64-linux-gnuabi64", "mips64", 64, .big, .rel),
    Machine("mips64el-linux-gnuabi64", "mips64", 64, .little, .rel),
    Machine("x86_64-linux-gnux32", "x86_64", 32, .little, nil),
  ]

  @Test("of other machines lead to the same texts", .needs("clang", "ld.lld"), arguments: machines)
  func foreign(machine: Machine) throws {
    let object = try Fixture.compile(
      Self.source, as: "\(machine.triple).o", with: "clang",
      ["-target", machine.triple, "-fPIC", "-O1", "-c"])
    var files = [(object, nil as PointerValue.Resolution?)]
    if let resolution = machine.resolution {
      let library = Fixture.path("\(machine.triple).so")
      try Fixture.run("ld.lld", ["-shared", object, "-o", library])
      files.append((library, resolution))
      try Fixture.run(
        "ld.lld", ["-shared", "-z", "pack-relative-relocs", object, "-o", library + ".relr"])
      files.append((library + ".relr", .relr))
    }
    for (path, resolution) in files {
      let image = try ELFFile(path: path)
      #expect(image.identity.machine == machine.name)
      #expect(image.identity.bits == machine.bits)
      #expect(image.identity.byteOrder == machine.order)
      try expectTexts(of: image, by: resolution)
    }
  }

  @Test("of objects with compact relocations lead to the same texts", .needs("clang"))
  func compactRelocations() throws {
    let path = try Fixture.compactlyRelocated(Self.source, as: "crel.o")
    #expect(try Fixture.run("readelf", ["-SW", path]).contains("40000014"))
    try expectTexts(of: ELFFile(path: path), by: nil)
  }

  @Test("of a compressed section lead to the same texts", .needs("gcc"))
  func compressed() throws {
    let path = try Fixture.compile(Self.source, as: "plain.o", with: "gcc", ["-fPIC", "-c"])
    let inflated = try ELFFile(path: path)
    // The entries are too few to become smaller, so this one is made by hand.
    var bytes = try Fixture.bytes(of: path)
    let section = try #require(inflated.sections(named: "BeehiveMods").first)
    let contents = Array(
      bytes[Int(try #require(section.offset).rawValue)...].prefix(Int(section.size)))
    let deflated = Self.stored(contents)
    let start = UInt64((bytes.count + 7) / 8 * 8)
    bytes += [UInt8](repeating: 0, count: Int(start) - bytes.count)
    bytes += [1, section.size, 8].flatMap { $0.bytes(8) } + deflated
    let table = Int(bytes[40..<48].reversed().reduce(0) { $0 << 8 | UInt64($1) })
    let header = table + section.index * 64
    bytes[header + 9] |= 0x08
    bytes.replaceSubrange(
      header + 24..<header + 40, with: start.bytes(8) + UInt64(24 + deflated.count).bytes(8))
    let image = try ELFFile(path: Fixture.write(bytes, as: "compressed.o"))
    let found = try #require(image.sections(named: "BeehiveMods").first)
    #expect(found.flags.contains("C"))
    #expect(found.size == section.size)
    #expect(try image.withBytes(of: found) { Array(copying: $0) } == contents)
    // Inflating changes nothing that is asked for later.
    #expect(try image.sections(named: "BeehiveMods") == [found])
    #expect(try image.withBytes(of: found) { Array(copying: $0) } == contents)
    try expectTexts(of: image, by: .section)
  }

  /// A zlib stream that holds its contents as they are.
  private static func stored(_ contents: [UInt8]) -> [UInt8] {
    var (low, high) = (1 as UInt32, 0 as UInt32)
    for byte in contents {
      low = (low + UInt32(byte)) % 65521
      high = (high + low) % 65521
    }
    let checksum = UInt64(high << 16 | low)
    let count = UInt64(contents.count)
    return [0x78, 0x01, 0x01] + count.bytes(2) + (~count).bytes(2) + contents
      + checksum.bytes(4, .big)
  }

  private func expectTexts(
    of image: ELFFile, by resolution: PointerValue.Resolution?,
    sourceLocation: SourceLocation = #_sourceLocation
  ) throws {
    let modules = try image.texts(of: "BeehiveMods")
    #expect(
      Set(modules.map(\.text)) == ["ShopModule", "Cart.CartModule"], sourceLocation: sourceLocation)
    let services = try image.texts(of: "BeehiveServices")
    #expect(
      services.map(\.text) == ["{ \"HomeService\" : \"HomeViewModel\" }"],
      sourceLocation: sourceLocation)
    guard let resolution else { return }
    for entry in modules + services {
      #expect(entry.pointer.resolution == resolution, sourceLocation: sourceLocation)
    }
  }

  @Test(
    "are none where something else is written to a part of a slot, or of its text",
    arguments: [
      (ELFBuilder.list + 16, 1, ["first", "second"]), (ELFBuilder.list + 4, 1, ["", ""]),
      (ELFBuilder.list - 4, 1, ["", "second"]), (ELFBuilder.list - 8, 1, ["first", "second"]),
      // R_X86_64_TPOFF64 writes a word, R_X86_64_TLSDESC two.
      (ELFBuilder.list - 12, 18, ["first", "second"]), (ELFBuilder.list - 12, 36, ["", "second"]),
      (ELFBuilder.list, 36, ["", ""]), (ELFBuilder.second + 1, 1, ["first", ""]),
      (ELFBuilder.first - 8, 1, ["first", "second"]), (ELFBuilder.first - 7, 1, ["", "second"]),
    ] as [(UInt64, UInt64, [String])])
  func rewritten(place: UInt64, type: UInt64, texts: [String]) throws {
    var builder = ELFBuilder()
    builder.machine = 62
    builder.list = [0, 0, 0]
    builder.relocations = zip([0, 8], [ELFBuilder.first, ELFBuilder.second]).map {
      ELFBuilder.Relocation(place: ELFBuilder.list + $0, type: 8, addend: $1)
    }
    builder.relocations.append(
      ELFBuilder.Relocation(place: place, symbol: 2, type: type, addend: 0))
    let image = try ELFFile(path: Fixture.write(builder.bytes, as: "rewritten-\(place)-\(type)"))
    let section = try #require(image.sections(named: "list").first)
    #expect(try image.textsOfSlots(in: section).prefix(2).elementsEqual(texts))
  }
}

extension ELFPointersTests.Machine {
  init(
    _ triple: String, _ name: String, _ bits: Int, _ order: ImageIdentity.ByteOrder,
    _ resolution: PointerValue.Resolution?
  ) {
    self.init(triple: triple, name: name, bits: bits, order: order, resolution: resolution)
  }
}

extension Image {
  /// Every word of the sections of that name as a pointer, and the text that it leads to.
  func texts(of name: String) throws -> [(pointer: PointerValue, text: String)] {
    var texts: [(PointerValue, String)] = []
    for section in try sections(named: name) {
      for offset in stride(from: 0, to: section.size, by: pointerSize) {
        let pointer = try pointer(at: offset, in: section)
        if pointer.target == .null { continue }
        let text = try withText(at: pointer.target, limit: 1024) { bytes in
          String(decoding: Array(copying: bytes), as: UTF8.self)
        }
        texts.append((pointer, text))
      }
    }
    return texts
  }
}

extension Image {
  /// The text of each slot; empty where it has none.
  func textsOfSlots(in section: Section) throws -> [String] {
    var texts: [String] = []
    _ = try forEachSlot(of: section, limit: 64) { _, _, text in
      var copy: [UInt8] = []
      if let text { copy = Array(copying: text) }
      texts.append(String(decoding: copy, as: UTF8.self))
      return true
    }
    return texts
  }
}

extension Array where Element == UInt8 {
  /// The bytes of a span, to keep.
  init(copying span: Span<UInt8>) { self = (0..<span.count).map { span[$0] } }
}
