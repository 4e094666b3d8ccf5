import Foundation
import Testing

/// A library with a note does not depend on its file once it was opened. A library without a note is read from its
/// file; if that fails, the Hive says so. Never a crash, never silence.
@Suite struct FileTests {
  static let noted = ["bound service Speaker at libspeaker.so BeehiveRecords[0]"]
  /// The same library without our headers: the Hive finds it only through its file.
  static let handmade = """
    static const char *const entry
      __attribute__((used, retain, section("BeehiveMods"), aligned(8))) = "Shop.ShopModule";
    """
  static let listed = [
    "accepted (no-such-type) module Shop.ShopModule at libhandmade.so BeehiveMods[0]"
  ]

  @Test("A relative path, and another directory since") func otherDirectory() throws {
    let workshop = try Workshop()
    try workshop.library("speaker", Source.speaker())
    try workshop.library("handmade", Self.handmade)
    let said = try Program.host(
      "touch", "open=./libspeaker.so", "open=./libhandmade.so", "chdir=/", "entries", "images",
      "speak=Speaker", in: workshop)
    #expect(said == Self.noted + Self.listed + ["every image is well", "hello"])
  }

  @Test("A file in memory, which no directory knows") func memory() throws {
    let workshop = try Workshop()
    try workshop.library("speaker", Source.speaker())
    let said = try Program.host(
      "touch", "open-memory=./libspeaker.so", "speak=Speaker", "entries", "images", in: workshop)
    #expect(said.first == "hello" && said.last == "every image is well")
    // It goes by the name that it was given, not by the number of its descriptor.
    #expect(said.count == 3 && said[1].hasPrefix("bound service Speaker at memfd:"), "\(said)")
  }

  @Test("A file in memory without a note: read, or reported") func memoryWithoutNote() throws {
    let workshop = try Workshop()
    try workshop.library("handmade", Self.handmade)
    let said = try Program.host(
      "touch", "open-memory=./libhandmade.so", "count", "images", in: workshop)
    // Users who may read /proc/self/map_files, root as a rule, see the file; nobody else can.
    let isRead = said.first == "0 bound, 1 accepted, 0 rejected"
    #expect(isRead != (said.last != "every image is well"), "\(said)")
  }

  @Test("A file that was deleted") func deleted() throws {
    let workshop = try Workshop()
    try workshop.library("speaker", Source.speaker())
    let said = try Program.host(
      "open=./libspeaker.so", "remove=libspeaker.so", "entries", "speak=Speaker", "images",
      in: workshop)
    #expect(said == Self.noted + ["hello", "every image is well"])
  }

  @Test("A deleted file without a note: read, or reported") func deletedWithoutNote() throws {
    let workshop = try Workshop()
    try workshop.library("handmade", Self.handmade)
    let said = try Program.host(
      "open=./libhandmade.so", "remove=libhandmade.so", "count", "images", in: workshop)
    let isRead = said.first == "0 bound, 1 accepted, 0 rejected"
    #expect(isRead != (said.last != "every image is well"), "\(said)")
  }

  @Test("A file that another took the place of") func replaced() throws {
    let workshop = try Workshop()
    try workshop.library("speaker", Source.speaker())
    try workshop.library("other", Source.speaker("Other", says: "I am another"))
    let said = try Program.host(
      "open=./libspeaker.so", "rename=libother.so,libspeaker.so", "entries", "speak=Speaker",
      "images", in: workshop)
    #expect(said == Self.noted + ["hello", "every image is well"])
  }

  @Test("A file without a note that another took the place of: never the other's entries")
  func replacedWithoutNote() throws {
    let workshop = try Workshop()
    try workshop.library("handmade", Self.handmade)
    try workshop.library(
      "other", Self.handmade.replacing("Shop.ShopModule", with: "Other.OtherModule"))
    let said = try Program.host(
      "open=./libhandmade.so", "rename=libother.so,libhandmade.so", "reasons", "images",
      in: workshop)
    #expect(!said.contains { $0.contains("Other") })
    let isRead = said.first?.contains("Shop.ShopModule") == true
    #expect(isRead != (said.last == "libhandmade.so: replaced"), "\(said)")
  }

  /// The tool that removes the section headers.
  enum Stripper: String, CaseIterable {
    case thisTest
    case objcopy

    func strip(_ name: String, in workshop: Workshop) throws {
      switch self {
      case .thisTest: try workshop.dropSectionHeaders(of: name)
      case .objcopy:
        let objcopy = try Needs.one(of: "llvm-objcopy-19", "llvm-objcopy")
        try workshop.output(objcopy, ["--strip-sections", name])
      }
    }
  }

  @Test("Section headers stripped: the note is enough", arguments: Stripper.allCases)
  func stripped(by stripper: Stripper) throws {
    let workshop = try Workshop()
    try workshop.library("speaker", Source.speaker())
    try stripper.strip("libspeaker.so", in: workshop)
    let said = try Program.host(
      "touch", "open=./libspeaker.so", "entries", "speak=Speaker", "images", in: workshop)
    #expect(said == Self.noted + ["hello", "every image is well"])
  }

  @Test(
    "Section headers stripped and no note: silent, as the file is", arguments: Stripper.allCases)
  func strippedHandmade(by stripper: Stripper) throws {
    let workshop = try Workshop()
    try workshop.library("handmade", Self.handmade)
    try stripper.strip("libhandmade.so", in: workshop)
    let said = try Program.host("open=./libhandmade.so", "entries", "images", in: workshop)
    #expect(said == ["no entries", "libhandmade.so: section-table-missing"])
  }

  /// patchelf moves notes and does not know that ours holds offsets relative to itself.
  @Test(
    "patchelf has moved the note", .needs("patchelf"),
    arguments: [
      ["--set-rpath", String(repeating: "/a/very/long/path/that/fits/nowhere", count: 300)],
      ["--add-needed", "libm.so.6"],
      ["--set-soname", "libspeaker.so"],
    ])
  func patched(options: [String]) throws {
    let workshop = try Workshop()
    try workshop.library("speaker", Source.speaker())
    try workshop.output("patchelf", options + ["libspeaker.so"])
    let said = try Program.host(
      "touch", "open=./libspeaker.so", "entries", "speak=Speaker", "images", in: workshop)
    #expect(said == Self.noted + ["hello", "every image is well"])
  }
}
