import BeeHive
import Testing

private enum Tenant: Context.Key {
  static let defaultValue = "nobody"
}

private enum Quota: Context.Key {
  static let defaultValue = 10
}

private enum Region: Context.Key {
  static let defaultValue: String? = "north"
}

@Suite("What modules are told of their host")
struct ContextTests {
  @Test("unless it is told otherwise: production, the program's arguments, no URL, no settings")
  func defaults() {
    let context = Context(hive: Hive())
    #expect(context.environment == .production)
    #expect(context.arguments == CommandLine.arguments)
    #expect(context.launchURL == nil)
    #expect(context[Tenant.self] == "nobody")
    #expect(context[Region.self] == "north")
    #expect(throws: Problem.self) {
      try context.configuration.value(Configuration.Key<Int>("port"))
    }
  }

  @Test("a module sees the context of the start, in each step and event")
  func told() async throws {
    let hive = Hive()
    let journal = Journal()
    @Sendable func note(_ context: Context) {
      journal.write(
        "\(context.environment.name) \(context.launchURL ?? "-") \(context.arguments) "
          + "\(context[Tenant.self]) \(context[Quota.self]) \(context.hive === hive)")
    }
    try await hive.probe("a") { _, context in
      note(context)
    } answer: { _, context in
      note(context)
      return .handled
    }
    var context = Context(
      hive: Hive(), environment: .stage, arguments: ["shop", "-v"], launchURL: "shop://cart")
    context[Tenant.self] = "ada"
    try await hive.start(context)
    await hive.trigger(.openURL("shop://basket"))
    await hive.stop()
    #expect(journal.lines.count == 6)
    #expect(Set(journal.lines) == [#"stage shop://cart ["shop", "-v"] ada 10 true"#])
  }

  @Test("it is a value: what one changes, another does not see; settings are shared")
  func value() throws {
    let first = Context(hive: Hive(), configuration: Configuration(defaults: ["port": .int(80)]))
    var second = first
    second[Quota.self] = 3
    second.environment = .test
    second.configuration.set(.int(8080), for: "port")
    #expect(first[Quota.self] == 10 && second[Quota.self] == 3)
    #expect(first.environment == .production)
    #expect(try first.configuration.value(Configuration.Key<Int>("port")) == 8080)
  }
}
