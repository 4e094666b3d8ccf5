import BeeHive
import Testing

private protocol Mail: Sendable { var server: String { get } }
private struct RealMail: Mail { let server = "real" }
private struct MockMail: Mail { let server: String }

/// A singleton that keeps the mail service that it gets.
private final class PostOffice: Sendable {
  let mail: any Mail
  init(_ mail: any Mail) { self.mail = mail }
}

@Suite("Overrides for tests")
struct OverridesTests {
  private static func hive() throws -> Hive {
    let hive = Hive()
    try hive.register((any Mail).self, scope: .singleton) { _ in RealMail() }
    try hive.register(PostOffice.self, scope: .singleton) { hive in PostOffice(try hive.service()) }
    return hive
  }

  @Test("A task that outlives its override gets the services of the Hive")
  func outliving() async throws {
    let hive = try Self.hive()
    let (ended, goOn) = AsyncStream<Void>.makeStream()
    let task = await hive.overridingInTask((any Mail).self, with: MockMail(server: "mock")) {
      Task {
        for await _ in ended { break }
        return try (0..<2).map { _ in try hive.service(PostOffice.self).mail.server }
      }
    }
    goOn.yield()
    #expect(try await task.value == ["real", "real"])
    #expect(try hive.service((any Mail).self).server == "real")
  }

  @Test("Tests that run beside each other each have their own")
  func tasks() async throws {
    let hive = try Self.hive()
    try await withThrowingTaskGroup(of: Void.self) { group in
      for number in 0..<200 {
        group.addTask {
          try await hive.overridingInTask((any Mail).self, with: MockMail(server: "\(number)")) {
            await Task.yield()
            #expect(try hive.service((any Mail).self).server == "\(number)")
            let office = try hive.service(PostOffice.self)
            #expect(office.mail.server == "\(number)")
            // A task that this task starts has the override too, and the same singleton.
            let inner = try await Task { try hive.service(PostOffice.self) }.value
            #expect(inner === office)
          }
        }
        if number % 8 == 0 {
          group.addTask { () async throws in
            #expect(try hive.service(PostOffice.self).mail.server == "real")
          }
        }
      }
      try await group.waitForAll()
    }
    #expect(try hive.service(PostOffice.self).mail.server == "real")
    #expect(hive.entries.count == 2)
  }
}
