import Foundation
import TestSupport

/// A library with room for entries, linked once, and the expected results of random entries in that room.
///
/// The linker makes the slots lead to texts, and the records to structures. A copy of the file then gets other bytes in
/// its texts and records.
struct PlantedLibrary {
  static let slots = 6
  static let textSize = 128
  static let records = 14
  static let recordSize = 256
  /// The number of records whose context leads to a structure. The others have a null context.
  static let recordsWithContext = structures.count

  /// The structures, and the code that rejects a record of each abi that leads to one.
  static let structures = [
    structure(".long 24, 1; .quad 16, zeros", badContext: "target", badCode: "factory route"),
    structure(".long 24, 1; .quad code, 0", badContext: "table module target"),
    structure(".long 24, 1; .quad 48, operations", badContext: "target", badCode: "factory route"),
    structure(
      ".long 32, 1; .quad 16, 1, actions", badContext: "table module", badCode: "factory route"),
    structure(".long 16, 1; .quad code", badContext: "table module factory target"),
    structure(".long 8, 1; .quad code, code, code", badContext: abis),
    structure(".long 64, 7; .quad code, code, code", badContext: abis),
    structure(
      ".long 64, 1; .quad 8, 0x1234", badContext: "table module target", badCode: "factory route"),
    structure(
      ".long 24, 1; .quad 48, wild_operations", badContext: "target",
      badCode: "module factory route"),
  ]

  private static let abis = "table module factory target route"

  private static func structure(
    _ lines: String, badContext: String, badCode: String = ""
  ) -> (lines: String, codes: [String: String]) {
    let contexts = badContext.split(separator: " ").map { ("c-\($0)", "bad-context") }
    let codes = badCode.split(separator: " ").map { ("c-\($0)", "bad-code") }
    return (lines, Dictionary(uniqueKeysWithValues: contexts + codes))
  }

  /// The file with empty entries.
  let template: Data

  init() throws {
    let folder = try Folder()
    defer { folder.remove() }
    try TestSupport.Compiler.compile(
      Self.source, suffix: "s", as: "template.so", in: folder.url, ["-shared", "-nostdlib"])
    template = try Data(contentsOf: folder.place("template.so"))
  }

  /// Returns a marker, which locates the room in the file.
  private static func marker(_ what: String, _ number: Int) -> String {
    "@@\(what)\(number < 10 ? "0" : "")\(number)@@"
  }

  private static let source: String = {
    var lines = [".section BeehiveMods, \"awR\"", ".balign 8"]
    lines += (0..<slots).map { ".quad text_M\($0)" }
    lines += [".section BeehiveServices, \"awR\"", ".balign 8"]
    lines += (0..<slots).map { ".quad text_S\($0)" }
    lines += [".section BeehiveRecords, \"awR\"", ".balign 8"]
    for number in 0..<records {
      let context = number < recordsWithContext ? "structure_\(number)" : "0"
      lines += [".ascii \"\(marker("R", number))\"", ".zero 9", ".quad 0, \(context)"]
      lines.append(".zero \(recordSize - 32)")
    }
    lines += [".text", "code: ret", ".data", ".balign 8", "zeros: .zero 64"]
    lines += [
      "operations: .quad code, 0, code, 0, 0, 0", "wild_operations: .quad 0, 0, zeros, 0, 0, 0",
    ]
    lines += ["actions: .quad zeros, code"]
    for (number, structure) in structures.enumerated() {
      lines.append("structure_\(number): \(structure.lines)")
    }
    for what in ["M", "S"] {
      for number in 0..<slots {
        lines += ["text_\(what)\(number): .ascii \"\(marker(what, number))\""]
        lines.append(".zero \(textSize - 7)")
      }
    }
    lines.append(".section .note.GNU-stack, \"\", %progbits")
    return lines.joined(separator: "\n")
  }()

  /// One planted entry that must be rejected.
  struct Expected: Hashable, Comparable, CustomStringConvertible {
    /// The number of the file in the set.
    var file: Int?
    var section: String
    var index: Int
    var code: String

    var description: String { "\(file ?? -1) \(section)[\(index)] \(code)" }
    static func < (one: Self, other: Self) -> Bool { one.description < other.description }
  }

  /// A set of one or two copies of the file with random entries.
  struct Planted {
    var files: [Data] = []
    /// The entries that must be rejected.
    var expected: [Expected] = []
    /// The order of the other modules.
    var order = PlantedOrder()
    /// The unnamed services that a C table provides.
    var tables: Set<String> = []
    fileprivate var identities: Set<String> = []
  }

  func planted(seed: UInt64) -> Planted {
    var generator = SeededGenerator(seed: seed)
    var planted = Planted()
    for _ in 0..<Int.random(in: 1...2, using: &generator) { plant(&planted, by: &generator) }
    planted.expected.sort()
    return planted
  }

  /// Adds a file to a set.
  private func plant(_ planted: inout Planted, by generator: inout SeededGenerator) {
    var bytes = template
    func note(_ entry: PlantedEntry, _ section: String, _ index: Int) {
      var code = entry.code
      // Of two entries with one identity the second is rejected, and then conflicts with no other.
      if code == nil, !planted.identities.isDisjoint(with: entry.identities) { code = "duplicate" }
      if let code {
        planted.expected.append(
          Expected(file: planted.files.count, section: section, index: index, code: code))
        return
      }
      planted.identities.formUnion(entry.identities)
      if let wishes = entry.order {
        planted.order.add(wishes.module, requires: wishes.requires, after: wishes.after)
      }
      if entry.abi == "c-table", let name = entry.text.split(separator: 0).first {
        planted.tables.insert(String(decoding: name, as: UTF8.self))
      }
    }
    for (what, section, entries) in [
      ("M", "BeehiveMods", PlantedEntry.modules), ("S", "BeehiveServices", PlantedEntry.services),
    ] {
      for number in 0..<Self.slots {
        let entry = entries.random(by: &generator)
        write(entry.text, over: Self.marker(what, number), size: Self.textSize, in: &bytes)
        note(entry, section, number)
      }
    }
    for number in 0..<Self.records {
      let hasContext = number < Self.recordsWithContext
      var entry = PlantedEntry.records.random(by: &generator)
      if entry.code == nil, let abi = entry.abi {
        entry.code = hasContext ? Self.structures[number].codes[abi] : "bad-context"
      }
      let head = entry.head ?? .init()
      // The accessor and the context stay, because they are relocated.
      write(
        head.bytes, over: Self.marker("R", number), size: 16, in: &bytes, then: entry.text, at: 32,
        size: Self.recordSize - 32)
      note(entry, "BeehiveRecords", number)
      // A reader stops at an implausible size.
      if entry.code == "bad-record-size" { break }
    }
    planted.files.append(bytes)
  }

  private func write(
    _ first: [UInt8], over marker: String, size: Int, in bytes: inout Data, then: [UInt8] = [],
    at offset: Int = 0, size thenSize: Int = 0
  ) {
    guard let place = template.range(of: Data(marker.utf8))?.lowerBound else { return }
    bytes.replaceSubrange(
      place..<place + size, with: first + [UInt8](repeating: 0, count: size - first.count))
    guard thenSize > 0 else { return }
    let start = place + offset
    bytes.replaceSubrange(
      start..<start + thenSize, with: then + [UInt8](repeating: 0, count: thenSize - then.count))
  }
}

extension [PlantedEntry] {
  fileprivate func random(by generator: inout SeededGenerator) -> PlantedEntry {
    self[Int.random(in: indices, using: &generator)]
  }
}
