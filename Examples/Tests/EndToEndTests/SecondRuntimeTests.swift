import Foundation
import Testing

/// Two runtimes in one process have two registries. The Hive notices and reports that.
@Suite struct SecondRuntimeTests {
  static let entry = "bound service Speaker at libstatic.so BeehiveRecords[0]"

  /// Builds a plugin of C with every object of libBeeHive.so linked into it.
  private func plugin(in workshop: Workshop) throws {
    let objects = Repository.products
      .appendingPathComponent("BeeHive.product/Objects.LinkFileList").path
    let speaker = try workshop.source("speaker", Source.speaker())
    try workshop.compile(speaker, as: "speaker.o")
    try workshop.output(
      "swiftc", ["-emit-library", "-o", "libstatic.so", "@\(objects)", "speaker.o", "-lelf"])
  }

  @Test(
    "A plugin that carries a copy of its own is reported, and its entries are there",
    arguments: ["open=./libstatic.so", "open-global=./libstatic.so", "open-deep=./libstatic.so"])
  func staticCopy(step: String) throws {
    let workshop = try Workshop()
    try plugin(in: workshop)
    let said = try Program.host(
      "images", step, "images", "entries", "speak=Speaker", "validate", in: workshop)
    #expect(said.prefix(2) == ["every image is well", "libstatic.so: second-runtime"])
    #expect(said.dropFirst(2).prefix(2) == [Self.entry, "hello"])
    #expect(said.last?.contains("A second BeeHive runtime is in this image") == true, "\(said)")
  }

  @Test("It was there before the Hive was") func beforehand() throws {
    let workshop = try Workshop()
    try plugin(in: workshop)
    let said = try Program.host("open=./libstatic.so", "images", "entries", in: workshop)
    #expect(said == ["libstatic.so: second-runtime", Self.entry])
  }

  @Test("A second libBeeHive.so is reported, as often as it is loaded") func copy() throws {
    let workshop = try Workshop()
    try FileManager.default.copyItem(
      atPath: Program.product("BeeHive"), toPath: workshop.folder.place("libcopy.so").path)
    let said = try Program.host("touch", "open=./libcopy.so", "images", "entries", in: workshop)
    #expect(said == ["libcopy.so: second-runtime", "no entries"])
  }
}
