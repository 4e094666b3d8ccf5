/// What the grammar finds in the text of one entry.
struct EntryParts {
  var kind: RecordKind
  var name: Range<Int>
  var implementation = 0..<0
  var attributes = 0..<0
  var hasEscapes = false
  /// Whether all of the text is ASCII.
  var isASCII: Bool
}
