import Foundation
import TestSupport
import Testing

extension Linkages {
  /// The entries that the source registers, as `Tool.lines` gives them.
  static let entries: [String] = {
    let text = (try? Repository.fixture("Linkages/entries.records")) ?? ""
    return text.split(separator: "\n").map(String.init).sorted()
  }()

  /// The section and the encoding of each entry.
  static let places = [
    "BeehiveMods pointer Shop.CartModule", "BeehiveMods pointer CartModule",
    "BeehiveRecords inline Greeter", "BeehiveRecords inline audio",
    "BeehiveServices pointer Shop.HomeService",
  ]
}

@Suite("One source through every linkage")
struct LinkagesTests {
  /// The type of a file, by the extension of its name.
  private static let types = [
    "o": "object", "a": "object", "so": "shared", "dylib": "shared", "bundle": "bundle",
    "": "executable",
  ]

  /// The outcome of one run over all files that were made.
  private static let read = Result {
    try Tool.run(try Linkages.built().map(Linkages.path) + ["--format", "json"])
  }

  /// The file objects of each path, as JSON.
  private static let files = Result {
    try Dictionary(grouping: Tool.files(of: read.get())) { $0["path"] as? String ?? "" }
      .mapValues { try JSONSerialization.data(withJSONObject: $0) }
  }

  @Test("builds wherever its tools are")
  func builds() throws {
    try Linkages.outcome().expect(0)
    #expect(Linkages.names.count > 100)
    #expect(try Linkages.built().count >= 12)
  }

  @Test("is read without a problem")
  func status() throws {
    let outcome = try Self.read.get().expect(0)
    #expect(outcome.errors.wholeMatch(of: /section-dump: \d+ skipped \(no object files\)\n/) != nil)
  }

  @Test("shows the same entries and no problem", arguments: Linkages.names)
  func same(name: String) throws {
    let path = try Linkages.path(name)
    let document = try JSONSerialization.jsonObject(with: try #require(Self.files.get()[path]))
    let files = try #require(document as? [[String: Any]])
    #expect(!files.isEmpty)
    for file in files {
      #expect((file["problems"] as? [Any])?.isEmpty == true)
      #expect(file["type"] as? String == Self.types[(name as NSString).pathExtension])
      // Order inside a section means nothing: gcc reverses it.
      #expect(try Tool.lines(file).sorted() == Linkages.entries)
      let records = try #require(file["records"] as? [[String: Any]])
      let places = records.map {
        "\($0["section"] ?? "") \($0["encoding"] ?? "") \($0["name"] ?? "")"
      }
      #expect(Set(places) == Set(Linkages.places) && places.count == Linkages.places.count)
      // Each section counts its own slots. Slots of four bytes may have padding between them.
      let indices = Dictionary(grouping: records) { $0["section"] as? String ?? "" }
        .mapValues { $0.map { $0["index"] as? Int } }
      let padded = file["bits"] as? Int == 32 ? [0, 2] : [0, 1]
      #expect([[0, 1], padded].contains(indices["BeehiveMods"]))
      #expect(indices["BeehiveServices"] == [0] && indices["BeehiveRecords"] == [0, 1])
      // C entries are made by what their context leads to, so they have no accessor.
      #expect(records.allSatisfy { $0["accessor"] is NSNull })
    }
  }

  /// Returns the keys whose values differ. Both objects have the same keys.
  private func differences(_ one: [String: Any], _ other: [String: Any]) -> Set<String> {
    #expect(Set(one.keys) == Set(other.keys))
    return Set(
      one.keys.filter { key in
        [key: one[key] ?? ""] as NSDictionary != [key: other[key] ?? ""] as NSDictionary
      })
  }

  @Test("gives a dylib and an ELF library reports that differ in what the formats differ in")
  func formats() throws {
    let files = try ["macho-arm64-fixup-chains.dylib", "elf-aarch64.so"].map { name in
      try #require(Tool.files([Linkages.path(name)]).first)
    }
    #expect(differences(files[0], files[1]) == ["path", "format", "machine", "id", "records"])
    #expect(files.map { $0["format"] as? String } == ["macho", "elf"])
    #expect(files.map { $0["machine"] as? String } == ["arm64", "aarch64"])
    // A UUID is always there, a build-id only if the linker makes one.
    #expect((files[0]["id"] as? String)?.count == 32 && files[1]["id"] is NSNull)
    let records = try files.map { try #require($0["records"] as? [[String: Any]]) }
    #expect(records.map(\.count) == [Linkages.entries.count, Linkages.entries.count])
    for (one, other) in zip(records[0], records[1]) {
      // The order is the same, so the indices are the same as well.
      #expect(differences(one, other).isSubset(of: ["address", "offset", "resolution"]))
      let isPointer = one["encoding"] as? String == "pointer"
      #expect(
        [one, other].map { $0["resolution"] as? String }
          == (isPointer ? ["chained-rebase", "relative"] : ["none", "none"]))
    }
  }

  @Test("counts the sections of a file that has more than 65,535 in the first one's header")
  func extended() throws {
    let path = try Linkages.path("elf-extended.o")
    let header =
      try FileHandle(forReadingFrom: URL(fileURLWithPath: path)).read(upToCount: 64) ?? Data()
    #expect(header[60] == 0 && header[61] == 0, "e_shnum is 0 there")
    let section = try #require(Tool.sections(["hex", "--section", ".s66000", path]).first)
    #expect(section["name"] as? String == ".s66000" && section["size"] as? Int == 1)
    guard Effort.isFull else { return }
    let rows = try Tool.run(["sections", path, "--format", "csv"]).output.utf8
    #expect(rows.count { $0 == UInt8(ascii: "\n") } > 66_000)
  }

  @Test(
    "has sections at their offsets from the start of the file, also in archives of universal files",
    arguments: ["elf-gcc.o", "archive-gnu.a", "universal.dylib", "universal.a"])
  func offsets(name: String) throws {
    let bytes = try Linkages.bytes(name)
    for file in try Tool.files(["hex", "--section", "BeehiveRecords", Linkages.path(name)]) {
      // In an object, a compiler's output begins with an empty section.
      let section = try #require(
        (file["sections"] as? [[String: Any]])?.first { $0["size"] as? Int != 0 })
      let entry = try #require((section["entries"] as? [[String: Any]])?.first)
      #expect(entry["offset"] as? String == section["offset"] as? String)
      let start = try #require(Int((section["offset"] as? String ?? "").dropFirst(2), radix: 16))
      let end = start + (section["size"] as? Int ?? 0)
      for text in ["Greeter", "audio"] {
        #expect(bytes[start..<end].range(of: Data(text.utf8)) != nil)
      }
    }
  }

  @Test(
    "that nothing can be read from says why",
    arguments: [
      ("elf-debug-only", "debug", "split from"),
      ("elf-zstd.o", "object", "unpack debug sections with llvm-objcopy"),
    ])
  func unread(name: String, type: String, reason: String) throws {
    let path = try Linkages.path(name)
    #expect(try Tool.run([path]).status == 2)
    let file = try #require(Tool.files([path]).first)
    let problems = try #require(file["problems"] as? [[String: Any]])
    #expect(!problems.isEmpty)
    #expect(problems.allSatisfy { ($0["message"] as? String)?.contains(reason) == true })
    #expect(file["type"] as? String == type && (file["records"] as? [Any])?.isEmpty == true)
  }
}
