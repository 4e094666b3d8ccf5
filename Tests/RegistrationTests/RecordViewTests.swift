import BinaryImage
import Foundation
import Registration
import TestSupport
import Testing

@Suite("The records of a loaded image")
struct RecordViewTests {
  /// What a library declares, and how many of its entries are left where they stand.
  struct Shape: Sendable, CustomTestStringConvertible {
    var testDescription: String
    var source: String
    var plainCount: Int

    init(_ title: String, plain: Int, _ source: String) {
      testDescription = title
      plainCount = plain
      self.source = source
    }

    static let all: [Shape] = [
      Shape(
        "modules: plain, not ASCII, empty, null", plain: 2,
        #"""
        MODULE a = "Shop.Cart"; MODULE b = "caf\303\251"; MODULE c = ""; MODULE d = 0;
        MODULE e = "Cache<Key, Value>";
        """#),
      Shape(
        "services: plain, with an escape, two keys, no object, a line break", plain: 3,
        #"""
        SERVICE a = "{ \"Shop.Home\" : \"Shop.HomeView\" }"; SERVICE b = "{\"A\":\"B\"}  ";
        SERVICE c = "{ \"A\\u0041\" : \"B\" }"; SERVICE d = "{\"A\":\"B\",\"C\":\"D\"}";
        SERVICE e = "Home"; SERVICE f = "{\n\"G\" : \"H\" }"; SERVICE g = "{ \"\" : \"B\" }";
        """#),
      Shape(
        "typed records by the header", plain: 2,
        #"""
        static const struct greeter { int (*greet)(void); } english;
        BEEHIVE_SERVICE(Greeter, English, &english, BEEHIVE_SCOPE("singleton"));
        BEEHIVE_SERVICE(Greeter, Formal, &english, BEEHIVE_PRIORITY(-12) BEEHIVE_NAME("formal"));
        """#),
      Shape(
        "typed records by hand: fine, a repeated key, no number, an own key, no key", plain: 2,
        #"""
        RECORD(a, 1, "audio\0\0priority=7\0requires=log\0\0") RECORD(b, 2, "S\0I\0scope=a\0scope=b\0")
        RECORD(c, 2, "S\0I\0priority=much\0") RECORD(d, 2, "T\0I\0colour=\0after=x\0")
        RECORD(e, 2, "S\0I\0=x\0")
        """#),
      Shape(
        "kinds: third parties, targets and what has no meaning", plain: 1,
        #"""
        RECORD(a, 0x8001, "theirs\0\0") RECORD(b, 3, "shop\0\0") RECORD(c, 77, "odd\0\0")
        RECORD(d, 1, "plain\0\0")
        """#),
    ]
  }

  static let macros = #"""
    #include <BeeHive.h>
    #define MODULE BEE_TEST_ENTRY("BeehiveMods")
    #define SERVICE BEE_TEST_ENTRY("BeehiveServices")
    #define BEE_TEST_ENTRY(section_name) \
      __attribute__((used, retain, aligned(8), section(section_name))) static const char *const
    #define RECORD(name, kind, text) \
      __attribute__((used, retain, aligned(8), section("BeehiveRecords"))) static const struct { \
        uint32_t size; uint16_t version, number; uint32_t flags, offset; uint64_t pointers[2]; \
        char bytes[(sizeof text + 7) / 8 * 8]; \
      } name = {32 + (sizeof text + 7) / 8 * 8, 1, kind, 0, 32, {0, 0}, text};

    """#

  @Test("says the same as a scan", arguments: Shape.all)
  func sameAsScan(_ shape: Shape) throws {
    let image = try LoadedLibrary(Self.macros + shape.source).image

    let records = try LoadedRecords(of: image)
    let scan = try RecordScanner.scan(image)

    #expect(records.views.count(where: \.isPlain) == shape.plainCount)
    #expect(try records.views.map { try records.record(of: $0).get() } == scan.records)
    #expect(records.rejections == scan.rejections)
  }

  @Test("names a plain entry by bytes that hash as its name does")
  func names() throws {
    let names = ["A", "Log", "Seven77", "EightEig", "Shop.Cart.Item", "Cache<Key, Value>"]
    let image = try LoadedLibrary(
      Self.macros + names.enumerated().map { "MODULE m\($0) = \"\($1)\";" }.joined()
    ).image

    let records = try LoadedRecords(of: image)

    #expect(records.views.count == names.count)
    records.forEachName { entry, bytes in
      let name = bytes.indices.reduce(into: "") { $0.unicodeScalars.append(.init(bytes[$1])) }
      #expect(names.contains(name))
      #expect(entry.hash == NameHash.of(name.utf8Span.span, .module))
      #expect(entry.hash != NameHash.of(name.utf8Span.span, .service))
    }
  }

  @Test("Names that String takes for equal have one hash")
  func equivalents() {
    let hashes = ["caf\u{e9}.Module", "cafe\u{301}.Module", "cafe.Module"].map {
      NameHash.of($0.utf8Span.span, .module)
    }
    #expect(hashes[0] == hashes[1] && hashes[0] != hashes[2])
  }

  @Test("Ten thousand names that differ in a digit have ten thousand hashes")
  func spread() {
    let hashes = (10_000..<20_000).map {
      NameHash.of("Bench0000.Module\($0)".utf8Span.span, .module)
    }

    // By chance about one pair in 86 such sets is equal.
    #expect(Set(hashes).count >= 9_998)
    #expect(Set(hashes.map { $0 % 16384 }).count > 7_000)
  }
}
