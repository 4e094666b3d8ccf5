/// What a child is asked to read.
struct Request: Fielded {
  var input = Input(path: [])
  /// Whether colours are wanted: a child has no terminal.
  var isColored = false

  static var fields: Fields<Self> {
    Fields(\.input.path, \.input.name, \.input.isFound, \.isColored)
  }
}
