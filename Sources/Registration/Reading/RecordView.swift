/// A checked entry in its section: it satisfies every rule for an entry alone, and no value was copied.
///
/// Its parts are ranges of its text. The text of a pointer slot is the string that the pointer leads to, that
/// of a typed record the record from its first byte on.
package struct RecordView: Sendable {
  /// A part of the text.
  struct Part: Sendable {
    let start, count: UInt32

    init(_ range: Range<Int>) { (start, count) = (UInt32(range.lowerBound), UInt32(range.count)) }

    var range: Range<Int> { Int(start)..<Int(start) + Int(count) }
  }

  /// What is declared.
  package let kind: RecordKind
  /// How the entry is written.
  let encoding: Record.Encoding
  /// Whether the names are JSON strings with escapes.
  let hasEscapes: Bool
  /// Whether all of the text is ASCII.
  let isASCII: Bool
  /// Whether the value can be made at any later time: the name is ASCII and there is no accessor to ask. Set
  /// for loaded images only.
  package internal(set) var isPlain = false
  /// The hash of its name, as `NameHash` makes it.
  package let hash: UInt32
  /// The number of its section among those of its image that hold entries.
  let section: UInt32
  /// The slot, as `Origin` counts.
  let index: UInt32
  /// The offset in its section.
  let offset: UInt64
  let name: Part
  /// Empty where the entry names nothing.
  let implementation: Part
  /// `key=value` fields, each with its NUL; empty where there are none.
  let attributes: Part

  init(
    _ parts: EntryParts, of text: Span<UInt8>, encoding: Record.Encoding, section: Int, index: Int,
    offset: UInt64
  ) {
    (kind, self.encoding) = (parts.kind, encoding)
    (hasEscapes, isASCII) = (parts.hasEscapes, parts.isASCII)
    (self.section, self.index, self.offset) = (UInt32(section), UInt32(index), offset)
    name = Part(parts.name)
    implementation = Part(parts.implementation)
    attributes = Part(parts.attributes)
    hash =
      parts.hasEscapes
      ? NameHash.of(JSONStringPair.decoded(text.extracting(parts.name)).utf8Span.span, kind)
      : NameHash.of(text.extracting(parts.name), kind)
  }

  /// The name, copied.
  func nameText(in text: Span<UInt8>) -> String { string(name, in: text) }

  /// The implementation, copied; nil where the entry names nothing.
  func implementationText(in text: Span<UInt8>) -> String? {
    implementation.count == 0 ? nil : string(implementation, in: text)
  }

  private func string(_ part: Part, in text: Span<UInt8>) -> String {
    let bytes = text.extracting(part.range)
    return hasEscapes ? JSONStringPair.decoded(bytes) : String(checked: bytes)
  }
}
