import Foundation
import Testing

/// A library of C that is tuned for no linker and linked with `--gc-sections` registers in a host. `section-dump` shows
/// the same records of its file.
@Suite struct LinkerTests {
  /// A library's style and its linker.
  struct Build: CustomTestStringConvertible {
    var linker: String
    var style: Style
    var testDescription: String { "\(style), \(linker)" }

    static let all = ["bfd", "gold", "lld", "mold"].flatMap { linker in
      Style.allCases.map { Build(linker: linker, style: $0) }
    }
  }

  /// Two ways to declare the same.
  enum Style: String, CaseIterable {
    case byHand
    case withHeader

    var source: String {
      switch self {
      case .byHand: LinkerTests.byHand
      case .withHeader: LinkerTests.withHeader
      }
    }
  }

  /// The section's name and two attributes, and none of our headers.
  static let byHand = #"""
    #include <stddef.h>
    #include <stdint.h>
    #define ENTRY(name) __attribute__((used, retain, section(name)))

    static const char *const shop ENTRY("BeehiveMods") = "Shop.ShopModule";
    static const char *const basket ENTRY("BeehiveMods") = "Shop.BasketModule";
    static const char *const home ENTRY("BeehiveServices") = "{ \"Shop.Home\" : \"Shop.HomeView\" }";

    struct speaker { const char *(*say)(void); };
    static const char *say(void) { return "hello"; }
    static const struct speaker speaker = {say};
    static const struct { uint32_t size, version; size_t table_size; const void *table; }
      table = {24, 1, sizeof speaker, &speaker};
    struct record {
      uint32_t size; uint16_t version, kind; uint32_t flags, text_offset;
      const void *accessor, *context; char text[64];
    };
    static const struct record quiet ENTRY("BeehiveRecords") = {
      96, 1, 2, 0, 32, 0, &table, "Speaker\0Quiet\0abi=c-table"};
    static const struct record loud ENTRY("BeehiveRecords") = {
      96, 1, 2, 0, 32, 0, &table,
      "Speaker\0Loud\0abi=c-table\0priority=10\0shop=corner\0shop=market"};

    __attribute__((visibility("hidden"))) int nobody_calls_this(void) { return 1; }
    """#

  /// The same with ours.
  static let withHeader = #"""
    #include <BeeHive.h>
    BeeHiveMod(Shop.ShopModule);
    BeeHiveMod(Shop.BasketModule);
    BeeHiveService(Shop.Home, Shop.HomeView);

    struct speaker { const char *(*say)(void); };
    static const char *say(void) { return "hello"; }
    static const struct speaker speaker = {say};
    BEEHIVE_SERVICE(Speaker, Quiet, &speaker);
    BEEHIVE_SERVICE(Speaker, Loud, &speaker, BEEHIVE_PRIORITY(10)
                    BEEHIVE_ATTRIBUTE("shop", "corner") BEEHIVE_ATTRIBUTE("shop", "market"));

    __attribute__((visibility("hidden"))) int nobody_calls_this(void) { return 1; }
    """#

  /// Everything but the index: compilers may reverse the entries of a file.
  static let declared = [
    "module\tShop.BasketModule\t-\t0\t\tBeehiveMods",
    "module\tShop.ShopModule\t-\t0\t\tBeehiveMods",
    "service\tShop.Home\tShop.HomeView\t0\t\tBeehiveServices",
    "service\tSpeaker\tLoud\t10\tabi=c-table shop=corner shop=market\tBeehiveRecords",
    "service\tSpeaker\tQuiet\t0\tabi=c-table\tBeehiveRecords",
  ]

  /// Builds the library and returns its path.
  private func library(_ build: Build, in workshop: Workshop) throws -> String {
    try Needs.linker(build.linker)
    // Workshop passes --gc-sections; each function has a section of its own.
    let path = try workshop.library(
      "plain", build.style.source, "-O2", "-ffunction-sections", "-fuse-ld=\(build.linker)")
    #expect(
      !(try workshop.output("readelf", ["-sW", path]).contains("nobody_calls_this")),
      "nothing was collected")
    return path
  }

  @Test("A host's entries and section-dump's records are the same", arguments: Build.all)
  func sameRecords(build: Build) throws {
    let workshop = try Workshop()
    let path = try library(build, in: workshop)
    let said = try Program.host(
      "touch", "open=\(path)", "records", "count", "images", "speak=Speaker", in: workshop)
    #expect(said.suffix(3) == ["2 bound, 3 accepted, 0 rejected", "every image is well", "hello"])
    let registered = said.dropLast(3).sorted()
    #expect(registered.map(withoutIndex) == Self.declared)

    let text = try workshop.output(Repository.sectionDump, ["--format", "json", path])
    let dump = try JSONDecoder().decode(Dump.self, from: Data(text.utf8))
    #expect(dump.files.flatMap(\.problems).isEmpty)
    #expect(dump.files.flatMap(\.records).map(\.columns).sorted() == registered)
  }

  private func withoutIndex(_ line: String) -> String {
    line.split(separator: "\t", omittingEmptySubsequences: false).dropLast()
      .joined(separator: "\t")
  }
}

/// The parts of `section-dump --format json` that these tests read.
private struct Dump: Decodable {
  var files: [File]

  struct File: Decodable {
    var records: [Record]
    var problems: [Problem]
  }

  struct Problem: Decodable { var message: String }

  struct Record: Decodable {
    var kind: String
    var name: String
    var implementation: String?
    var priority: Int
    var attributes: [String: Values]
    var section: String
    var index: Int

    /// The line that a host prints of the same entry.
    var columns: String {
      let words = attributes.flatMap { key, values in values.all.map { "\(key)=\($0)" } }
      let columns = [
        kind, name, implementation ?? "-", String(priority),
        words.sorted().joined(separator: " "), section, String(index),
      ]
      return columns.joined(separator: "\t")
    }
  }

  /// A text, or several if a key was repeated.
  struct Values: Decodable {
    var all: [String]

    init(from decoder: any Decoder) throws {
      let container = try decoder.singleValueContainer()
      if let one = try? container.decode(String.self) {
        all = [one]
      } else {
        all = try container.decode([String].self)
      }
    }
  }
}
