/// A reader of what the compiler wrote about types, protocols and conformances, in a process or in a file.
///
/// Swift: `include/swift/ABI/Metadata.h`; every field is 32 bits, and a pointer is relative to its field.
package struct MetadataReader<Memory: MetadataMemory> {
  /// The memory that holds the tables.
  let memory: Memory

  /// Reads from a memory.
  package init(_ memory: Memory) { self.memory = memory }

  /// Returns the flags of a context descriptor: `ContextDescriptorFlags`.
  func flags(of context: UInt64) throws(Memory.Failure) -> ContextFlags {
    ContextFlags(rawValue: try memory.word(at: context))
  }

  /// Returns the context that encloses a declaration; nil for a module.
  func parent(of context: UInt64) throws(Memory.Failure) -> MetadataReference<Memory.Import>? {
    try memory.reference(at: context &+ 4, indirectIf: 1)
  }

  /// Returns the address of the name, which ends with a NUL; nil if the kind has no name.
  func nameAddress(of context: UInt64) throws(Memory.Failure) -> UInt64? {
    guard try flags(of: context).kind?.hasName == true else { return nil }
    return try memory.target(at: context &+ 8)
  }

  // MARK: - Names

  /// Returns the names from the module to a declaration; nil if an author could not write them all.
  ///
  /// That is the case inside private declarations and functions. Inside an extension, the names are those of the
  /// extended type.
  ///
  /// - Parameters:
  ///   - context: The address of the declaration's descriptor.
  ///   - extended: The names of the type with the mangled name at an address, if that is no reference to a descriptor;
  ///     nil if they are not known.
  /// - Returns: The names; nil if an author could not write them all.
  /// - Throws: The error of the memory if something cannot be read.
  func path(
    of context: UInt64, extended: (UInt64) throws(Memory.Failure) -> [String]?
  ) throws(Memory.Failure) -> DeclaredPath? {
    var names: [String] = []
    var context = context
    // A file that nests types deeper is not what it seems to be.
    for _ in 0..<64 {
      let kind = try flags(of: context).kind
      let outer: MetadataReference<Memory.Import>?
      switch kind {
      case .extension:
        guard let mangled = try memory.target(at: context &+ 8) else { return nil }
        outer = try referred(byMangled: mangled)
        if outer == nil { return DeclaredPath(names, in: try extended(mangled)) }
      case .module, .protocol, .class, .struct, .enum:
        guard let name = try nameAddress(of: context) else { return nil }
        names.append(try memory.text(at: name))
        if kind == .module { return DeclaredPath(names, in: []) }
        outer = try parent(of: context)
      case .anonymous, nil: return nil
      }
      switch outer {
      case .address(let next): context = next
      case .imported(let name): return DeclaredPath(names, in: memory.path(of: name))
      case nil: return nil
      }
    }
    return nil
  }

  /// Returns the descriptor that a mangled name refers to, if it is only a reference; nil for any other name.
  ///
  /// Generic arguments may follow the reference if `orGeneric` allows them.
  func referred(
    byMangled address: UInt64, orGeneric: Bool = false
  ) throws(Memory.Failure) -> MetadataReference<Memory.Import>? {
    // A control byte, a relative pointer, and the NUL.
    if !orGeneric, try memory.number(at: address &+ 5, size: 1) != 0 { return nil }
    switch try memory.number(at: address, size: 1) {
    case 1: return try memory.target(at: address &+ 1).map { .address($0) }
    case 2:
      guard let slot = try memory.target(at: address &+ 1) else { return nil }
      return try memory.pointer(at: slot)
    default: return nil
    }
  }
}

/// The names that lead to a declaration.
package struct DeclaredPath: Hashable, Codable, Sendable {
  /// The names, the declaration's own last.
  package var names: [String]
  /// Whether they begin with the module; otherwise the names around the first one are not known.
  package var isWhole: Bool

  /// Adds names, from the inside out, to the names around them; nil if nothing is left.
  fileprivate init?(_ inner: [String], in outer: [String]?) {
    names = (outer ?? []) + inner.reversed()
    isWhole = outer != nil
    if names.isEmpty { return nil }
  }

  /// `Shop.Cart.Item`
  package var text: String { names.joined(separator: ".") }
}

/// The kind of a context descriptor, and its flags.
package struct ContextFlags: Hashable, Sendable {
  let rawValue: UInt32

  /// The kinds of described contexts.
  package enum Kind: UInt32, Sendable {
    case module = 0
    case `extension` = 1
    case anonymous = 2
    case `protocol` = 3
    case `class` = 16
    case `struct` = 17
    case `enum` = 18

    /// Whether its descriptor has a name.
    var hasName: Bool { self != .extension && self != .anonymous }
  }

  /// The kind of the described context; nil for kinds that have no name, such as opaque result types.
  package var kind: Kind? { Kind(rawValue: rawValue & 0x1f) }

  /// Whether metadata takes generic arguments: of the type itself or of a type around it.
  package var isGeneric: Bool { rawValue & 0x80 != 0 }

  /// Whether it is a type that `Any` can hold, or could hold with some generic arguments.
  package var describesCopyableType: Bool {
    let suppressesDefaults = rawValue & 0x20 != 0
    return rawValue & 0x10 != 0 && (isGeneric || !suppressesDefaults)
  }

  /// Whether it is a class that the compiler has laid out. The runtime lays out classes that extend a class of a
  /// library with evolution.
  var isLaidOutClass: Bool { kind == .class && rawValue & 0x3000_0000 == 0 }

  /// Whether only classes can conform to the protocol.
  package var isClassBound: Bool { rawValue & 0x1_0000 == 0 }
}

/// The lists of an image: of its types, its protocols, and its conformances.
extension MetadataReader {
  /// Returns the descriptor of the type or protocol that a record leads to; nil if another image describes it.
  func descriptor(at record: UInt64) throws(Memory.Failure) -> UInt64? {
    // The second bit of a record marks a class of Objective-C, which has no descriptor.
    guard try memory.word(at: record) & 2 == 0 else { return nil }
    let descriptor = try memory.reference(at: record, indirectIf: 1)?.address
    return descriptor.flatMap { $0 % 4 == 0 ? $0 : nil }
  }

  /// Calls `body` with the conformances in a list, in their order.
  func forEachConformance(
    in list: Range<UInt64>,
    _ body: (ProtocolConformance<Memory.Import>) throws(Memory.Failure) -> Void
  ) throws(Memory.Failure) {
    for field in stride(from: list.lowerBound, to: list.upperBound, by: 4) {
      guard let descriptor = try memory.target(at: field), descriptor % 4 == 0,
        let conformance = try conformance(at: descriptor)
      else { continue }
      try body(conformance)
    }
  }
}
