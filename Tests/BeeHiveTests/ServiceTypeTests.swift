import BeeHive
import TestSupport
import Testing

// These are reachable by name, so neither private nor fileprivate.
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
  private let hive = Hive()

  @Test(
    "Two ways of registering a type, or two spellings of it, are duplicates",
    arguments: [nil, "TypedSpeaker", "BeeHiveTests.TypedSpeaker"])
  func spellings(_ name: String?) throws {
    if let name {
      try hive.declare(name, by: "BeeHiveTests.TypedVoice")
    } else {
      try hive.register((any TypedSpeaker).self, as: TypedVoice.self, file: "Main.swift", line: 7)
    }
    let place = name == nil ? "Main.swift:7" : "hive.json services[0]"
    expectProblem(.duplicate, saying: "\(place) already provides it") {
      try hive.register((any TypedSpeaker).self) { _ in TypedVoice(hive: hive) }
    }
    #expect(try hive.service((any TypedSpeaker).self) is TypedVoice)
  }

  @Test("Another type of that name is another service")
  func namesakes() throws {
    try hive.register((any TypedSpeaker).self, as: TypedVoice.self)
    try hive.register((any TypedNamespace.TypedSpeaker).self, as: TypedNamespace.Voice.self)
    try hive.validate()
    #expect(try hive.service((any TypedNamespace.TypedSpeaker).self) is TypedNamespace.Voice)
  }

  // MARK: Random registrations

  /// The properties of one random registration.
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
    for round in 0..<Effort.times(400, full: 10_000) {
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
    let (name, priority) = (choice.name, choice.priority)
    let service = choice.isWriter ? "TypedWriter" : "TypedSpeaker"
    let declared = [
      (service, "TypedVoice"), ("BeeHiveTests.\(service)", "BeeHiveTests.TypedVoice"),
      (service, "BeeHiveTests.TypedPen"), (service, "NoSuchType"),
      ("TypedWriter & TypedSpeaker", "TypedVoice"),
      ("BeeHiveTests.TypedWriter & TypedSpeaker", "TypedVoice"), ("TypedAlias", "TypedVoice"),
      (choice.isWriter ? "Int" : "Swift.Int", "Bound"), (service, "Bound"),
    ]
    if choice.way < declared.count {
      let (service, implementation) = declared[choice.way]
      return try hive.declare(
        service, by: implementation, name: name, priority: priority, in: "\(number).json")
    }
    let (writer, speaker) = ((any TypedWriter).self, (any TypedSpeaker).self)
    switch (choice.isWriter, choice.way - declared.count) {
    case (true, 0):
      try hive.register(writer, as: TypedPen.self, name: name, priority: priority)
    case (true, 1):
      try hive.register(writer, name: name, priority: priority) { TypedPen(hive: $0) }
    case (true, 2):
      try hive.register(writer, name: name, priority: priority, instance: TypedVoice(hive: hive))
    case (false, 0...1):
      try hive.register(speaker, as: TypedVoice.self, name: name, priority: priority)
    default:
      try hive.register(speaker, name: name, scope: .singleton, priority: priority) {
        TypedVoice(hive: $0)
      }
    }
  }

  /// Returns whether a type has the entry among its implementations, and a lookup by its given name works.
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
