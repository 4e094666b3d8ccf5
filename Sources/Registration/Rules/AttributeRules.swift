extension Attributes {
  /// The keys that the contract gives a meaning, with their bytes as one word, the last byte lowest.
  enum Key: UInt64, CaseIterable {
    case priority = 0x7072_696f_7269_7479
    case level = 0x6c_6576_656c
    case async = 0x61_7379_6e63
    case scope = 0x73_636f_7065
    case shared = 0x7368_6172_6564
    case name = 0x6e61_6d65
    case abi = 0x61_6269
    case requires = 0x7265_7175_6972_6573
    case after = 0x61_6674_6572
    case action = 0x6163_7469_6f6e
    case remote = 0x7265_6d6f_7465
    case match = 0x6d_6174_6368
    case returns = 0x72_6574_7572_6e73
    case version = 0x76_6572_7369_6f6e
    case needs = 0x6e_6565_6473
    case licence = 0x6c_6963_656e_6365
    case homepage = 0x686f_6d65_7061_6765
    case icon = 0x69_636f_6e

    /// Cuts a field at its `=`; nil if it has no key or no `=`. The key itself is nil if only its author gives it
    /// a meaning.
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

    /// The rules of a key: its bit if it may come once, the kind of the records that use it, and its allowed values.
    /// Without a bit, a kind or values, everything is allowed.
    fileprivate var rule: (bit: UInt16, kind: RecordKind?, choices: [String]?) {
      switch self {
      case .priority: (1, nil, nil)
      case .level: (2, .module, Self.levels)
      case .async: (4, .module, Self.truths)
      case .scope: (8, .service, Self.scopes)
      case .name: (16, nil, nil)
      case .abi: (32, nil, nil)
      case .remote: (64, .route, Self.exposures)
      case .match: (128, .route, Self.extents)
      case .returns: (256, .route, nil)
      case .version: (512, nil, nil)
      case .shared: (1024, .service, nil)
      case .licence: (2048, .plugin, nil)
      case .homepage: (4096, .plugin, nil)
      case .icon: (8192, .plugin, nil)
      case .requires, .after: (0, .module, nil)
      case .needs: (0, nil, nil)
      case .action: (0, .target, nil)
      }
    }

    /// The keys as they are written.
    static let names = allCases.map { key in
      let bytes = (0..<8).reversed().map { UInt8(truncatingIfNeeded: key.rawValue >> (8 * $0)) }
      return String(decoding: bytes.drop { $0 == 0 }, as: UTF8.self)
    }

    private static let levels = ModuleLevel.allCases.map(\.rawValue)
    private static let truths = ["true", "false"]
    private static let scopes = Scope.allCases.map(\.rawValue)
    private static let extents = RouteExtent.allCases.map(\.rawValue)
    private static let exposures = Exposure.byAttribute.keys.sorted()
  }

  /// Reads the fields of a record of a kind. Each ends with NUL. Empty fields are padding, or attributes that a macro
  /// left out.
  init(_ fields: Span<UInt8>, of kind: RecordKind) throws(Refusal) {
    var seen: UInt16 = 0
    var position = 0
    while position < fields.count {
      guard fields[position] != 0 else {
        position += 1
        continue
      }
      let end = fields.first(0, from: position) ?? fields.count
      try add(fields.extracting(position..<end), of: kind, &seen)
      position = end + 1
    }
    if kind.isKnown, let need = needs.first(where: isNoName) {
      throw Self.refusal(
        Array("needs=\(need)".utf8).span,
        "names no service; write the name alone as in needs=Log, without a version, and one in each"
      )
    }
    try Refusal.check(
      kind != .service || shared == nil || serviceScope != .transient, .badAttribute,
      "shares an instance, but each request makes one; write scope=singleton, weak or scoped")
  }

  /// Throws the fault of the first value that a record of the kind may not have. Swift's priorities have 64 bits.
  package func check(for kind: RecordKind) throws(Refusal) {
    var (values, read, seen) = (self, Self(), UInt16(0))
    values.priority = 0
    for text in values.texts { try read.add(Array(text.utf8).span, of: kind, &seen) }
  }

  /// Adds a field; `seen` has the bits of the keys before it.
  private mutating func add(
    _ field: Span<UInt8>, of kind: RecordKind, _ seen: inout UInt16
  ) throws(Refusal) {
    try field.checkUTF8("an attribute")
    guard let (key, equals) = Key.cut(field) else {
      throw Self.refusal(field, "is no key=value; write it as one")
    }
    let value = String(checked: field.extracting((equals + 1)...))
    if let key, let fault = key.fault(of: value, kind, &seen) {
      throw Self.refusal(field, fault)
    }
    switch key {
    case .priority: priority = Int(value) ?? 0
    case .level: level = value
    case .scope: scope = value
    case .name: name = value
    case .abi: abi = value
    case .requires: requires.append(value)
    case .after: after.append(value)
    case .async, .shared, .action, .remote, .match, .returns, .version, .needs, .licence,
      .homepage, .icon, nil:
      let name = String(checked: field.extracting(0..<equals))
      others.append(Attribute(key: name, value: value))
    }
  }

  /// Returns whether a need has what no name of a service has: versions, and in C a blank, a comma or an operator.
  private func isNoName(_ need: String) -> Bool {
    let parts = ModuleRequirement(need)
    if !parts.versions.isEmpty || parts.mayMeanVersions { return true }
    // A C++ template may be a name.
    return isC && need.contains { $0.isWhitespace || (need.last != ">" && "<>,".contains($0)) }
  }

  private static func refusal(_ field: Span<UInt8>, _ fault: String) -> Refusal {
    Refusal(.badAttribute, "the attribute \"\(String(checked: field))\" \(fault)")
  }
}

extension Attributes.Key {
  /// Returns the rule that a value of the key breaks in a record of a kind; nil if it breaks none.
  fileprivate func fault(
    of value: String, _ kind: RecordKind, _ seen: inout UInt16
  ) -> String? {
    let (bit, _, choices) = rule
    if seen & bit != 0 { return "is the second \"\(self)=\" of this record; keep one" }
    seen |= bit
    if value.isEmpty { return "has no value; give one or leave the attribute out" }
    if self == .priority, Int32(value) == nil {
      return "is no integer of 32 bits; write a plain number"
    }
    // Third parties may give it another meaning.
    guard kind.isKnown else { return nil }
    if let choices, !choices.contains(value) {
      return "has an unknown value; write \(choices.joined(separator: ", "))"
    }
    if self == .version, Version(value) == nil { return "is no version; write one as 1.4.2" }
    if self == .requires, !ModuleRequirement(value).isReadable {
      return "has versions that cannot be read; write them as log >=1.2 <2"
    }
    return nil
  }
}

extension Attributes {
  /// The attributes as `key=value` fields.
  package var texts: [String] {
    var texts = priority != 0 ? ["priority=\(priority)"] : []
    texts += level.map { ["level=\($0)"] } ?? []
    texts += requires.map { "requires=\($0)" } + after.map { "after=\($0)" }
    for (key, value) in [("scope", scope), ("name", name), ("abi", abi)] {
      texts += value.map { ["\(key)=\($0)"] } ?? []
    }
    return texts + others.map { "\($0.key)=\($0.value)" }
  }

  /// Returns the fields that have no effect on a record of a kind, each with the kind that uses it.
  package func idle(of kind: RecordKind) -> [(field: String, owner: RecordKind)] {
    guard kind.isKnown else { return [] }
    return texts.compactMap { text in
      guard let owner = Key.cut(Array(text.utf8).span)?.key?.rule.kind, owner != kind
      else { return nil }
      return (text, owner)
    }
  }

  /// Returns the fields with unknown keys that nearly are keys of the contract, each with that key.
  package func nearMisses(of kind: RecordKind) -> [(field: String, meant: String)] {
    guard kind.isKnown else { return [] }
    return others.compactMap { field in
      nearest(to: field.key, in: Key.names, atMost: 1).first.map {
        ("\(field.key)=\(field.value)", $0)
      }
    }
  }

  /// Makes attributes of fields, by the rules for the fields of a record.
  ///
  /// - Parameters:
  ///   - texts: The `key=value` fields.
  ///   - kind: The kind of thing that the record declares.
  ///   - name: Its name, which is checked too.
  /// - Throws: ``Refusal`` with the rule that one of them breaks.
  package init(
    texts: [String], of kind: RecordKind, named name: String
  ) throws(Refusal) {
    try Refusal.check(!name.isEmpty, .emptyName, "has an empty name; give the \(kind) one")
    let bytes = texts.flatMap { field -> [UInt8] in Array(field.utf8) + [0] }
    try self.init(bytes.span, of: kind)
    try checkRouting(of: kind, named: name)
    if kind == .plugin { try checkIdentity(named: name) }
  }
}

// The identity of a plugin.
extension Attributes {
  /// Checks that a plugin has an id that files and users can write, and a version.
  func checkIdentity(named id: String) throws(Refusal) {
    try Refusal.check(
      Self.isPluginID(id), .badIdentity,
      "has an id that is no name in reverse; write letters, digits, - and _ with dots between them: "
        + "com.example.greet")
    try Refusal.check(
      version != nil, .badIdentity, "has no version; write one as 1.4.2 next to the id")
  }

  /// Returns whether a text is an id as plugins have it: a name in reverse that needs no escapes anywhere.
  package static func isPluginID(_ text: String) -> Bool {
    let parts = text.split(separator: ".", omittingEmptySubsequences: false)
    return text.utf8.count <= 255 && parts.count > 1
      && parts.allSatisfy { part in !part.isEmpty && part.utf8.allSatisfy(\.isOfIdentity) }
  }
}

extension UInt8 {
  /// Whether a part of a plugin's id may have this byte.
  fileprivate var isOfIdentity: Bool {
    isDigit || self == UInt8(ascii: "-") || self == UInt8(ascii: "_")
      || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(self | 0x20)
  }
}
