import Testing

/// Two libraries that declare the same: BeeHive let one of them win without a word, or ended the
/// process without saying where the other one was.
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
          + "BeehiveRecords[0] already provides it; give one of them a name or a priority",
      ])
    #expect(said.last == "first")
  }

  @Test("When the first one is closed, the other has its turn")
  func turn() throws {
    let said = try Program.host(
      "open=./libfirst.so", "open=./libsecond.so", "close=./libfirst.so", "entries",
      "speak=Speaker",
      in: workshop())
    #expect(
      said == [
        "accepted (no-such-type) module LatePlugin.LateModule at libsecond.so BeehiveMods[0]",
        "bound service Speaker at libsecond.so BeehiveRecords[0]", "second",
      ])
  }
}
