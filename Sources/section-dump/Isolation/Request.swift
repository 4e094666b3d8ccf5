/// What a child is asked to read.
struct Request: Codable {
  var input: Input
  /// Whether colours are wanted: a child has no terminal.
  var isColored: Bool
}
