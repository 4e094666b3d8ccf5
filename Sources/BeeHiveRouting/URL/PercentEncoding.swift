/// Writes text so that a URL can hold it.
enum PercentEncoding {
  /// A segment of a path: what RFC 3986 reserves is encoded, so that it comes back as one segment.
  static func segment(_ text: String) -> String { encode(text, keeping: "-._~!$'()*,;=@+") }

  /// A host: nothing in it reads as a user or a port.
  static func host(_ text: String) -> String { encode(text, keeping: "-._~!$'()*,;=") }

  /// A key or a value of a query; a plus is encoded, since it would come back as a blank.
  static func query(_ text: String) -> String { encode(text, keeping: "-._~/:") }

  /// A parameter of a query.
  static func item(_ item: URLText.Item) -> String {
    query(item.name) + (item.value.map { "=\(query($0))" } ?? "")
  }

  private static func encode(_ text: String, keeping others: StaticString) -> String {
    let kept = Set(others.description.utf8)
    return text.utf8.percentEncoded { !($0.isLetter || $0.isDigit || kept.contains($0)) }
  }
}
