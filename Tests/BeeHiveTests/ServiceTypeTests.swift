import BeeHive
import TestSupport
import Testing

// Reachable by name, so neither private nor fileprivate.
protocol TypedSpeaker: Sendable {}
protocol TypedWriter: Sendable {}
struct TypedVoice: TypedSpeaker, TypedWriter, Injectable { init(hive: Hive) {} }
struct TypedPen: TypedWriter, Injectable { init(hive: Hive) {} }
enum TypedNamespace {
  protocol TypedSpeaker: Sendable {}
  struct Voice: TypedSpeaker, Injectable { init(hive: Hive) {} }
}

@Suite("A service is a type, whatever it is called")
struct ServiceTypeTests {
  private static let module = "BeeHiveTests"

  @Test("Two ways of registering one type are duplicates, and the error has the place of the first")
  func ways() throws {
    let hive = Hive()
    let line = #line + 1
    try hive.register((any TypedSpeaker).self, as: TypedVoice.self)
    let error = #expect(throws: Problem.self) {
      try hive.register((any TypedSpeaker).self) { _ in TypedVoice(hive: hive) }
    }
    #expect(error?.code == .duplicate)
    #expect(error?.message.contains("ServiceTypeTests.swift:\(line) already provides it") == true)
    #expect(try hive.service((any TypedSpeaker).self) is TypedVoice)
  }

  @Test("So are two spellings of it", arguments: ["TypedSpeaker", "BeeHiveTests.TypedSpeaker"])
  func spellings(_ name: String) throws {
    let hive = Hive()
    try hive.register(
      Registrations(services: [.init(service: name, impl: "\(Self.module).TypedVoice")]),
      file: "hive.json")
    let error = #expect(throws: Problem.self) {
      try hive.register((any TypedSpeaker).self) { _ in TypedVoice(hive: hive) }
    }
    #expect(error?.code == .duplicate)
    #expect(error?.message.hasPrefix("hive.json services[0] already provides it") == true)
    #expect(try hive.service((any TypedSpeaker).self) is TypedVoice)
  }

  @Test("Another type of that name is another service")
  func namesakes() throws {
    let hive = Hive()
    try hive.register((any TypedSpeaker).self, as: TypedVoice.self)
    try hive.register((any TypedNamespace.TypedSpeaker).self, as: TypedNamespace.Voice.self)
    try hive.validate()
    #expect(try hive.service((any TypedNamespace.TypedSpeaker).self) is TypedNamespace.Voice)
  }

  @Test("The second has its turn when the first goes")
  func turns() throws {
    let hive = Hive()
    try hive.register((any TypedWriter).self, as: TypedVoice.self)
    #expect(throws: Problem.self) {
      try hive.register((any TypedWriter).self) { _ in TypedPen(hive: hive) }
    }
    #expect(try hive.service((any TypedWriter).self) is TypedVoice)
    #expect(hive.remove((any TypedWriter).self) == 2)
    #expect(throws: ServiceError.self) { try hive.service((any TypedWriter).self) }
  }

  // MARK: Random registrations

  /// What one random registration says.
  private struct Choice {
    var isWriter: Bool
    var name: String?
    var priority: Int
    var way: Int

    init(_ generator: inout SeededGenerator) {
      isWriter = Bool.random(using: &generator)
      name = [nil, nil, "a", "b"].randomElement(using: &generator) ?? nil
      priority = Int.random(in: 0...1, using: &generator)
      way = Int.random(in: 0..<14, using: &generator)
    }
  }

  @Test("validate() is clean exactly when each service that was declared is found as declared")
  func validation() throws {
    var generator = SeededGenerator(seed: 0x5e7)
    var clean = 0
    for round in 0..<Effort.times(1_000, full: 10_000) {
      let hive = Hive()
      let choices = (0..<Int.random(in: 1...4, using: &generator)).map { _ in
        Choice(&generator)
      }
      hive.bind("Bound") { _ in 7 }
      for (number, choice) in choices.enumerated() { try? add(choice, number, to: hive) }
      let isClean = (try? hive.validate()) != nil
      let isFound = hive.entries.allSatisfy { entry in
        finds(entry, as: (any TypedSpeaker).self, in: hive)
          || finds(entry, as: (any TypedWriter).self, in: hive)
          || finds(entry, as: (any TypedSpeaker & TypedWriter).self, in: hive)
          || finds(entry, as: Int.self, in: hive)
      }
      #expect(isClean == isFound, "round \(round): \(choices)\n\(hive.report())")
      clean += isClean ? 1 : 0
    }
    #expect(clean > 100)
  }

  private func add(_ choice: Choice, _ number: Int, to hive: Hive) throws {
    let service = choice.isWriter ? "TypedWriter" : "TypedSpeaker"
    func file(_ service: String, _ implementation: String) throws {
      try hive.register(
        Registrations(services: [
          .init(
            service: service, impl: implementation, name: choice.name, priority: choice.priority)
        ]), file: "\(number).json")
    }
    switch choice.way {
    case 0: try file(service, "TypedVoice")
    case 1: try file("\(Self.module).\(service)", "\(Self.module).TypedVoice")
    case 2: try file(service, "\(Self.module).TypedPen")
    case 3: try file(service, "NoSuchType")
    case 9: try file("TypedWriter & TypedSpeaker", "TypedVoice")
    case 10: try file("\(Self.module).TypedWriter & TypedSpeaker", "TypedVoice")
    case 11: try file("TypedAlias", "TypedVoice")
    case 12: try file(choice.isWriter ? "Int" : "Swift.Int", "Bound")
    case 13: try file(service, "Bound")
    case 4 where choice.isWriter:
      try hive.register(
        (any TypedWriter).self, as: TypedPen.self, name: choice.name, priority: choice.priority)
    case 5 where choice.isWriter:
      try hive.register((any TypedWriter).self, name: choice.name, priority: choice.priority) {
        TypedPen(hive: $0)
      }
    case 6 where choice.isWriter:
      try hive.register(
        (any TypedWriter).self, name: choice.name, priority: choice.priority,
        instance: TypedVoice(hive: hive))
    case 4, 5:
      try hive.register(
        (any TypedSpeaker).self, as: TypedVoice.self, name: choice.name,
        priority: choice.priority)
    default:
      try hive.register(
        (any TypedSpeaker).self, name: choice.name, scope: .singleton, priority: choice.priority
      ) { TypedVoice(hive: $0) }
    }
  }

  /// Whether a type has the entry among its implementations, and a lookup by its given name works.
  private func finds<Service: Sendable>(
    _ entry: Entry, as type: Service.Type, in hive: Hive
  ) -> Bool {
    guard hive.implementations(of: type).contains(where: { $0.entry == entry }) else {
      return false
    }
    guard let name = entry.attributes.name else { return (try? hive.service(type)) != nil }
    return (try? hive.service(type, name: name)) != nil
  }
}
