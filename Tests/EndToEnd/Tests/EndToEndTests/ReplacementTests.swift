import Testing

/// One thread takes a service away and gives another while a second one asks for it.
@Suite struct ReplacementTests {
  @Test("A million times, and memory stays flat", .timeLimit(.minutes(3))) func flat() throws {
    #expect(try Program.host("replace=1000000") == ["memory is flat"])
  }

  /// As many as a sanitizer gets through in a few seconds.
  @Test(
    "A hundred thousand times, and the sanitizer is quiet",
    .enabled(if: Sanitizer.areBuilt, "Scripts/end-to-end builds the hosts with sanitizers"),
    arguments: Sanitizer.allCases)
  func quiet(sanitizer: Sanitizer) throws {
    let said = try Program.host("replace=100000", under: sanitizer)
    #expect(said.count == 1)
  }

  @Test(
    "Libraries come and go while everybody asks, and the sanitizer is quiet",
    .enabled(if: Sanitizer.areBuilt, "Scripts/end-to-end builds the hosts with sanitizers"),
    arguments: Sanitizer.allCases)
  func loading(sanitizer: Sanitizer) throws {
    let workshop = try Workshop()
    try workshop.library("speaker", Source.speaker())
    let said = try Program.host(
      "reopen-while-asking=./libspeaker.so", "race-speak=Speaker", in: workshop, under: sanitizer)
    #expect(said.first == "asked meanwhile")
  }
}
