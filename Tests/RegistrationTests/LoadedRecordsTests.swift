import BinaryImage
import Registration
import TestSupport
import Testing

@Suite("A file and the same file loaded have the same records")
struct LoadedRecordsTests {
  /// The entries of libraries.
  static let shapes: [(what: String, source: String)] = [
    (
      "modules: ASCII, not ASCII, empty, null",
      #"""
      MODULE a = "Shop.Cart"; MODULE b = "caf\303\251"; MODULE c = ""; MODULE d = 0;
      MODULE e = "Cache<Key, Value>";
      """#
    ),
    (
      "services: plain, with an escape, two keys, no object, a line break",
      #"""
      SERVICE a = "{ \"Shop.Home\" : \"Shop.HomeView\" }"; SERVICE b = "{\"A\":\"B\"}  ";
      SERVICE c = "{ \"A\\u0041\" : \"B\" }"; SERVICE d = "{\"A\":\"B\",\"C\":\"D\"}";
      SERVICE e = "Home"; SERVICE f = "{\n\"G\" : \"H\" }"; SERVICE g = "{ \"\" : \"B\" }";
      """#
    ),
    (
      "typed records by the header",
      #"""
      static const struct greeter { int (*greet)(void); } english;
      BEEHIVE_SERVICE(Greeter, English, &english, BEEHIVE_SCOPE("singleton"));
      BEEHIVE_SERVICE(Greeter, Formal, &english, BEEHIVE_PRIORITY(-12) BEEHIVE_NAME("formal"));
      """#
    ),
    (
      "typed records that share an instance: of one factory, and of two",
      (try? Repository.fixture("Libraries/shared.c")) ?? ""
    ),
    (
      "typed records by hand: fine, a repeated key, no number, an own key, no key",
      #"""
      RECORD(a, 1, "audio\0\0priority=7\0requires=log\0\0") RECORD(b, 2, "S\0I\0scope=a\0scope=b\0")
      RECORD(c, 2, "S\0I\0priority=much\0") RECORD(d, 2, "T\0I\0colour=\0after=x\0")
      RECORD(e, 2, "S\0I\0=x\0")
      """#
    ),
    (
      "kinds: third parties, targets and what has no meaning",
      #"""
      RECORD(a, 0x8001, "theirs\0\0") RECORD(b, 3, "shop\0\0") RECORD(c, 77, "odd\0\0")
      RECORD(d, 1, "plain\0\0")
      """#
    ),
  ]

  @Test(
    "for each linker and each kind of entry", arguments: ["bfd", "gold", "lld", "mold"], shapes)
  func sameRecords(linker: String, _ shape: (what: String, source: String)) throws {
    try Needs.linker(linker)
    let library = try LoadedLibrary(
      Repository.fixture("Libraries/by-hand.h") + shape.source, "-fuse-ld=\(linker)")
    // The header's macros leave a note. Without it, the sections are found through the file.
    let hasNote = shape.source.contains("BEEHIVE_SERVICE")
    #expect((library.image.mapped.note == .valid) == hasNote)

    let stored = try Scan(of: library.file)
    let loaded = try Scan(of: library.image)

    #expect(stored.records.count == loaded.records.count)
    for (stored, loaded) in zip(stored.records, loaded.records) {
      #expect(loaded == stored.asLoaded(at: loaded))
    }
    #expect(loaded.rejections.map(\.place) == stored.rejections.map(\.place))
  }
}

extension Rejection {
  /// The rejected entry, its place and the reason. The message is left out, because it may name addresses.
  fileprivate var place: [String] {
    [reason.rawValue, "\(kind)", name ?? "-", origin.section, "\(origin.index)"]
  }
}

extension Record {
  /// Returns the record of a file as memory has it. Memory knows neither the place in the file nor the relocations,
  /// and its pointers have been written. Everything else is the same.
  fileprivate func asLoaded(at loaded: Record) -> Record {
    var record = self
    record.origin.offset = nil
    record.resolution = resolution == .none ? .none : .loaded
    record.accessor = accessor?.asLoaded(with: loaded.accessor)
    record.context = context?.asLoaded(with: loaded.context)
    return record
  }
}

extension PointerValue {
  /// Returns the same target, but with the loader's word.
  fileprivate func asLoaded(with loaded: PointerValue?) -> PointerValue {
    PointerValue(
      rawValue: loaded?.rawValue ?? rawValue, target: target,
      resolution: target == .null ? .none : .loaded)
  }
}
