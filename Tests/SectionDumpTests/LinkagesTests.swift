import Foundation
import TestSupport
import Testing

extension Linkages {
  /// What the source registers, as `Tool.lines` says it.
  static let entries: [String] = {
    let text = (try? Repository.text("Tests/Fixtures/Linkages/entries.records")) ?? ""
    return text.split(separator: "\n").map(String.init).sorted()
  }()

  /// Where each of them stands, and how it is written.
  static let places = [
    "BeehiveMods pointer Shop.CartModule", "BeehiveMods pointer CartModule",
    "BeehiveRecords inline Greeter", "BeehiveRecords inline audio",
    "BeehiveServices pointer Shop.HomeService",
  ]
}

@Suite("One source through every linkage")
struct LinkagesTests {
  /// The type of a file by the ending of its name.
  private static let types = [
    "o": "object", "a": "object", "so": "shared", "dylib": "shared", "bundle": "bundle",
    "": "executable",
  ]

  /// What one run says of all that were made.
  private static let read = Result {
    try Tool.run(try Linkages.built().map(Linkages.path) + ["--format", "json"])
  }

  /// The file objects of each path, as JSON again.
  private static let files = Result {
    try Dictionary(grouping: Tool.files(of: read.get())) { $0["path"] as? String ?? "" }
      .mapValues { try JSONSerialization.data(withJSONObject: $0) }
  }

  @Test("builds wherever its tools are")
  func builds() throws {
    let outcome = try Linkages.outcome()
    #expect(outcome.status == 0, "\(outcome.errors)")
    #expect(Linkages.names.count > 100)
    #expect(try Linkages.built().count >= 12)
  }

  @Test("is read without a problem")
  func status() throws {
    let outcome = try Self.read.get()
    #expect(outcome.status == 0, "\(outcome.errors)")
    #expect(outcome.errors.wholeMatch(of: /section-dump: \d+ skipped \(no object files\)\n/) != nil)
  }

  @Test("shows the same entries and no problem", arguments: Linkages.names)
  func same(name: String) throws {
    let path = try Linkages.path(name)
    let document = try JSONSerialization.jsonObject(
      with: try #require(Self.files.get()[path]))
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
      // Each section counts its own slots; those of four bytes may have padding between them.
      let indices = Dictionary(grouping: records) { $0["section"] as? String ?? "" }
        .mapValues { $0.map { $0["index"] as? Int } }
      let padded = file["bits"] as? Int == 32 ? [0, 2] : [0, 1]
      #expect([[0, 1], padded].contains(indices["BeehiveMods"]))
      #expect(indices["BeehiveServices"] == [0] && indices["BeehiveRecords"] == [0, 1])
      // Whatever C declares is made by what its context leads to.
      #expect(records.allSatisfy { $0["accessor"] is NSNull })
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

  @Test("of which only debug information is left shows that its bytes are elsewhere")
  func debugOnly() throws {
    let file = try problems(of: "elf-debug-only", containing: "split from")
    #expect(file["type"] as? String == "debug")
  }

  @Test("that was compressed by a method that libelf lacks names the method")
  func compressed() throws {
    _ = try problems(of: "elf-zstd.o", containing: "unpack debug sections with llvm-objcopy")
  }

  /// The file object of a fixture that has problems, all of which say the same.
  private func problems(of name: String, containing text: String) throws -> [String: Any] {
    let path = try Linkages.path(name)
    #expect(try Tool.run([path]).status == 2)
    let file = try #require(Tool.files([path]).first)
    let problems = try #require(file["problems"] as? [[String: Any]])
    #expect(!problems.isEmpty)
    for problem in problems {
      let message = try #require(problem["message"] as? String)
      #expect(message.contains(text))
    }
    #expect((file["records"] as? [Any])?.isEmpty == true)
    return file
  }
}
