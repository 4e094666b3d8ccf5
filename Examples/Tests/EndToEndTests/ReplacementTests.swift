import Testing

/// One thread takes a service away and gives another while a second one asks for it.
@Suite struct ReplacementTests {
  @Test("A thousand times, or a million, and memory stays flat") func flat() throws {
    let count = Effort.times(1_000, full: 1_000_000)
    #expect(try Program.host("alarm=1100", "replace=\(count)") == ["memory is flat"])
  }

  @Test("Each operation many times, and nothing is left of it") func leftovers() throws {
    let count = Effort.times(2_000, full: 200_000)
    #expect(try Program.host("alarm=1100", "leftovers=\(count)") == ["nothing is left"])
  }

  @Test(
    "A thousand times, or a hundred thousand, memory stays flat and the sanitizer is quiet",
    .needsSanitizedHosts, arguments: Sanitizer.allCases)
  func quiet(sanitizer: Sanitizer) throws {
    let count = Effort.times(1_000, full: 100_000)
    #expect(try Program.host("replace=\(count)", under: sanitizer) == ["memory is flat"])
  }

  @Test(
    "Libraries come and go while everybody asks, and the sanitizer is quiet",
    .needsSanitizedHosts, arguments: Sanitizer.allCases)
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
