import BeeHive
import Testing

/// What can be wrong before a start, each in a Hive of its own.
private struct Flaw: CustomTestStringConvertible, Sendable {
  var testDescription: String
  var first: String
  var plant: @Sendable (Hive) async throws -> Void
}

@Suite("A strict Hive throws the first failure; any other lists them all")
struct StrictnessTests {
  private static let flaws = [
    Flaw(testDescription: "a duplicate", first: "already provides it") { hive in
      try hive.register(Int.self, instance: 1)
      try? hive.register(Int.self, instance: 2)
    },
    Flaw(testDescription: "an unknown type", first: "no type of this name yet") { hive in
      try hive.register(
        Registrations(moduleClasses: [.init(moduleClass: "Shop.Vanished")]), file: "hive.json")
    },
    Flaw(testDescription: "a missing requirement", first: "requires log") { hive in
      try await hive.register(module: "a", requires: ["log"]) { _ in Probe() }
    },
    Flaw(testDescription: "a circle", first: "cycle: a → a") { hive in
      try await hive.register(module: "a", requires: ["a"]) { _ in Probe() }
    },
  ]

  @Test("a start throws it before any module is made", arguments: flaws)
  fileprivate func start(flaw: Flaw) async throws {
    let hive = Hive()
    let made = Journal()
    try await hive.register(module: "innocent") { _ in
      made.write("made")
      return Probe()
    }
    try await flaw.plant(hive)
    let lenient = LaunchOptions(onFailure: .skip)
    #expect(try await hive.start(options: lenient).started.contains("innocent"))
    await hive.stop()
    #expect(made.take() == ["made"])

    hive.isStrict = true
    let error = await #expect(throws: LaunchError.self) { try await hive.start(options: lenient) }
    let lines = error?.description.split(separator: "\n") ?? []
    #expect(lines.count == 1)
    #expect(lines.first?.contains(flaw.first) == true, "\(lines)")
    #expect(made.lines.isEmpty)

    hive.isStrict = false
    #expect(try await hive.start(options: lenient).started.contains("innocent"))
    await hive.stop()
  }

  @Test("a rejected entry stops no start, whatever onFailure says, unless the Hive is strict")
  func rejectedEntry() async throws {
    let hive = Hive()
    try await Self.flaws[0].plant(hive)
    try await hive.register(module: "a") { _ in Probe() }
    for policy in [FailurePolicy.stop, .skip, .continue] {
      hive.isStrict = false
      #expect(try await hive.start(options: LaunchOptions(onFailure: policy)).started == ["a"])
      await hive.stop()
      hive.isStrict = true
      await #expect(throws: LaunchError.self) {
        try await hive.start(options: LaunchOptions(onFailure: policy))
      }
    }
  }

  @Test("only the first of several is thrown; validate has them all")
  func firstAlone() async throws {
    let hive = Hive()
    for flaw in Self.flaws.prefix(3) { try await flaw.plant(hive) }
    hive.isStrict = true
    let error = await #expect(throws: LaunchError.self) { try await hive.start() }
    let all = #expect(throws: ValidationError.self) { try hive.validate() }
    let lines = all?.description.split(separator: "\n") ?? []
    #expect(lines.count == 3)
    // A start that nobody checked stops at the first module that cannot, which is another one.
    #expect(error?.description.split(separator: " ") == lines.first?.split(separator: " "))
  }

  @Test("a file throws the first entry that is refused, and its others are registered")
  func file() throws {
    let file = Registrations(services: [
      .init(service: "BeeHiveTests.Orchard", impl: "BeeHiveTests.Desert"),
      .init(service: "BeeHiveTests.Orchard", impl: "BeeHiveTests.AppleOrchard"),
    ])
    let lenient = Hive()
    try lenient.register(file, file: "hive.json")
    let strict = Hive()
    strict.isStrict = true
    let problem = #expect(throws: Problem.self) { try strict.register(file, file: "hive.json") }
    #expect(problem?.code == .doesNotConform)
    for hive in [lenient, strict] {
      #expect(hive.entries.count == 2)
      #expect(try hive.service((any Orchard).self) is AppleOrchard)
    }
  }

  @Test("a Hive that is whole starts, strict or not")
  func whole() async throws {
    let hive = Hive()
    hive.isStrict = true
    try await hive.register(module: "a") { _ in Probe() }
    #expect(try await hive.start().started == ["a"])
    await hive.stop()
  }
}
