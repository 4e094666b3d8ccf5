/// What a child is asked to read, as a text.
struct Request {
  var input: Input
  /// Whether colours are wanted: a child has no terminal.
  var isColored: Bool

  /// `2f746d70:2f746d70:1:0`
  var text: String {
    [
      input.path.hexadecimal, Array(input.name.utf8).hexadecimal, input.isFound ? "1" : "0",
      isColored ? "1" : "0",
    ].joined(separator: ":")
  }

  init(input: Input, isColored: Bool) {
    self.input = input
    self.isColored = isColored
  }

  /// What a text says; nil where it is no request.
  init?(_ text: String) {
    let fields = text.split(separator: ":", omittingEmptySubsequences: false)
    guard fields.count == 4, let path = Self.bytes(fields[0]), let name = Self.bytes(fields[1])
    else { return nil }
    input = Input(path: path, isFound: fields[2] == "1")
    input.name = String(decoding: name, as: UTF8.self)
    isColored = fields[3] == "1"
  }

  private static func bytes(_ digits: Substring) -> [UInt8]? {
    var bytes: [UInt8] = []
    var rest = digits.utf8[...]
    while !rest.isEmpty {
      guard rest.count > 1, let byte = UInt8(Substring(rest.prefix(2)), radix: 16) else {
        return nil
      }
      bytes.append(byte)
      rest = rest.dropFirst(2)
    }
    return bytes
  }
}
