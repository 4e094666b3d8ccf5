import Foundation
import Testing

/// Two libraries that declare the same. BeeHive let one of them win without a word, or ended the process without saying
/// where the other library was.
@Suite struct DuplicateTests {
  private func workshop() throws -> Workshop {
    let workshop = try Workshop()
    let module = "BeeHiveMod(LatePlugin.LateModule);"
    try workshop.library("first", Source.speaker(says: "first") + module)
    try workshop.library("second", Source.speaker(says: "second") + module)
    return workshop
  }

  @Test("Duplicate across two images: the first one serves, the other names it")
  func bothPlaces() throws {
    let said = try Program.host(
      "open=./libfirst.so", "open=./libsecond.so", "reasons", "speak=Speaker", in: workshop())
    #expect(
      said.filter { $0.contains("duplicate") }.sorted() == [
        "rejected (duplicate) module LatePlugin.LateModule at libsecond.so BeehiveMods[0]: "
          + "libfirst.so BeehiveMods[0] already provides it; rename or remove one of them",
        "rejected (duplicate) service Speaker at libsecond.so BeehiveRecords[0]: libfirst.so "
          + "BeehiveRecords[0] already provides it; give one of them BEEHIVE_NAME or BEEHIVE_PRIORITY",
      ])
    #expect(said.last == "first")
  }

  @Test("When the first one is removed, the other has its turn")
  func turn() throws {
    let said = try Program.host(
      "open=./libfirst.so", "open=./libsecond.so", "withdraw=./libfirst.so", "entries",
      "speak=Speaker",
      in: workshop())
    #expect(
      said == [
        "2 removed",
        "accepted (no-such-type) module LatePlugin.LateModule at libsecond.so BeehiveMods[0]",
        "bound service Speaker at libsecond.so BeehiveRecords[0]", "second",
      ])
  }

  @Test("Two of one file name are told apart by as much of the path as is needed")
  func sameFileName() throws {
    let workshop = try self.workshop()
    for (name, folder) in [("first", "one"), ("second", "two")] {
      let bytes = try Data(contentsOf: workshop.folder.place("lib\(name).so"))
      try workshop.folder.write(bytes, as: "plugins/\(folder)/lib.so")
    }
    let said = try Program.host(
      "open=./plugins/one/lib.so", "open=./plugins/two/lib.so", "reasons", in: workshop)
    #expect(
      said.filter { $0.contains("duplicate") }.allSatisfy {
        $0.contains(" at lib.so ") && $0.contains(": one/lib.so ")
      }, "\(said)")
    #expect(said.count { $0.contains("duplicate") } == 2)
  }
}
