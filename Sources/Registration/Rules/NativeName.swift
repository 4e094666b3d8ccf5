/// Names of actions that no call from outside ever reaches: those that begin with `native`.
package enum NativeName {
  /// Returns whether a name is one, whatever the case and however often it is percent-encoded.
  ///
  /// - Parameter name: The name of an action.
  /// - Returns: Whether it is never remote.
  package static func matches(_ name: String) -> Bool {
    var name = name
    for _ in 0..<8 {
      if name.lowercased().hasPrefix("native") { return true }
      let decoded = try? PercentDecoding.text(of: Array(name.utf8)[...], "the name")
      guard let decoded, decoded != name else { return false }
      name = decoded
    }
    // An honest caller does not encode a name that often.
    return true
  }
}
