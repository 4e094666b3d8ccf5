import BinaryImage
import Testing

/// One source, every way to link it: the pointers of its sections lead to the same texts.
@Suite struct ELFPointersTests {
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
      ] as [(String, [String], PointerValue.Resolution, ImageIdentity.Kind)]
    // gold knows neither gcc's static PIE nor packed relocations for this machine.
    if linker != "gold" {
      all.append(("static-pie", ["-static-pie", "-fPIE", "-nostdlib"], .relative, .executable))
      all.append(("packed", shared + ["-Wl,\(packing)"], .relr, .shared))
    }
    return all.map {
      Linkage(
        name: $0.0, linker: linker, arguments: $0.1 + ["-fuse-ld=\(linker)"], resolution: $0.2,
        kind: $0.3)
    }
  }

  @Test(arguments: linkages)
  func `Pointers lead to the texts of the source`(linkage: Linkage) throws {
    let path = try Fixture.compile(
      Self.source, as: "\(linkage.name)-\(linkage.linker)", linkage.arguments)
    let image = try ELFFile(path: path)
    #expect(image.identity.kind == linkage.kind)
    let modules = try image.texts(of: "BeehiveMods")
    #expect(Set(modules.map(\.text)) == ["ShopModule", "Cart.CartModule"])
    let services = try image.texts(of: "BeehiveServices")
    #expect(services.map(\.text) == ["{ \"HomeService\" : \"HomeViewModel\" }"])
    for entry in modules + services { #expect(entry.pointer.resolution == linkage.resolution) }
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
          String(decoding: (0..<bytes.count).map { bytes[$0] }, as: UTF8.self)
        }
        texts.append((pointer, text))
      }
    }
    return texts
  }
}
