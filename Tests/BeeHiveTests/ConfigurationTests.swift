import BeeHive
import Glibc
import Testing

@Suite("Configuration", .serialized)
struct ConfigurationTests {
  private static let port = Configuration.Key<Int>("server.port")
  private static let hosts = Configuration.Key<[String]>("hosts", default: ["localhost"])
  private static let verbose = Configuration.Key<Bool>("verbose")

  private func withVariable<Result>(
    _ name: String, _ value: String, _ body: () throws -> Result
  ) rethrows -> Result {
    unsafe setenv(name, value, 1)
    defer { unsafe unsetenv(name) }
    return try body()
  }

  @Test("each layer stands before the next: run time, environment, files, defaults")
  func layers() throws {
    let settings = Configuration(defaults: ["server.port": .int(1)], environmentPrefix: "HIVETEST")
    #expect(try settings.value(Self.port) == 1)
    settings.add(file: "one.json", ["server": .object(["port": .int(2)])])
    settings.add(file: "two.json", ["server.port": .int(3)])
    #expect(try settings.value(Self.port) == 3)
    #expect(settings.layer(of: "server.port") == .file)
    try withVariable("HIVETEST_SERVER_PORT", "4") { () throws in
      #expect(try settings.value(Self.port) == 4)
      #expect(settings.layer(of: "server.port") == .environment)
      settings.set(.int(5), for: "server.port")
      #expect(try settings.value(Self.port) == 5)
    }
    settings.set(nil, for: "server.port")
    #expect(try settings.value(Self.port) == 3)
  }

  @Test("a missing setting is an error or a default, by choice")
  func missing() throws {
    let settings = Configuration(environmentPrefix: "HIVETEST")
    expectProblem(.missingSetting, saying: "HIVETEST_SERVER_PORT") {
      try settings.value(Self.port)
    }
    #expect(try settings.value(Self.hosts) == ["localhost"])
  }

  @Test(
    "a list in a text: commas between the elements, blanks around them are not part of them",
    arguments: [("80,443", [80, 443]), (" 80 ,\t443,", [80, 443]), (" , ", []), ("", [])])
  func lists(text: String, expected: [Int]) throws {
    let settings = Configuration(defaults: ["ports": .string(text)])
    #expect(try settings.value(Configuration.Key<[Int]>("ports")) == expected)
    #expect(try settings.value(Configuration.Key<[String]>("ports")) == expected.map { "\($0)" })
  }

  @Test("a value of the wrong form names the place that says it")
  func wrongForm() throws {
    let settings = Configuration()
    settings.add(file: "app.json", ["verbose": .string("perhaps"), "hosts": .array([.int(3)])])
    expectProblem(saying: "configuration verbose: app.json says \"perhaps\", which is no Bool") {
      try settings.value(Self.verbose)
    }
    expectProblem { try settings.value(Self.hosts) }
  }

  @Test("settings by name are read as a dictionary")
  func dictionary() throws {
    let settings = Configuration(defaults: ["limits": ["cart": 3, "wishes": "40"]])
    let key = Configuration.Key<[String: Int]>("limits")
    #expect(try settings.value(key) == ["cart": 3, "wishes": 40])
  }

  @Test("text of the environment is read as the key's type")
  func environment() throws {
    let settings = Configuration(environmentPrefix: "HIVETEST")
    try withVariable("HIVETEST_VERBOSE", "Yes") { () throws in
      #expect(try settings.value(Self.verbose))
    }
    try withVariable("HIVETEST_HOSTS", "a,b") { () throws in
      #expect(try settings.value(Self.hosts) == ["a", "b"])
    }
  }

  @Test("a source is asked each time, in its turn among the files, and may ask for settings itself")
  func source() throws {
    let settings = Configuration(defaults: ["host": "localhost"])
    let asked = Journal()
    settings.add(file: "behind.json", ["verbose": true])
    settings.add(source: "remote") { name in
      asked.write(name)
      return name == "server.port"
        ? (try? settings.value(Configuration.Key<String>("host"))).map { .string($0) } : nil
    }
    #expect(try settings.value(Self.verbose))
    expectProblem(saying: #"port: remote says "localhost", which is no Int"#) {
      try settings.value(Self.port)
    }
    settings.add(file: "before.json", ["server.port": 80])
    #expect(try settings.value(Self.port) == 80)
    #expect(asked.lines == ["verbose", "server.port", "host"])
  }
}
