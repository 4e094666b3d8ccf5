/// The rules of the attributes of one record: which values a key may have, and which come once.
struct AttributeRules {
  /// The keys that the contract gives a meaning: their bytes as one word, the last one lowest.
  enum Key: UInt64 {
    case priority = 0x7072_696f_7269_7479
    case level = 0x6c_6576_656c
    case async = 0x61_7379_6e63
    case scope = 0x73_636f_7065
    case name = 0x6e61_6d65
    case abi = 0x61_6269
    case requires = 0x7265_7175_6972_6573
    case after = 0x61_6674_6572
    case action = 0x6163_7469_6f6e
    case remote = 0x7265_6d6f_7465
    case match = 0x6d_6174_6368
    case returns = 0x72_6574_7572_6e73
    case version = 0x76_6572_7369_6f6e

    /// Cuts a field at its `=`; nil where it has no key or no `=`. The key itself is nil where only its author
    /// gives it a meaning.
    @inline(__always)
    static func cut(_ field: Span<UInt8>) -> (key: Key?, equals: Int)? {
      var word: UInt64 = 0
      var equals = 0
      while equals < field.count, field[equals] != UInt8(ascii: "=") {
        word = word << 8 | UInt64(field[equals])
        equals += 1
      }
      guard equals > 0, equals < field.count else { return nil }
      return (equals <= 8 ? Key(rawValue: word) : nil, equals)
    }

    /// The bit of one that may come once; 0 of the others.
    fileprivate var bit: UInt16 {
      switch self {
      case .priority: 1
      case .level: 2
      case .async: 4
      case .scope: 8
      case .name: 16
      case .abi: 32
      case .remote: 64
      case .match: 128
      case .returns: 256
      case .version: 512
      case .requires, .after, .action: 0
      }
    }

    /// The kind of the records that it says something of; nil where it does of any.
    fileprivate var kind: RecordKind? {
      switch self {
      case .level, .async, .requires, .after: .module
      case .scope: .service
      case .action: .target
      case .match, .remote, .returns: .route
      case .priority, .name, .abi, .version: nil
      }
    }

    private static let levels = ModuleLevel.allCases.map(\.rawValue)
    private static let truths = ["true", "false"]
    private static let scopes = Scope.allCases.map(\.rawValue)
    private static let extents = RouteExtent.allCases.map(\.rawValue)
    private static let exposures = Exposure.byAttribute.keys.sorted()

    /// The values that the key may have; nil where any text will do.
    fileprivate var choices: [String]? {
      switch self {
      case .level: Self.levels
      case .async: Self.truths
      case .scope: Self.scopes
      case .match: Self.extents
      case .remote: Self.exposures
      case .priority, .name, .abi, .requires, .after, .action, .returns, .version: nil
      }
    }
  }

  private let kind: RecordKind
  /// The keys of which each may come once, as bits.
  private var seen: UInt16 = 0

  /// Checks all attributes of a record of a kind.
  static func check(_ attributes: Span<UInt8>, of kind: RecordKind) throws(Refusal) {
    var rules = Self(kind: kind)
    try attributes.forEachField { field throws(Refusal) in try rules.check(field) }
  }

  private init(kind: RecordKind) { self.kind = kind }

  private mutating func check(_ field: Span<UInt8>) throws(Refusal) {
    try field.checkUTF8("an attribute")
    guard let (key, equals) = Key.cut(field) else {
      throw Self.refusal(field, "is no key=value; write it as one")
    }
    guard let key else { return }
    guard seen & key.bit == 0 else {
      throw Self.refusal(field, "is the second \"\(key)=\" of this record; keep one")
    }
    seen |= key.bit
    let value = field.extracting((equals + 1)...)
    guard !value.isEmpty else {
      throw Self.refusal(field, "has no value; give one or leave the attribute out")
    }
    if key == .priority, Int32(String(checked: value)) == nil {
      throw Self.refusal(field, "is no integer of 32 bits; write a plain number")
    }
    // Third parties may mean something else by it.
    guard kind.isKnown else { return }
    if let choices = key.choices, !choices.contains(String(checked: value)) {
      throw Self.refusal(field, "has an unknown value; write \(choices.joined(separator: ", "))")
    }
    if key == .version, Version(String(checked: value)) == nil {
      throw Self.refusal(field, "is no version; write one as 1.4.2")
    }
    if key == .requires, !ModuleRequirement(String(checked: value)).isReadable {
      throw Self.refusal(field, "has versions that cannot be read; write them as log >=1.2 <2")
    }
  }

  private static func refusal(_ field: Span<UInt8>, _ fault: String) -> Refusal {
    Refusal(.badAttribute, "the attribute \"\(String(checked: field))\" \(fault)")
  }
}

extension Span<UInt8> {
  /// Calls `body` with each field that ends with NUL, without it; empty ones are padding, or an attribute
  /// that a macro left out.
  @inline(__always)
  func forEachField<Failure: Error>(_ body: (Span<UInt8>) throws(Failure) -> Void) throws(Failure) {
    var position = 0
    while position < count {
      guard self[position] != 0 else {
        position += 1
        continue
      }
      let end = first(0, from: position) ?? count
      try body(extracting(position..<end))
      position = end + 1
    }
  }
}

extension Attributes {
  /// Makes values of attributes that were checked.
  init(checked attributes: Span<UInt8>) {
    self.init()
    guard !attributes.isEmpty else { return }
    attributes.forEachField { field in
      guard let (key, equals) = AttributeRules.Key.cut(field) else { return }
      let value = String(checked: field.extracting((equals + 1)...))
      switch key {
      case .priority: priority = Int(value) ?? 0
      case .level: level = value
      case .scope: scope = value
      case .name: name = value
      case .abi: abi = value
      case .requires: requires.append(value)
      case .after: after.append(value)
      case .async, .action, .remote, .match, .returns, .version, nil:
        let name = String(checked: field.extracting(0..<equals))
        others.append(Attribute(key: name, value: value))
      }
    }
  }
}

extension Attributes {
  /// The `key=value` fields that say the same.
  package var texts: [String] {
    var texts = priority != 0 ? ["priority=\(priority)"] : []
    texts += level.map { ["level=\($0)"] } ?? []
    texts += requires.map { "requires=\($0)" } + after.map { "after=\($0)" }
    for (key, value) in [("scope", scope), ("name", name), ("abi", abi)] {
      texts += value.map { ["\(key)=\($0)"] } ?? []
    }
    return texts + others.map { "\($0.key)=\($0.value)" }
  }

  /// The fields that say nothing of a record of a kind, each with the kind that it is for.
  package func idle(of kind: RecordKind) -> [(field: String, owner: RecordKind)] {
    guard kind.isKnown else { return [] }
    return texts.compactMap { text in
      guard let owner = AttributeRules.Key.cut(Array(text.utf8).span)?.key?.kind, owner != kind
      else { return nil }
      return (text, owner)
    }
  }

  /// Makes values of fields, held to the rules of a record's.
  ///
  /// - Parameters:
  ///   - texts: The `key=value` fields.
  ///   - kind: What the record declares.
  ///   - name: Its name, which is checked too.
  /// - Throws: ``Refusal`` that says which rule one of them breaks.
  package init(
    texts: [String], of kind: RecordKind, named name: String
  ) throws(Refusal) {
    try Refusal.check(!name.isEmpty, .emptyName, "has an empty name; give the \(kind) one")
    let bytes = texts.flatMap { field -> [UInt8] in Array(field.utf8) + [0] }
    _ = try AttributeRules.check(bytes.span, of: kind)
    self.init(checked: bytes.span)
    try RoutingRules.check(kind, name, self)
  }
}
