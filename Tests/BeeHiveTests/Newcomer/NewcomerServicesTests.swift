import BeeHive
import Testing

// A shop as somebody writes it on the first day: one import, no attribute, no annotation of ours.
// This folder uses every public name of BeeHive at least once. Otherwise a test of `Tests/ProjectTests` fails.
private protocol Till: Sendable { func price(of item: String) -> Int }

private final class PaperTill: Till, Injectable {
  init(hive: Hive) {}
  func price(of item: String) -> Int { item.count * 100 }
}

private struct SaleTill: Till { func price(of item: String) -> Int { 1 } }

private actor Ledger {
  private var total = 0
  func add(_ cents: Int) -> Int {
    total += cents
    return total
  }
}

private struct Basket: Sendable { let owner: String }

@Suite("A newcomer and services")
struct NewcomerServicesTests {
  private let hive = Hive()

  @Test("register a type, a factory and an instance; ask for them")
  func askForThem() async throws {
    try hive.register((any Till).self, as: PaperTill.self, scope: .singleton)
    try hive.register(Ledger.self, scope: Scope.singleton) { _ in Ledger() }
    try hive.register(Int.self, name: "size", instance: 4)
    try hive.register(Basket.self, taking: String.self) { _, owner in Basket(owner: owner) }

    let till = try hive.service((any Till).self)
    let inferred: any Till = try hive.service()
    #expect(till.price(of: "tea") == inferred.price(of: "tea"))
    #expect(await (try hive.service(Ledger.self)).add(300) == 300)
    #expect(try hive.service(Int.self, name: "size") == 4)
    #expect(try hive.service(Basket.self, with: "Ada").owner == "Ada")
    #expect(try hive.withService((any Till).self) { $0.price(of: "tea") } == 300)
  }

  @Test("several of one service, scopes, and one for a test")
  func several() throws {
    try hive.register((any Till).self, as: PaperTill.self, priority: 1)
    try hive.register((any Till).self, name: "sale", instance: SaleTill())
    #expect(try hive.all(of: (any Till).self).count == 2)
    let known = hive.implementations(of: (any Till).self)
    #expect(known.map { "\($0.type, default: "?")" } == ["PaperTill", "SaleTill"])
    #expect(known.first?.entry.state == .bound)
    #expect(hive.conformers(to: (any Till).self).count == 2)

    try hive.register(Ledger.self, scope: .scoped) { _ in Ledger() }
    let visit: ServiceScope = hive.makeScope()
    #expect(try visit.service(Ledger.self) === visit.service(Ledger.self))

    #expect(try hive.service((any Till).self).price(of: "tea") == 300)

    #expect(hive.remove((any Till).self) == 1)
    #expect(hive.removeServices(named: "BeeHiveTests.Till") == 1)
  }

  @Test("what goes wrong is a value that says what to do")
  func errors() async throws {
    await #expect(throws: Problem.self) { try await hive.replace(image: "libtill.so") }
    do {
      _ = try hive.service((any Till).self)
      Issue.record("nothing provides it")
    } catch {
      // Typed throws: no cast.
      #expect(error.code == ServiceError.Code.notFound)
      #expect(error.service == "Till" && error.message.contains("register it"))
      #expect(error.sources.isEmpty && error.underlying == nil)
      #expect(error.description == "service Till: \(error.message)")
    }
    try hive.register(Int.self, instance: 1)
    do {
      try hive.register(Int.self, instance: 2)
      Issue.record("a duplicate")
    } catch {
      #expect(error.code == Problem.Code.duplicate && error.code.rawValue == "duplicate")
      #expect(error.related.count == 1)
    }
  }

  @Test("C services, by name")
  func c() {
    #expect(throws: ServiceError.self) {
      _ = unsafe try hive.service("Speaker", as: UnsafePointer<CInt>.self)
    }
    #expect(throws: ServiceError.self) {
      _ = unsafe try hive.service("Speaker", as: OpaquePointer.self)
    }
    unsafe withUnsafePointer(to: 1 as CInt) { pointer in
      unsafe #expect(!hive.destroy(pointer, of: "Speaker"))
    }
  }

  @Test("scopes within each other, services that take their time, overrides of a task")
  func scopesAndTasks() async throws {
    struct Connection: Disposable {
      let hive: Hive
      func dispose() { hive.profiler.measure("connection", "dispose") {} }
    }
    try hive.register(Connection.self, scope: .scoped) { Connection(hive: $0) }
    let session = hive.makeScope()
    let request: ServiceScope = session.makeScope()
    #expect(request.outer === session && request.hive === hive)
    _ = try request.service(Connection.self)
    session.end()
    #expect(hive.profiler.spans.map(\.event) == ["dispose"])

    try hive.register(Int.self, scope: .singleton, loading: { _ async throws in 7 })
    #expect(try await hive.load(Int.self) == 7)
    let mocked = try await hive.overridingInTask(Int.self, with: 8) { () async throws in
      try hive.service(Int.self)
    }
    #expect(mocked == 8)
  }

  @Test("the list, the report, and the checks before a start")
  func report() throws {
    try hive.register(Int.self, file: "Shop/Main.swift", line: 7, instance: 1)
    let registrations = Registrations(
      moduleClasses: [Registrations.Module(moduleClass: "Shop.Vanished", moduleLevel: .basic)],
      services: [Registrations.Service(service: "Swift.String", impl: "Shop.View")])
    try hive.register(registrations, file: "hive.json")
    hive.bind("Shop.View") { _ in "a view" }

    for entry: Entry in hive.entries {
      let (state, source): (Entry.State, Source) = (entry.state, entry.source)
      switch state {
      case .bound: #expect("\(entry)".hasPrefix("bound"))
      case .accepted(let problem), .rejected(let problem): #expect(!problem.message.isEmpty)
      }
      switch source {
      case .image(let place): Issue.record("no image is loaded here: \(place)")
      case .code(let file, let line): #expect("\(file):\(line)" == "Shop/Main.swift:7")
      case .file(let name, let keyPath): #expect("\(name) \(keyPath)".hasPrefix("hive.json "))
      }
      #expect(entry.implementation == nil || entry.implementation == "Shop.View")
      #expect(
        !entry.fields.contains("priority=1") && (entry.kind == .module || entry.kind == .service))
    }
    let trace: EntryTrace = hive.why("service:Absent")
    #expect(trace.isLost && trace.json.contains("lost") && "\(trace)".contains("lost"))
    let report: Report = hive.report()
    let line: Report.Line? = report.entries.first
    #expect(line?.state == "bound" && line?.kind == "service" && line?.name == "Swift.Int")
    #expect(line?.origin == "Shop/Main.swift:7" && line?.section == nil && line?.index == nil)
    #expect(report.images.isEmpty && report.order.isEmpty && report.lifts.isEmpty)
    #expect(report.remarks.isEmpty)
    #expect(!report.isClean && report.json.contains("no-such-type"))
    #expect(hive.imageProblems.isEmpty)

    let invalid = #expect(throws: ValidationError.self) { try hive.validate() }
    #expect(invalid?.report.entries.count == 3)
    hive.refresh()
  }

  @Test("a file, before somebody loads it, and the Hive of the process")
  func unloaded() throws {
    #expect(Hive.process === Hive.process)
    let file = try UnloadedFile("/proc/self/exe")
    #expect(file.path == "/proc/self/exe" && !file.entries.isEmpty)
    #expect(file.lack(of: .module, "Shop.Nothing")?.contains("does not declare") == true)
  }
}
