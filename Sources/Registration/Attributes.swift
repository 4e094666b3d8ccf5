/// The `key=value` fields of a record, parsed once.
///
/// The empty value is one null word: pointer entries have no attributes and pay for none.
public struct Attributes: Hashable, Sendable {
  /// One key and its value.
  public struct Attribute: Hashable, Sendable {
    /// The text before the first `=`.
    public var key: String
    /// The text after it.
    public var value: String

    /// Pairs a key with a value.
    ///
    /// - Parameters:
    ///   - key: The text before the first `=`.
    ///   - value: The text after it.
    public init(key: String, value: String) {
      self.key = key
      self.value = value
    }
  }

  /// What was given; the parser fills it, then boxes it once.
  struct Fields: Hashable, Sendable {
    var priority = 0
    var level: String?
    var requires: [String] = []
    var after: [String] = []
    var scope: String?
    var name: String?
    var abi: String?
    var others: [Attribute] = []
  }

  private enum Storage: Hashable, Sendable {
    case empty
    indirect case given(Fields)
  }

  private var storage = Storage.empty

  /// Creates an empty value, without attributes.
  public init() {}

  init(_ fields: Fields) {
    self.fields = fields
  }

  private var fields: Fields {
    get {
      switch storage {
      case .empty: Fields()
      case .given(let fields): fields
      }
    }
    set { storage = newValue == Fields() ? .empty : .given(newValue) }
  }

  /// Larger first among those that nothing else orders; 0 unless given.
  public var priority: Int {
    get { fields.priority }
    set { fields.priority = newValue }
  }

  /// `level=`: `basic` modules start before the others.
  public var level: String? {
    get { fields.level }
    set { fields.level = newValue }
  }

  /// `requires=`, in order of appearance: modules that must be present and start earlier.
  public var requires: [String] {
    get { fields.requires }
    set { fields.requires = newValue }
  }

  /// `after=`, in order of appearance: modules that start earlier where they are present.
  public var after: [String] {
    get { fields.after }
    set { fields.after = newValue }
  }

  /// `scope=`: how long an instance of a service lives.
  public var scope: String? {
    get { fields.scope }
    set { fields.scope = newValue }
  }

  /// `name=`: tells several implementations of one service apart.
  public var name: String? {
    get { fields.name }
    set { fields.name = newValue }
  }

  /// `abi=`: what the context pointer leads to; nil for a Swift accessor.
  public var abi: String? {
    get { fields.abi }
    set { fields.abi = newValue }
  }

  /// Every other key, in order of appearance; a key may repeat.
  public var others: [Attribute] {
    get { fields.others }
    set { fields.others = newValue }
  }
}
