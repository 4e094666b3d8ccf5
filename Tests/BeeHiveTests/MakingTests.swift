import BeeHive
import Foundation
import TestSupport
import Testing

private struct Log: Sendable {}
private struct Database: Sendable {}
private struct Account: Sendable {}
private protocol Greeting: Sendable {}
private struct English: Greeting, Injectable {
  init(hive: Hive) throws { _ = try hive.service(Log.self) }
}
private struct Session: Disposable {
  let journal: Journal
  func dispose() { journal.write("dispose session") }
}

@Suite("A check that makes each service once", .mayHang)
struct MakingTests {
  private let hive = Hive()

  @Test("makes all, keeps none, and disposes of what a scope made")
  func clean() async throws {
    let journal = Journal()
    try hive.register(Account.self) { hive in
      journal.write("account")
      _ = try hive.service(Database.self)
      _ = try hive.service(Session.self)
      return Account()
    }
    try hive.register(Log.self, scope: .singleton) { _ in
      journal.write("log")
      return Log()
    }
    try hive.register(Session.self, scope: .scoped) { hive in
      _ = try hive.service(Log.self)
      journal.write("session")
      return Session(journal: journal)
    }
    try hive.loading(Database.self) { _ in
      await Task.yield()
      journal.write("database")
      return Database()
    }
    try hive.register((any Greeting).self, as: English.self, scope: .singleton)
    try hive.register(String.self, taking: Int.self) { _, number in "\(number)" }

    try await hive.validate(making: true)

    #expect(journal.lines.sorted() == ["account", "database", "dispose session", "log", "session"])
    // Nothing was kept, so the singletons are made anew.
    _ = try hive.service(Log.self)
    _ = try await hive.load(Database.self)
    #expect(journal.lines.sorted().filter { $0 == "log" || $0 == "database" }.count == 4)
  }

  @Test("names what cannot be made, with what else is wrong; without making, factories do not run")
  func broken() async throws {
    try hive.register(Log.self, file: "App/Log.swift", line: 3) { _ in throw Broken() }
    try hive.register(Account.self, file: "App/Account.swift", line: 4) { hive in
      _ = try hive.service(Log.self)
      return Account()
    }
    try hive.register(Database.self, file: "App/Database.swift", line: 5) { _ in Database() }

    try await hive.validate(making: false)
    let error = await #expect(throws: ValidationError.self) {
      try await hive.validate(making: true)
    }

    let report = try #require(error).report
    #expect(report.entries.map(\.code) == ["creation-failed", "creation-failed", nil])
    #expect(report.entries[0].reason == "App/Log.swift:3 failed to make it: Broken()")
    #expect(report.entries[1].reason?.contains("App/Log.swift:3") == true)
    #expect(error?.description.contains("Database") == false)
  }

  @Test("C: what a factory made is destroyed, one that answers null is named, a table is read")
  func library() async throws {
    let path = try Compiler.library(Repository.fixture("Libraries/making.c"), as: "making.so")
    let library = try OpenLibrary(path)
    let hive = Hive(imagesWhere: { $0 == path })

    let error = await #expect(throws: ValidationError.self) {
      try await hive.validate(making: true)
    }

    let failures = try #require(error).report.entries.filter { $0.code != nil }
    #expect(failures.map(\.name) == ["Disk", "Pool", "Weak"])
    #expect(failures.map(\.code) == ["creation-failed", "scoped-need", "creation-failed"])
    #expect(failures.last?.reason?.contains("scope=scoped") == true)
    #expect(try library.call("counts") == 33)

    // Validation sees the library's declarations without making anything.
    let seen = #expect(throws: ValidationError.self) { try hive.validate() }
    #expect(
      seen?.description.contains(
        "singleton service Pool needs the scoped service Connection (making.so BeehiveRecords[")
        == true)
    #expect(try library.call("counts") == 33)
  }
}
