import BeeHive
import Foundation
import Testing

private struct Port: ConfigurationConvertible, Equatable {
  var number: Int
  init?(configuration value: ConfigurationValue) {
    guard let number = Int(configuration: value) else { return nil }
    self.number = number
  }
}

private struct QuietModule: Module {}

@Suite("A newcomer runs a Hive, watches it and configures it")
struct NewcomerRunTests {
  private let hive = Hive()

  @Test("run until somebody stops it")
  func run() async throws {
    try await hive.register(module: QuietModule.self, name: "quiet")
    let options = RunOptions(
      launch: LaunchOptions(onFailure: .stop), signals: [], tearDownLimit: .seconds(600),
      memoryPressure: MemoryPressure.none)
    let (starts, started) = AsyncStream<Void>.makeStream()
    hive.observe { if case .started = $0 { started.yield() } }
    let running = Task { try await hive.run(options: options) }
    for await _ in starts { break }
    await hive.stop()
    let report: RunReport = try await running.value
    #expect(report.cause == RunReport.Cause.stopped && report.isComplete)
    #expect(report.launch?.started == ["quiet"] && report.failures.isEmpty)
    #expect(report.hanging.isEmpty && "\(report)" == "stopped; every module was torn down")
    #expect(report.memoryPressure == "memory pressure: not observed")
  }

  @Test("signals and memory, by option")
  func signals() {
    let terminating = RunOptions().signals
    #expect(terminating == [.terminate, .interrupt])
    let others: [Signal] = [.suspend, .resume, .quit, .hangUp, .user1, .user2]
    #expect(
      others.map(\.description) == [
        "SIGTSTP", "SIGCONT", "SIGQUIT", "SIGHUP", "SIGUSR1", "SIGUSR2",
      ])
    var options = RunOptions()
    options.memoryPressure = .automatic
    options.memoryPressure = .file("/proc/pressure/memory")
    options.signals = [Signal(rawValue: 9)]
    #expect(options.signals.map(\.rawValue) == [9])
  }

  @Test("observers, the profiler and the watchdog")
  func observation() async throws {
    let journal = Journal()
    let observation: Handle = hive.observe(fromStart: true) { (notice: HiveNotice) in
      switch notice {
      case .stepBegan(let step):
        journal.write("\(step.module).\(step.event)")
      case .stepEnded(let ended, _, let failure):
        let step: ModuleStep = ended
        #expect(step.number > 0 && failure == nil)
      case .surplusReply(let event, _, let winner): Issue.record("\(event): \(winner) was first")
      case .moduleIsSlow(let module, let event, let elapsed):
        Issue.record("\(module) has been in \(event) for \(elapsed)")
      default: break
      }
    }
    try await hive.register(module: QuietModule.self, name: "quiet")
    try await hive.start(options: LaunchOptions(watchdog: .seconds(600)))
    observation.cancel()
    await hive.stop()
    #expect(journal.lines == ["quiet.setUp", "quiet.initialize", "quiet.splash"])

    let profiler: Profiler = hive.profiler
    let span: Profiler.Span = try #require(profiler.spans.first)
    #expect(span.module == "quiet" && span.event == "setUp" && span.run == 1 && span.lane == 0)
    #expect(span.start >= .zero && span.duration >= .zero && span.isSuccess)
    #expect(profiler.table().contains("quiet"))
    #expect(profiler.chromeTrace().contains("traceEvents"))
  }

  @Test("settings in layers, with types")
  func configuration() throws {
    let settings = Configuration(
      defaults: ["port": 80, "tls": false], environmentPrefix: "SHOPTEST")
    let port = Configuration.Key<Port>("port")
    #expect(port.name == "port" && port.defaultValue == nil)
    settings.add(file: "shop.json", ["port": 8080, "hosts": ["a", "b"], "ratio": 0.5])
    #expect(try settings.value(port).number == 8080)
    #expect(settings.layer(of: "port") == Configuration.Layer.file)
    settings.set("443", for: "port")
    #expect(try settings.value(port).number == 443)
    #expect(try settings.value(Configuration.Key<[String]>("hosts")) == ["a", "b"])
    #expect(try settings.value(Configuration.Key<Double>("ratio")) == 0.5)
    #expect(try !settings.value(Configuration.Key("tls", default: true)))
    #expect(try settings.value(Configuration.Key("name", default: "shop")) == "shop")
    let unset = #expect(throws: Problem.self) {
      try settings.value(Configuration.Key<String>("name"))
    }
    #expect(unset?.code == .missingSetting && unset?.message.contains("SHOPTEST_NAME") == true)
  }

  @Test("registrations from a file, with the decoder that is at hand")
  func files() throws {
    let json = #"{"moduleClasses": [{"moduleClass": "A"}, {"moduleClass": 3}]}"#
    let error = #expect(throws: DecodingError.self) {
      try JSONDecoder().decode(Registrations.self, from: Data(json.utf8))
    }
    #expect(error?.keyPath == "moduleClasses[1].moduleClass")
    var file = Registrations(urlGlobalScheme: "shop")
    file.services = [.init(service: "S", impl: "I", name: "n", scope: .weak, priority: 2)]
    file.moduleClasses = [
      .init(moduleClass: "M", moduleLevel: .normal, modulePriority: 1, requires: ["L"], after: [])
    ]
    let copy = try JSONDecoder().decode(Registrations.self, from: JSONEncoder().encode(file))
    #expect(copy == file && copy.urlGlobalScheme == "shop")
    #expect(copy.moduleClasses.first?.modulePriority == 1)
    #expect(copy.moduleClasses.first?.moduleLevel == .normal)
    #expect(copy.services.first?.impl == "I" && copy.services.first?.scope == .weak)
  }
}
