import BinaryImage
import TestSupport
import Testing

@Suite("Pointers of an ELF file")
struct ELFPointersTests {
  /// Entries annotated by hand, without this project's headers.
  static let source = (try? Repository.fixture("BinaryImage/entries.c")) ?? ""

  /// A linker, the arguments that make a file of the source, and the expected resolution of its pointers.
  typealias Linkage = (
    linker: String, arguments: [String], resolution: PointerValue.Resolution,
    kind: ImageIdentity.Kind
  )

  static let linkages: [Linkage] = ["bfd", "gold", "lld", "mold"].flatMap { linker in
    let packing = linker == "mold" ? "--pack-dyn-relocs=relr" : "-zpack-relative-relocs"
    let shared = ["-shared", "-fPIC", "-nostdlib"]
    var all: [Linkage] = [
      (linker, shared, .relative, .shared),
      (linker, ["-pie", "-fPIE", "-nostartfiles"], .relative, .executable),
      (linker, ["-no-pie", "-fno-pie", "-nostartfiles"], .absolute, .executable),
      (linker, ["-r", "-fPIC", "-nostdlib"], .section, .object),
      (linker, shared + ["-ffunction-sections", "-Wl,--gc-sections"], .relative, .shared),
      (linker, shared + ["-s"], .relative, .shared),
    ]
    // gold knows neither gcc's static PIE nor packed relocations for this machine.
    if linker != "gold" {
      all.append((linker, ["-static-pie", "-fPIE", "-nostdlib"], .relative, .executable))
      all.append((linker, shared + ["-Wl,\(packing)"], .relr, .shared))
    }
    if linker == "lld" {
      all.append((linker, shared + ["-Wl,--apply-dynamic-relocs"], .relative, .shared))
      all.append((linker, shared + ["-Wl,--pack-dyn-relocs=android"], .relative, .shared))
      all.append((linker, shared + ["-Wl,--pack-dyn-relocs=android+relr"], .relr, .shared))
    }
    return all
  }

  @Test("lead to the source's texts, whoever linked it and however", arguments: linkages)
  func linked(
    linker: String, arguments: [String], resolution: PointerValue.Resolution,
    kind: ImageIdentity.Kind
  ) throws {
    try Needs.linker(linker)
    let path = try Fixture.compile(
      Self.source, as: "linked-\(UInt64.random(in: 0 ... .max))",
      arguments + ["-fuse-ld=\(linker)"])
    let image = try ELFFile(path: path)
    #expect(image.identity.kind == kind)
    try expectTexts(of: image, by: resolution)
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

  /// A machine other than the host's, as the compiler and as identities name it. The resolution applies to pointers of
  /// a shared library; nil if none can be linked here.
  typealias Machine = (
    triple: String, name: String, bits: Int, order: ImageIdentity.ByteOrder,
    resolution: PointerValue.Resolution?
  )

  static let machines: [Machine] = [
    ("x86_64-linux-gnu", "x86_64", 64, .little, .relative),
    ("aarch64-linux-gnu", "aarch64", 64, .little, .relative),
    ("aarch64_be-linux-gnu", "aarch64", 64, .big, .relative),
    ("riscv64-linux-gnu", "riscv64", 64, .little, .relative),
    ("riscv32-linux-gnu", "riscv32", 32, .little, .relative),
    ("s390x-linux-gnu", "s390x", 64, .big, .relative),
    ("powerpc64le-linux-gnu", "ppc64le", 64, .little, .relative),
    ("powerpc64-linux-gnu", "ppc64", 64, .big, .relative),
    ("powerpc-linux-gnu", "ppc", 32, .big, .relative),
    ("i386-linux-gnu", "i386", 32, .little, .rel),
    ("armv7-linux-gnueabihf", "arm", 32, .little, .rel),
    ("mips-linux-gnu", "mips", 32, .big, .rel),
    ("mipsel-linux-gnu", "mips", 32, .little, .rel),
    ("mips64-linux-gnuabi64", "mips64", 64, .big, .rel),
    ("mips64el-linux-gnuabi64", "mips64", 64, .little, .rel),
    ("x86_64-linux-gnux32", "x86_64", 32, .little, nil),
  ]

  @Test("of other machines lead to the same texts", .needs("clang", "ld.lld"), arguments: machines)
  func foreign(
    triple: String, name: String, bits: Int, order: ImageIdentity.ByteOrder,
    resolution: PointerValue.Resolution?
  ) throws {
    let object = try Fixture.compile(
      Self.source, as: "\(triple).o", with: "clang",
      ["-target", triple, "-fPIC", "-O1", "-c"])
    var files = [(object, nil as PointerValue.Resolution?)]
    if let resolution {
      let library = Fixture.path("\(triple).so")
      try Fixture.run("ld.lld", ["-shared", object, "-o", library])
      files.append((library, resolution))
      try Fixture.run(
        "ld.lld", ["-shared", "-z", "pack-relative-relocs", object, "-o", library + ".relr"])
      files.append((library + ".relr", .relr))
    }
    for (path, resolution) in files {
      let image = try ELFFile(path: path)
      let identity = image.identity
      #expect((identity.machine, identity.bits, identity.byteOrder) == (name, bits, order))
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
    // The entries are too few to become smaller, so this section is made by hand.
    var bytes = try Fixture.bytes(of: path)
    let section = try inflated.section("BeehiveMods")
    let contents = try inflated.bytes(of: section)
    let deflated = Self.stored(contents)
    let start = UInt64((bytes.count + 7) / 8 * 8)
    bytes += [UInt8](repeating: 0, count: Int(start) - bytes.count)
    bytes += [1, section.size, 8].flatMap { $0.bytes(8) } + deflated
    let table = Int(bytes[40..<48].reversed().reduce(0) { $0 << 8 | UInt64($1) })
    let header = table + section.index * 64
    bytes[header + 9] |= 0x08
    bytes.replaceSubrange(
      header + 24..<header + 40, with: start.bytes(8) + UInt64(24 + deflated.count).bytes(8))
    let image = try ELFFile(bytes: bytes)
    let found = try image.section("BeehiveMods")
    #expect(found.flags.contains("C"))
    #expect(found.size == section.size)
    #expect(try image.bytes(of: found) == contents)
    // Inflating changes no later answer.
    #expect(try image.sections(named: "BeehiveMods") == [found])
    #expect(try image.bytes(of: found) == contents)
    try expectTexts(of: image, by: .section)
  }

  /// Returns a zlib stream that stores its contents uncompressed.
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
    var builder = ELFBuilder(machine: 62, list: [0, 0, 0])
    builder.relocations = zip([0, 8], [ELFBuilder.first, ELFBuilder.second]).map {
      ELFBuilder.Relocation(place: ELFBuilder.list + $0, type: 8, addend: $1)
    }
    builder.relocations.append(
      ELFBuilder.Relocation(place: place, symbol: 2, type: type, addend: 0))
    let image = try ELFFile(bytes: builder.bytes)
    #expect(try image.textsOfSlots(in: image.section("list")).prefix(2).elementsEqual(texts))
  }
}
