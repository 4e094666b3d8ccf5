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

@Suite("The context of modules")
struct ContextTests {
  @Test("By default: production, the arguments of the program, no URL and no settings")
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

  @Test("Each step and event of a module gets the context of the start")
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

  @Test("A context is a value: a change of a copy stays in the copy; settings are shared")
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
