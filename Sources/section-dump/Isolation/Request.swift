/// What a child is asked to read.
struct Request: Coded {
  var input = Input(path: [])
  /// Whether colours are wanted: a child has no terminal.
  var isColored = false

  mutating func code(with coder: inout FieldCoder) throws(FieldCoder.Broken) {
    try coder.code(
      &self, \.input.path, \.input.name, \.input.isFound, \.isColored)
  }
}
