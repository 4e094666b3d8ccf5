/// The grammar of the texts that the classic sections point to.
enum PointerGrammar {
  /// Longer texts are taken for a pointer that leads astray.
  static let limit = 16 << 10

  /// Reads the text of one slot.
  static func parts(of text: Span<UInt8>, kind: RecordKind) throws(Refusal) -> EntryParts {
    kind == .module ? try module(text) : try service(text)
  }

  /// A slot of `BeehiveMods`: the name itself.
  private static func module(_ text: Span<UInt8>) throws(Refusal) -> EntryParts {
    try Refusal.check(!text.isEmpty, .emptyName, "points at an empty name; give the module one")
    let isASCII = text.isASCII
    if !isASCII { try text.checkUTF8("the name") }
    return EntryParts(kind: .module, name: text.indices, isASCII: isASCII)
  }

  /// A slot of `BeehiveServices`: `{ "Service" : "Implementation" }`.
  private static func service(_ text: Span<UInt8>) throws(Refusal) -> EntryParts {
    let pair = try JSONStringPair(parsing: text)
    try Refusal.check(
      !pair.key.isEmpty, .emptyName, "names no service; write { \"Service\" : \"Implementation\" }")
    let parts = EntryParts(
      kind: .service, name: pair.key, implementation: pair.value, hasEscapes: pair.hasEscapes,
      isASCII: text.isASCII)
    guard !pair.value.isEmpty else {
      let name = JSONStringPair.decoded(text.extracting(pair.key))
      throw Refusal(.emptyName, "names no implementation of \(name); write one behind the colon")
    }
    return parts
  }
}
