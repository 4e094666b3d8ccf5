import BeeHive
import TestSupport
import Testing

private struct Plain: Module {}
private struct Crowded: Module {
  struct Full: Error {}
  func setUp(_ context: Context) async throws { throw Full() }
}

@Suite("Which modules run, and which do not")
struct ModuleStagesTests {
  private let hive = Hive()

  private var lines: [String: Report.Line] {
    Dictionary(uniqueKeysWithValues: hive.report().entries.map { ($0.name, $0) })
  }

  @Test("the report says of every module how far it is, and nothing after the end")
  func stages() async throws {
    try await hive.register(module: Plain.self, name: "log")
    try await hive.register(module: Crowded.self, name: "net")
    try await hive.register(module: Plain.self, name: "web", requires: ["net"])
    try await hive.register(module: Plain.self, name: "shop", requires: ["nowhere"])
    try await hive.register(module: Plain.self, name: "till", requires: ["shop"])
    try await hive.register(module: Plain.self, name: "off")
    #expect(lines["log"]?.launch == nil)
    try await hive.start(options: LaunchOptions(onFailure: .skip, disabled: ["off"]))
    // These stand for the entries of a library that is opened now.
    hive.bind("late") { _ in Plain() }
    try hive.declare(modules: "late", in: "late.json")
    let found = lines
    #expect(
      found.mapValues(\.launch) == [
        "log": "started", "net": "failed", "web": "failed", "shop": "not started",
        "till": "not started", "off": nil, "late": "not started",
      ])
    #expect(found["net"]?.reason?.hasPrefix("setUp: threw Full") == true)
    #expect(found["web"]?.reason == "setUp: skipped, because net failed")
    #expect(
      found["shop"]?.reason
        == "requires nowhere, which nothing in this process declares; load what declares it, or say after instead "
        + "of requires")
    #expect(found["till"]?.reason == "requires shop, which cannot start")
    #expect(
      found["late"]?.reason
        == "came after the start; startLatecomers() starts it, in C beehive_start_latecomers()")
    #expect(found["off"]?.state == "disabled")
    #expect(hive.report().description.contains("\nnot started  module  late "))
    #expect(await hive.startLatecomers().isEmpty)
    #expect(lines["late"]?.launch == "started")
    await hive.stop()
    #expect(lines.values.allSatisfy { $0.launch == nil })
  }

  @Test("a late module that lacks what it requires is reported until that is there")
  func lateAndLacking() async throws {
    try await hive.register(module: Plain.self, name: "log")
    try await hive.register(module: Plain.self, name: "early", requires: ["never"])
    try await hive.start(.skip)
    for name in ["web", "one", "two"] { hive.bind(name) { _ in Plain() } }
    try hive.register(
      Registrations(moduleClasses: [
        .init(moduleClass: "web", requires: ["lag"]),
        .init(moduleClass: "one", requires: ["two"]), .init(moduleClass: "two", requires: ["one"]),
      ]), file: "late.json")
    for _ in 1...2 {
      let failures = await hive.startLatecomers()
      #expect(failures.map(\.module) == ["web", "one", "two"])
      #expect(
        failures.map(\.description) == [
          "module web (late.json moduleClasses[0]) make: could not be made: it requires lag, which "
            + "nothing in this process declares; load what declares it, or say after instead of requires; "
            + "did you mean log?"
        ]
          + [("one", 1), ("two", 2)].map { name, index in
            "module \(name) (late.json moduleClasses[\(index)]) make: could not be made: modules one "
              + "→ two → one wait for each other, so none of them can start "
              + "(late.json moduleClasses[1], late.json moduleClasses[2])"
          })
    }
    // If a call registers the module, the call throws.
    let error = await #expect(throws: LaunchError.self) {
      try await hive.register(module: Plain.self, name: "far", requires: ["away"])
    }
    #expect(error?.order.missing.map(\.requirement) == ["away"])
    try await hive.register(module: Plain.self, name: "lag")
    #expect(lines["web"]?.launch == "started")
    #expect(await hive.startLatecomers().map(\.module) == ["far", "one", "two"])
  }

  @Test("a module that counts as started though a step failed says which, the first alone")
  func continued() async throws {
    try await hive.register(module: Crowded.self, name: "net")
    try await hive.probe("web") { step, _ in
      if step != "tearDown", step != "setUp" { throw Crowded.Full() }
    }
    try await hive.register(module: Plain.self, name: "log")
    let launch = try await hive.start(.continue)
    #expect(launch.started == ["log", "net", "web"])
    #expect(lines.mapValues(\.launch).values.allSatisfy { $0 == "started" })
    #expect(
      lines.mapValues(\.reason) == [
        "net": "setUp: threw Full(); it counts as started all the same",
        "web": "initialize: threw Full(); it counts as started all the same", "log": nil,
      ])
    await hive.stop()
    #expect(lines["net"]?.reason == nil)
  }

  @Test(
    "a module that takes longer than it may has failed, also once it has come back",
    arguments: [FailurePolicy.skip, .continue])
  func tooSlow(policy: FailurePolicy) async throws {
    let end = Meeting(of: 2)
    // This ignores cancellation.
    try await hive.probe("slow", in: "setUp") { _ in await end.attend() }
    try await hive.start(policy, within: .seconds(2))
    func expectFailed() {
      #expect(lines["slow"]?.launch == "failed")
      #expect(lines["slow"]?.reason == "setUp: did not finish within 2.0 seconds")
    }
    expectFailed()
    await end.attend()
    expectFailed()
  }

  @Test(
    "a module that takes longer than it may says in which function of its library it waits",
    arguments: [
      ("wait_for_end", "wait_for_end"),
      ("_$s4Shop10waitForEnds5Int32VyF", "Shop.waitForEnd() -> Swift.Int32"),
    ])
  func waitsIn(symbol: String, name: String) async throws {
    let path = try Compiler.library(
      """
      #include <BeeHive.h>
      #include <unistd.h>
      static int ends[2];
      int end(void) { return write(ends[1], "", 1); }
      int wait_for_end(void) __asm__("\(symbol)");
      __attribute__((noinline, visibility("hidden"))) int wait_for_end(void) {
        char byte;
        return read(ends[0], &byte, 1);
      }
      static bool start(const beehive_context *c) { return !pipe(ends) && wait_for_end() && !c; }
      static const beehive_module_operations operations = { .set_up = start };
      BEEHIVE_MODULE(waiter, &operations);
      """, as: "libwaiter.so")
    let library = try OpenLibrary(path)
    let hive = Hive(imagesWhere: { $0 == path })
    try await hive.start(.skip, within: .seconds(2))
    let line = try #require(hive.report().entries.first)
    #expect(line.reason == "setUp: did not finish within 2.0 seconds; it is in \(name)")
    #expect(try library.call("end") == 1)
  }

  @Test("while a Hive starts, each module says in which step it is, or for what it waits")
  func underWay() async throws {
    let seen = Journal()
    let look: @Sendable () -> Void = { [hive] in
      for line in hive.report().entries {
        seen.write("\(line.name) \(line.launch ?? "–"): \(line.reason ?? "–")")
      }
    }
    try await hive.probe("a")
    try await hive.register(module: "b", requires: ["a"]) { _ in
      look()
      return Plain()
    }
    try await hive.probe("c", requires: ["b"]) { step, _ in
      if step == "setUp" || step == "splash" { look() }
    }
    try await hive.start()
    await hive.stop()
    #expect(
      seen.lines == [
        "a starting: it waits for its setUp", "b starting: it is being made",
        "c not started: the start has not come to it yet",
        "a starting: it waits for its initialize", "b starting: it waits for its initialize",
        "c starting: it is in setUp",
        "a started: –", "b started: –", "c starting: it is in splash",
      ])
  }

  @Test("a module that comes late is starting until it has been through its steps")
  func starting() async throws {
    try await hive.start()
    let seen = Journal()
    try await hive.probe("late") { _, _ in seen.write(lines["late"]?.launch ?? "–") }
    #expect(lines["late"]?.launch == "started")
    await hive.stop()
    #expect(seen.lines == ["starting", "starting", "starting", "–", "–"])
  }

  @Test("a name that failed is free again: what comes in its place starts, and what requires it")
  func replaced() async throws {
    try await hive.start(.skip)
    await #expect(throws: ModuleFailure.self) {
      try await hive.register(module: Crowded.self, name: "net")
    }
    await #expect(throws: LaunchError.self) {
      try await hive.register(module: Plain.self, name: "web", requires: ["net"])
    }
    #expect(lines.mapValues(\.launch) == ["net": "failed", "web": "not started"])
    await hive.unregister(module: "net")
    try await hive.register(module: Plain.self, name: "net")
    #expect(lines.mapValues(\.launch) == ["net": "started", "web": "started"])
  }

  @Test("a name that is switched off and that no module has is reported, with what may be meant")
  func switchedOffInVain() async throws {
    try await hive.register(module: Plain.self, name: "greeting")
    try await hive.register(module: Plain.self, name: "off")
    let report = try await hive.start(
      options: LaunchOptions(disabled: ["greetin", "zebra", "off"]))
    await hive.stop()
    let sentences = [
      "greetin is switched off, but no module is called that; did you mean greeting?",
      "zebra is switched off, but no module is called that",
    ]
    #expect(report.remarks == sentences)
    #expect(report.started == ["greeting"])
    #expect(sentences.allSatisfy(report.description.contains))
    #expect(hive.report().remarks == sentences)
    try hive.validate()
  }
}
