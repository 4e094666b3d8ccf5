internal import Registration

/// What a C function declares that it returns: one of the types that C has a value for.
struct CResult: Sendable {
  private let type: (any Sendable.Type)?
  /// The type as it was declared.
  let name: String

  /// Of an empty name, whatever the function returns.
  init(_ name: String) {
    self.name = name
    type =
      switch CType(rawValue: name) {
      case .string: String.self
      case .int: Int.self
      case .double: Double.self
      case .bool: Bool.self
      case nil: nil
      }
  }

  /// Whether a value is of the declared type.
  func has(_ value: any Sendable) -> Bool { type.map { $0 == Swift.type(of: value) } ?? true }
}
