internal import BeeHive

/// What a C function declares that it returns: one of the types that C has a value for.
struct CResult: Sendable {
  private let type: (any Sendable.Type)?
  /// The type as it was declared.
  let name: String

  /// Of an empty name, whatever the function returns. Throws where C has no value of the type.
  init(_ name: String, of entry: DeclaredEntry) throws(RoutingError) {
    self.name = name
    switch name {
    case "": type = nil
    case "String": type = String.self
    case "Int": type = Int.self
    case "Double": type = Double.self
    case "Bool": type = Bool.self
    default:
      throw RoutingError(
        .unknownType,
        "\(entry.name) of \(entry.source): a result in C is a String, Int, Double or Bool, not a \(name)",
        sources: [entry.source])
    }
  }

  /// Whether a value is of the declared type.
  func has(_ value: any Sendable) -> Bool { type.map { $0 == Swift.type(of: value) } ?? true }
}
