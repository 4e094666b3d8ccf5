/// What a record declares: the `kind` field of a typed record.
public struct RecordKind: RawRepresentable, Hashable, Codable, Sendable, CustomStringConvertible {
  /// The number in the record.
  public var rawValue: UInt16

  /// Wraps a number; the known ones are static members.
  ///
  /// - Parameter rawValue: The number in the record.
  public init(rawValue: UInt16) { self.rawValue = rawValue }

  /// No kind: the slot does not say what it holds.
  public static let unknown = Self(rawValue: 0)
  /// A module: something with a lifecycle.
  public static let module = Self(rawValue: 1)
  /// A service: an implementation that is looked up by what it does.
  public static let service = Self(rawValue: 2)
  /// A target: a named group of actions.
  public static let target = Self(rawValue: 3)
  /// A route: a URL pattern and its handler.
  public static let route = Self(rawValue: 4)

  /// Whether this version of the contract gives the number a meaning.
  public var isKnown: Bool { (1...4).contains(rawValue) }

  /// Whether the number belongs to a third party: shown by tools, never registered.
  public var isThirdParty: Bool { rawValue >= 0x8000 }

  /// `module`, `service`, …; the number in hexadecimal where it has no name.
  public var description: String {
    switch self {
    case .unknown: "record"
    case .module: "module"
    case .service: "service"
    case .target: "target"
    case .route: "route"
    default: "0x" + String(rawValue, radix: 16)
    }
  }
}
