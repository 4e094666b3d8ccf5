/// What the compiler wrote about a type, protocol, module or extension of a loaded Swift image.
///
/// A view of constant memory: Swift images are never unmapped, so an address that a registered
/// section gave stays readable. Offsets in it are relative to their own field.
struct ContextDescriptor: Hashable, Sendable {
  /// Where the descriptor lies.
  let address: UInt

  /// What is described.
  enum Kind: UInt32, Sendable {
    case module = 0
    case `extension` = 1
    case anonymous = 2
    case `protocol` = 3
    case `class` = 16
    case `struct` = 17
    case `enum` = 18
  }

  /// The descriptor at an address; nil unless a descriptor can lie there.
  init?(at address: UInt?) {
    guard let address, address != 0, address % 4 == 0 else { return nil }
    self.address = address
  }

  /// What is described; nil for kinds that have no name, such as opaque result types.
  var kind: Kind? { Kind(rawValue: flags & 0x1f) }

  /// Whether metadata takes generic arguments: of the type itself or of a type around it.
  var isGeneric: Bool { flags & 0x80 != 0 }

  /// Whether it is a type that `Any` can hold, or that generic arguments may make one.
  var describesCopyableType: Bool {
    let suppressesDefaults = flags & 0x20 != 0
    return flags & 0x10 != 0 && (isGeneric || !suppressesDefaults)
  }

  /// Whether only classes can conform to the protocol.
  var isClassBound: Bool { flags & 0x1_0000 == 0 }

  /// What encloses the declaration; nil for a module.
  var parent: ContextDescriptor? {
    ContextDescriptor(at: Memory.pointer(at: address + 4, indirectIf: 1))
  }

  /// The bytes of the name, up to the NUL; nil where the kind has none.
  var nameAddress: UInt? {
    switch kind {
    case .module, .protocol, .class, .struct, .enum: Memory.pointer(at: address + 8)
    case .extension, .anonymous, nil: nil
    }
  }

  /// The name: the last component of the path.
  var name: String? {
    nameAddress.map { unsafe String(decoding: Memory.text(at: $0), as: UTF8.self) }
  }

  /// Whether the name is this one; makes no `String` to tell.
  func isNamed(_ other: Substring) -> Bool {
    nameAddress.map { unsafe Memory.text(at: $0).elementsEqual(other.utf8) } ?? false
  }

  /// The names from the module to this declaration; nil where an author could not write them all.
  ///
  /// That is the case inside private declarations and functions. Inside an extension, the names
  /// are those of the extended type; finding it may call into the Swift runtime.
  var path: [String]? {
    if kind == .extension { return extendedPath }
    guard let name else { return nil }
    if kind == .module { return [name] }
    return parent?.path.map { $0 + [name] }
  }

  private var extendedPath: [String]? {
    guard let mangled = Memory.pointer(at: address + 8),
      let type = Memory.type(mangled: mangled)
    else { return nil }
    return TypeName(TypeSpelling.of(type).qualified).path
  }

  private var flags: UInt32 { Memory.word(at: address) }
}
