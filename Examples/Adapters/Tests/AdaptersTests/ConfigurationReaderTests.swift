import Adapters
import BeeHive
import Configuration
import Testing

@Suite("Settings from swift-configuration")
struct ConfigurationReaderTests {
  private typealias Key = BeeHive.Configuration.Key

  @Test("every form a provider can have is read as the key's type")
  func forms() throws {
    let settings = BeeHive.Configuration(defaults: ["server.port": 80, "name": "default"])
    settings.add(
      ConfigReader(
        provider: InMemoryProvider(values: [
          "server.port": 8080, "name": "shop", "rate": 0.5, "open": true,
          "hosts": .init(.stringArray(["a", "b"]), isSecret: false),
          "ports": .init(.intArray([1, 2]), isSecret: false),
          "rates": .init(.doubleArray([0.5, 2]), isSecret: false),
          "flags": .init(.boolArray([true, false]), isSecret: false),
        ])))
    #expect(try settings.value(Key<Int>("server.port")) == 8080)
    #expect(try settings.value(Key<String>("name")) == "shop")
    #expect(try settings.value(Key<Double>("rate")) == 0.5)
    #expect(try settings.value(Key<Bool>("open")))
    #expect(try settings.value(Key<[String]>("hosts")) == ["a", "b"])
    #expect(try settings.value(Key<[Int]>("ports")) == [1, 2])
    #expect(try settings.value(Key<[Double]>("rates")) == [0.5, 2])
    #expect(try settings.value(Key<[Bool]>("flags")) == [true, false])
    #expect(settings.layer(of: "name") == .file)
  }

  @Test("what no provider says comes from the layers behind, and a wrong form names the source")
  func layers() throws {
    let settings = BeeHive.Configuration(defaults: ["currency": "EUR"])
    let provider = MutableInMemoryProvider(initialValues: ["port": "http"])
    settings.add(ConfigReader(provider: provider), named: "the shop's settings")
    #expect(try settings.value(Key<String>("currency")) == "EUR")
    #expect(settings.layer(of: "currency") == .defaults)
    let error = #expect(throws: Problem.self) { try settings.value(Key<Int>("port")) }
    #expect(
      error?.message == #"configuration port: the shop's settings says "http", which is no Int"#)
    provider.setValue("8080", forKey: "port")
    #expect(try settings.value(Key<Int>("port")) == 8080)
    settings.set(9090, for: "port")
    #expect(try settings.value(Key<Int>("port")) == 9090)
  }

  @Test("a module reads the host's settings in its context")
  func module() async throws {
    let settings = BeeHive.Configuration()
    settings.add(ConfigReader(provider: InMemoryProvider(values: ["greeting": "hello"])))
    let hive = Hive()
    try await hive.register(module: "greeter") { _ in Greeter() }
    let report = try await hive.start(Context(hive: hive, configuration: settings))
    #expect(report.failures.isEmpty)
    #expect(report.started == ["greeter"])
    await hive.stop()
  }
}

/// A module that does not start without its setting.
private struct Greeter: Module {
  func setUp(_ context: Context) async throws {
    #expect(
      try context.configuration.value(BeeHive.Configuration.Key<String>("greeting")) == "hello")
  }
}
