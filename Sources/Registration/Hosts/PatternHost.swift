/// The host of a pattern: the part between `//` and the first slash, which matches the hosts of URLs.
package enum PatternHost {
  /// The keys of the hosts that it names, as ``Host/key(port:)`` has them.
  ///
  /// A pattern of any scheme has two, since the web reads one text in another way than the other schemes do;
  /// only the first where the web has no such host.
  ///
  /// - Parameters:
  ///   - part: The host and perhaps the port, as the pattern has them.
  ///   - scheme: The pattern's, in lower case; nil for any.
  /// - Returns: One key or two; nil where the part is a parameter, or all that is left.
  /// - Throws: ``TextProblem`` where no URL has such a host.
  package static func keys(of part: Substring, scheme: String?) throws(TextProblem) -> [String]? {
    try TextProblem.check(
      part.unicodeScalars.count == 1 || part.unicodeScalars.last != ":", part.utf8.count,
      "its port is empty; write the number or leave out the colon")
    guard part.cut(at: "*") == nil,
      isPort(part) || part.cut(at: ":") == nil || part.utf8.first == UInt8(ascii: "[")
    else { return nil }
    let bytes = Array(part.utf8)[...]
    let authority = try Authority(bytes, SchemeRules(scheme: scheme))
    guard let host = authority.host else { throw TextProblem(0, "it is empty") }
    let web = scheme == nil ? try? Authority(bytes, .web(defaultPort: nil)).host : nil
    return [host, web].compactMap { $0?.key(port: authority.port) }
  }

  /// The text before and behind a parameter, as hosts have it: for `http` and `https`, in lower case.
  ///
  /// - Throws: ``TextProblem`` where no host of the scheme has such text.
  package static func text(
    before prefix: String, behind suffix: String, scheme: String?
  ) throws(TextProblem) -> (prefix: String, suffix: String) {
    try TextProblem.check(
      !(prefix + suffix).utf8.contains(where: { "/@:".utf8.contains($0) }), 0,
      "a host holds no slash, no @ and no colon")
    let rules = SchemeRules(scheme: scheme)
    guard rules.isWeb else { return (prefix, suffix) }
    // Around a value that every host may have.
    _ = try Host(Array("\(prefix)a\(suffix)".utf8)[...], rules)
    return (prefix.lowercased(), suffix.lowercased())
  }

  /// Returns whether this ends in a port, and so has no parameter.
  private static func isPort(_ part: Substring) -> Bool {
    guard let colon = part.utf8.lastIndex(of: UInt8(ascii: ":")), colon > part.startIndex else {
      return false
    }
    let digits = part.utf8[colon...].dropFirst()
    return !digits.isEmpty && digits.allSatisfy(\.isDigit)
  }
}
