package import BinaryImage

/// The structure that the context of a record in C leads to, as its `abi` says.
///
/// Each begins with its size and its version, 4 bytes each; words follow. C: `beehive_…` in `beehive/*.h`.
package enum CStructure: String, Sendable {
  /// `beehive_service_table`: a table of functions, which is the service itself.
  case serviceTable = "c-table"
  /// `beehive_service_factory`: the functions that make and destroy the service.
  case factory = "c-factory"
  /// `beehive_module_table`: the operations of a module.
  case moduleTable = "c-module"
  /// `beehive_target_table`: the actions of a target.
  case targetTable = "c-target"
  /// `beehive_route_table`: the function that answers a route.
  case route = "c-route"

  /// The kind of the records that lead to it.
  package var kind: RecordKind {
    switch self {
    case .serviceTable, .factory: .service
    case .moduleTable: .module
    case .targetTable: .target
    case .route: .route
    }
  }

  private static let version: UInt64 = 1
  private static let operations = [
    "set_up", "initialize", "splash", "event", "tear_down", "unmount",
  ]

  /// The number of words after the head.
  private var wordCount: UInt64 {
    switch self {
    case .serviceTable, .factory, .moduleTable: 2
    case .targetTable: 3
    case .route: 1
    }
  }

  /// Checks the structure at an address, and the tables and functions that it leads to.
  ///
  /// The actions in the table of a target are checked when one is called.
  package func check(at address: UInt64, in memory: some AddressedMemory) throws(Refusal) {
    let wordSize = UInt64(memory.pointerSize)
    let needed = 8 + wordCount * wordSize
    func place(of index: UInt64) -> UInt64 { address &+ 8 &+ index &* wordSize }
    // Of a word that is there.
    func word(_ index: UInt64) -> UInt64 {
      memory.integer(at: place(of: index), size: memory.pointerSize) ?? 0
    }
    guard address % UInt64(memory.pointerAlignment) == 0,
      let size = memory.integer(at: address, size: 4),
      let version = memory.integer(at: address + 4, size: 4)
    else { throw .noStructure }
    try Refusal.check(
      version == Self.version, .badContext,
      "the record's structure is of version \(version), this host knows \(Self.version); build the image "
        + "and its host with the same BeeHive")
    try Refusal.check(
      size >= needed, .badContext,
      "the record's structure says \(size) bytes where \(needed) are needed; rebuild with BeeHive.h"
    )
    guard memory.holdsData(address, size: needed) else { throw .noStructure }
    switch self {
    case .serviceTable:
      _ = try memory.table(from: place(of: 1), size: word(0), "the table of the service")
    case .moduleTable:
      let size = word(0)
      let table = try memory.table(from: place(of: 1), size: size, "the table of the operations")
      guard let table else { return }
      for (index, name) in Self.operations.prefix(Int(size / wordSize)).enumerated() {
        _ = try memory.hasCode(from: table &+ UInt64(index) &* wordSize, "the operation \(name)")
      }
    case .factory:
      guard try memory.hasCode(from: place(of: 0), "a function of the factory") else {
        throw .noStructure
      }
      _ = try memory.hasCode(from: place(of: 1), "a function of the factory")
    case .route:
      try Refusal.check(
        try memory.hasCode(from: place(of: 0), "its function"), .badContext,
        "its record leads to no function")
    case .targetTable:
      let (size, isHuge) = word(0).multipliedReportingOverflow(by: word(1))
      guard word(1) > 0 else { return }
      try Refusal.check(
        word(0) >= 2 * wordSize, .badContext,
        "its table has actions of \(word(0)) bytes where \(2 * wordSize) are needed; rebuild with "
          + "BeeHive.h")
      _ = try memory.table(from: place(of: 2), size: isHuge ? .max : size, "its table of actions")
    }
  }
}

extension CStructure {
  /// The most words of a table that are read.
  private static let mostWords: UInt64 = 512

  /// Returns the words of the structure at an address and of its table that are not null: pointers and other values.
  /// The structure has to satisfy the rules.
  package func words(at address: UInt64, in memory: some AddressedMemory) -> [UInt64] {
    let wordSize = UInt64(memory.pointerSize)
    func words(from place: UInt64, _ count: UInt64) -> [UInt64] {
      (0..<min(count, Self.mostWords)).map {
        memory.integer(at: place &+ $0 &* wordSize, size: memory.pointerSize) ?? 0
      }
    }
    let own = words(from: address &+ 8, wordCount)
    let table: [UInt64] =
      switch self {
      case .factory, .route: []
      case .serviceTable, .moduleTable: words(from: own[1], own[0] / wordSize)
      case .targetTable: words(from: own[2], (own[0] / wordSize) &* own[1])
      }
    return (own + table).filter { $0 != 0 }
  }
}

extension AddressedMemory {
  /// Returns the table that the pointer at a place leads to; nil if another image has it.
  fileprivate func table(
    from place: UInt64, size: UInt64, _ what: String
  ) throws(Refusal) -> UInt64? {
    switch pointer(at: place) {
    case .null, nil: throw .noStructure
    case .elsewhere: return nil
    case .address(let table) where holdsData(table, size: size): return table
    case .address(let table), .outside(let table):
      throw Refusal(
        .badContext,
        "\(what) is to be \(size) bytes at \(table.hexadecimal), which no loaded image has; fix "
          + "the record")
    }
  }

  /// Checks the function that the pointer at a place leads to; false if the pointer is null.
  fileprivate func hasCode(
    from place: UInt64, _ what: @autoclosure () -> String
  ) throws(Refusal) -> Bool {
    switch pointer(at: place) {
    case .null, nil: return false
    case .elsewhere: return true
    case .address(let function) where holdsCode(function): return true
    case .address(let function), .outside(let function): throw .noCode(what(), at: function)
    }
  }
}

extension Record {
  /// Checks that a record that is made in C leads to the structure of its abi.
  ///
  /// - Parameter memory: The memory of its image; nil if it cannot be read.
  /// - Throws: ``Refusal`` if it does not. Contexts that only the loader can resolve are let through.
  func checkStructure(in memory: @autoclosure () -> (any AddressedMemory)?) throws(Refusal) {
    guard attributes.isC, let context else { return }
    try Refusal.check(
      context.target != .null, .badContext,
      "is made in C, and its context is a null pointer; declare it with BeeHive.h, or let the context "
        + "lead to the structure of its abi")
    switch context.target {
    case .imported, .foreign:
      throw Refusal(
        .badContext, "the record's context leads outside the image; rebuild with BeeHive.h")
    case .null, .address, .section, .unresolvable: break
    }
    guard let structure = attributes.abi.flatMap(CStructure.init(rawValue:)),
      structure.kind == kind, let memory = memory()
    else { return }
    switch memory.address(of: context) {
    case .null, .elsewhere: return
    case .outside: throw .noStructure
    case .address(let address): try structure.check(at: address, in: memory)
    }
  }

  /// Returns the size in bytes of the table that is a service in C.
  ///
  /// - Parameter memory: The memory of its image.
  /// - Returns: The size; nil for any other record, or if it cannot be read.
  package func tableSize(in memory: any AddressedMemory) -> UInt64? {
    guard attributes.abi == CStructure.serviceTable.rawValue, kind == .service, let context,
      case .address(let address) = memory.address(of: context)
    else { return nil }
    return memory.integer(at: address &+ 8, size: memory.pointerSize)
  }
}

extension Refusal {
  fileprivate static var noStructure: Refusal {
    Refusal(
      .badContext, "the record leads to no structure, or to one without a table; fix its context")
  }

  /// Describes a function whose address has no code; `what` names the function.
  package static func noCode(_ what: String, at address: UInt64) -> Refusal {
    Refusal(
      .badCode,
      "\(what) is to be at \(address.hexadecimal), where no loaded image has code; fix the record"
    )
  }
}

extension Record {
  /// Returns the actions that a target declares and that its table in C lacks, as far as the table can be read.
  package func missingActions(in memory: (any AddressedMemory)?) -> [String] {
    guard attributes.abi == CStructure.targetTable.rawValue, let memory, let context,
      case .address(let address) = memory.address(of: context),
      let names = memory.actions(ofTarget: address)
    else { return [] }
    return attributes.actions.compactMap { try? ActionDeclaration(reading: $0).name }
      .filter { !names.contains($0) }
  }
}

extension AddressedMemory {
  /// The most actions, and the longest name, that are read.
  private static var most: UInt64 { 512 }

  /// Returns the names in the table of a target, `beehive_action`; nil if one of them cannot be read.
  fileprivate func actions(ofTarget address: UInt64) -> Set<String>? {
    let word = UInt64(pointerSize)
    func number(_ index: UInt64) -> UInt64? {
      integer(at: address &+ 8 &+ index &* word, size: pointerSize)
    }
    guard let size = number(0), let count = number(1), count <= Self.most else { return nil }
    guard count > 0 else { return [] }
    guard case .address(let table)? = pointer(at: address &+ 8 &+ 2 &* word) else { return nil }
    var names: Set<String> = []
    for index in 0..<count {
      guard case .address(let start)? = pointer(at: table &+ index &* size) else { return nil }
      let bytes = (0..<Self.most).lazy.map { self.integer(at: start &+ $0, size: 1) ?? 0 }
      names.insert(String(decoding: bytes.prefix { $0 != 0 }.map { UInt8($0) }, as: UTF8.self))
    }
    return names
  }
}
