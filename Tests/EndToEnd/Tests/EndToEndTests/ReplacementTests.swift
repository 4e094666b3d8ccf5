import Testing

/// One thread takes a service away and gives another while a second one asks for it.
@Suite struct ReplacementTests {
  @Test("A million times, and memory stays flat", .timeLimit(.minutes(20))) func flat() throws {
    #expect(try Program.host("alarm=1000", "replace=1000000") == ["memory is flat"])
  }

  static let reason: Comment = "Scripts/end-to-end builds the hosts with sanitizers"

  @Test(
    "A hundred thousand times, memory stays flat and the sanitizer is quiet",
    .enabled(if: Sanitizer.areBuilt, reason), arguments: Sanitizer.allCases)
  func quiet(sanitizer: Sanitizer) throws {
    #expect(try Program.host("replace=100000", under: sanitizer) == ["memory is flat"])
  }

  @Test(
    "Libraries come and go while everybody asks, and the sanitizer is quiet",
    .enabled(if: Sanitizer.areBuilt, reason), arguments: Sanitizer.allCases)
  func loading(sanitizer: Sanitizer) throws {
    let workshop = try Workshop()
    try workshop.library("speaker", Source.speaker())
    let plugin = Program.product("SwiftPlugin", under: sanitizer)
    let said = try Program.host(
      "reopen-while-asking=./libspeaker.so", "open=./libspeaker.so", "race-speak=Speaker",
      "open=\(plugin)", "race-greet", in: workshop, under: sanitizer)
    #expect(said == ["asked meanwhile", "all heard: hello", "1 instance: hello, made 1"])
  }
}
