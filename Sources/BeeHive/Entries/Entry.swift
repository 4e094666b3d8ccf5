internal import BinaryImage
public import Registration

/// What the Hive made of one declared module or service, and where it came from.
///
/// Nothing that was declared is ever missing from `Hive.entries`: an entry is bound, or accepted and
/// not bound yet, or rejected, and the last two say why.
public struct Entry: Hashable, Sendable {
  /// How far an entry got.
  public enum State: Hashable, Sendable {
    /// Something can make it.
    case bound
    /// Well formed and known by name, but nothing can make it yet.
    case accepted(Problem)
    /// Malformed, a duplicate, or named after a type that cannot serve.
    case rejected(Problem)
  }

  /// A module, a service, …
  public var kind: RecordKind
  /// The name as declared; empty where a malformed entry has none.
  public var name: String
  /// What implements it, as declared; nil where the entry names nothing.
  public var implementation: String?
  /// The declared attributes.
  public var attributes: Attributes
  /// Where it was declared.
  public var source: Source
  /// How far it got.
  public var state: State
}

extension Entry: CustomStringConvertible {
  /// `unbound   module  Shop.Basket    libshop.so BeehiveMods[2]: no type of this name yet`
  public var description: String {
    let declared = implementation.map { "\(name) → \($0)" } ?? name
    let (word, reason) =
      switch state {
      case .bound: ("bound", "")
      case .accepted(let problem): ("unbound", ": \(problem)")
      case .rejected(let problem): ("rejected", ": \(problem)")
      }
    let columns = [(word, 9), (kind.description, 8), (declared, 40)].map { text, width in
      text + String(repeating: " ", count: max(1, width - text.count))
    }
    return (columns.joined() + source.description + reason).escaped
  }
}
