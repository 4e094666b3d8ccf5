package import BinaryImage

/// The compiler's tables of a linked file, read without loading it.
///
/// The sections that the runtime reads are in every linked image, stripped or not.
package struct FileTables {
  /// The kinds of tables, by what they list.
  package enum List: CaseIterable, Sendable {
    case types, protocols, conformances

    /// The sections that hold it, in each format.
    var sections: (elf: String, macho: String) {
      switch self {
      case .types: ("swift5_type_metadata", "__swift5_types")
      case .protocols: ("swift5_protocols", "__swift5_protos")
      case .conformances: ("swift5_protocol_conformances", "__swift5_proto")
      }
    }
  }

  /// A type or protocol as conformances refer to it.
  package struct Reference: Hashable, Sendable {
    /// `Shop.Cart`; only the last name if it is private.
    package var name: String
    /// The symbol of its descriptor, if another image defines it.
    package var symbol: String?
    /// The address of its descriptor, if this image has it.
    package var address: UInt64?
    /// Whether it is a type that takes generic arguments.
    package var isGeneric = false
  }

  /// A conformance, with the type and the protocol that it refers to.
  package struct Conformance: Sendable {
    /// The descriptor that the compiler wrote.
    package let descriptor: ProtocolConformance<String>
    /// The type that conforms.
    package let type: Reference
    /// The protocol that the type conforms to.
    package let `protocol`: Reference

    /// Its further properties, one word each: `generic`, `conditional`, `isolated`, `retroactive`, and `resilient` if
    /// it was built against a library with evolution.
    package var how: [String] {
      [
        ("generic", type.isGeneric), ("conditional", descriptor.isConditional),
        ("isolated", descriptor.isIsolated), ("retroactive", descriptor.isRetroactive),
        ("resilient", descriptor.isResilient),
      ].filter(\.1).map(\.0)
    }
  }

  private let memory: FileMemory
  /// A reader of what the tables lead to.
  package var reader: MetadataReader<FileMemory> { MetadataReader(memory) }
  private let lists: [List: [Range<UInt64>]]

  /// More bytes than any library has; a larger section is not what it seems to be.
  private static let mostBytes: UInt64 = 1 << 20

  /// Looks for the tables of a file; nil if it has no such table.
  ///
  /// - Throws: ``ImageError`` if sections cannot be looked for, with `noEntries` for an object, whose tables wait for
  ///   relocations that only a linker applies.
  package init?(_ wanted: [List] = List.allCases, of image: any FileImage) throws(ImageError) {
    var lists: [List: [Range<UInt64>]] = [:]
    for list in wanted {
      let names = list.sections
      let name = image.identity.format == .elf ? names.elf : names.macho
      for section in try image.sections(named: name) where section.size > 0 {
        try image.file.check(
          image.identity.kind != .object, .noEntries,
          "It is not linked: its Swift metadata waits for a linker.", section: name)
        let start = section.address.rawValue
        try image.file.check(
          section.size <= Self.mostBytes && start < UInt64.max - Self.mostBytes, .malformed,
          "The section claims \(section.size) bytes, more than any library has.", section: name)
        lists[list, default: []].append(start..<start + (section.size & ~3))
      }
    }
    guard !lists.isEmpty else { return nil }
    self.lists = lists
    memory = try FileMemory(of: image)
  }

  /// Calls `body` with the types, or the protocols, that authors can name, in their order. `hidden` gets the names of
  /// the others, which are private or in functions.
  package func forEachPath(
    in list: List, hidden: (String) -> Void = { _ in },
    _ body: (DeclaredPath, UInt64) throws(ImageError) -> Void
  ) throws(ImageError) {
    for range in lists[list] ?? [] {
      for record in stride(from: range.lowerBound, to: range.upperBound, by: 4) {
        guard let descriptor = try reader.descriptor(at: record),
          try reader.flags(of: descriptor).kind?.hasName == true
        else { continue }
        if let path = try path(of: descriptor) {
          try body(path, descriptor)
        } else if let name = try reader.nameAddress(of: descriptor) {
          hidden(try memory.text(at: name))
        }
      }
    }
  }

  /// Calls `body` with the conformances, in their order.
  package func forEachConformance(
    _ body: (Conformance) throws(ImageError) -> Void
  ) throws(ImageError) {
    for range in lists[.conformances] ?? [] {
      try reader.forEachConformance(in: range) { descriptor throws(ImageError) in
        var type = Reference(name: "(a class of Objective-C)")
        if let described = descriptor.type { type = try reference(described) }
        try body(
          Conformance(
            descriptor: descriptor, type: type, protocol: try reference(descriptor.protocol)))
      }
    }
  }

  /// Calls `body` with the classes that extend another class and that the compiler has laid out, in their order.
  package func forEachSubclass(
    _ body: (Reference, _ superclass: Reference, ClassLayout) throws(ImageError) -> Void
  ) throws(ImageError) {
    for range in lists[.types] ?? [] {
      for record in stride(from: range.lowerBound, to: range.upperBound, by: 4) {
        guard let descriptor = try reader.descriptor(at: record),
          let superclass = try reader.superclass(of: descriptor)
        else { continue }
        try body(
          try reference(.address(descriptor)), try reference(superclass.reference),
          superclass.layout)
      }
    }
  }

  /// Calls `body` with the classes that extend another class, in their order; nil stands for an unknown superclass.
  package func forEachHeir(
    _ body: (Reference, _ superclass: Reference?) throws(ImageError) -> Void
  ) throws(ImageError) {
    for range in lists[.types] ?? [] {
      for record in stride(from: range.lowerBound, to: range.upperBound, by: 4) {
        guard let descriptor = try reader.descriptor(at: record),
          try reader.flags(of: descriptor).kind == .class,
          let superclass = try reader.superclass(named: descriptor)
        else { continue }
        var other: Reference?
        if let superclass { other = try reference(superclass) }
        try body(try reference(.address(descriptor)), other)
      }
    }
  }

  private func path(of descriptor: UInt64) throws(ImageError) -> DeclaredPath? {
    try reader.path(of: descriptor) { _ throws(ImageError) in nil }
  }

  private func reference(_ reference: MetadataReference<String>) throws(ImageError) -> Reference {
    switch reference {
    case .imported(let symbol): return Reference(name: SymbolName.text(of: symbol), symbol: symbol)
    case .address(let descriptor):
      var name = try path(of: descriptor)?.text
      if name == nil {
        let own = try reader.nameAddress(of: descriptor)
        name = try own.map(memory.text) ?? descriptor.hexadecimal
      }
      return Reference(
        name: name ?? "", address: descriptor,
        isGeneric: try reader.flags(of: descriptor).isGeneric)
    }
  }
}
