/// One key that the query of a route's pattern may have.
public struct PatternKey: Hashable, Sendable, CustomStringConvertible {
  /// The key, decoded.
  public var name: String
  /// The type's name as it was written; `String` for a bare key.
  public var type: String
  /// Whether it may be missing.
  public var isOptional: Bool
  /// The value of a missing one, as a text.
  public var defaultText: String?

  /// The key as a pattern has it: `from`, `page<Int>=1`, `q<String>`.
  public var description: String {
    if let defaultText { return "\(name)<\(type)>=\(defaultText)" }
    if isOptional { return type == "String" ? name : "\(name)<\(type)?>" }
    return "\(name)<\(type)>"
  }
}
