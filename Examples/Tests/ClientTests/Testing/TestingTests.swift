import BeeHive
import Testing

private protocol Till: Sendable { var isOpen: Bool { get } }
private struct OpenTill: Till { let isOpen = true }

/// BeeHiveTesting, as a client has it: its sources in the client's own tests, and one libBeeHive.so.
@Suite struct TestingTests {
  @Test func filesDeclareWhatTheySay() throws {
    expectRegistered("libDiscounts.so", .service, "Discount", as: "TenPercent")
    expectRegistered("libGreetings.so", .service, "Greeter")
    // The reason for a name that is not there.
    let lack = try UnloadedFile(builtFile("libDiscounts.so")).lack(of: .service, "Discuont")
    #expect(lack?.description.hasSuffix("; did you mean Discount?") == true)
  }

  @Test func aLibraryIsOpenedAndWatched() async throws {
    let hive = try Hive(opening: "libGreetings.so", builtFile("libDiscounts.so"))
    #expect(hive.entries.contains { $0.implementation == "EnglishGreeter" && $0.state == .bound })
    let recorder = NoticeRecorder(hive)
    try await hive.start()
    await hive.stop()
    #expect(recorder.notices.contains { if case .started = $0 { true } else { false } })
    #expect(recorder.steps == [])
  }

  @Test func entriesArePlanted() throws {
    let hive = try Hive(
      planting: Registrations(services: [
        .init(service: "Till", impl: "OpenTill", scope: .singleton)
      ]))
    #expect(hive.entries.map(\.name) == ["Till"])
  }

  @Test(.overriding((any Till).self, with: OpenTill()))
  func aTestHasItsOwnService() throws {
    #expect(try Hive.process.service((any Till).self).isOpen)
  }

  /// A static copy of the runtime would be a second registry.
  @Test func theTestsHoldNoRuntimeOfTheirOwn() throws {
    let symbols = try Command.output("nm", ["--defined-only", CommandLine.arguments[0]])
    #expect(symbols.contains("NoticeRecorder"))
    #expect(!symbols.contains(" $s12Registration4ScanVMn\n"))
    #expect(!symbols.contains(" $s7BeeHive0B0CMn\n"))
  }
}
