extension PatternReader {
  /// Reads what follows the `?`: keys, their types and defaults.
  func readQuery(_ query: Substring, into parts: inout PatternParts) throws(TextProblem) {
    for item in query.parts(at: "&") {
      if item == "*" {
        parts.allowsOtherKeys = true
        continue
      }
      var head = item
      var key = PatternKey(name: "", type: "String", isOptional: true, defaultText: nil)
      try check(
        item.first.map({ !"/:".contains($0) }) ?? true,
        "the query begins with ? and cannot begin with \"\(item)\"; (/:name) may be missing, and "
          + "*:// is any scheme")
      // The default may hold anything but &, as long as it is no parameter of another router.
      if let (name, text) = item.cut(at: "=") {
        try check(
          text.first.map { !":{<".contains($0) } ?? true,
          "a key of the query gives its value by itself; write \(name) or \(name)<String>, and %XX "
            + "for a default that begins like \"\(text)\"")
        key.defaultText = try decoded(text)
        head = name
      }
      if head.unicodeScalars.last == ">", let (name, behind) = head.cut(at: "<") {
        var type = behind.dropLastScalar
        let isOptional = type.unicodeScalars.last == "?"
        key.isOptional = isOptional || key.defaultText != nil
        if isOptional { type = type.dropLastScalar }
        key.type = try typeName(type)
        head = name
      }
      key.name = try plain(head)
      try check(
        !key.name.isEmpty, "\"\(item)\" of the query is no key, key<Type> or key<Type>=default")
      try check(key)
      parts.keys.append(key)
    }
  }
  /// Throws where a type that every pattern may name is none of a query's, or does not hold the default.
  private func check(_ key: PatternKey) throws(TextProblem) {
    try check(
      PatternSegment.typeKey(key.type) != "path",
      "a Path takes what is left of the path, so the key \(key.name) cannot be one; write \(key.name) or "
        + "\(key.name)<String>")
    guard let text = key.defaultText, let type = BuiltInType(named: key.type), !type.holds(text)
    else { return }
    throw bad("the default of \(key.name) is no \(key.type): \"\(text)\"")
  }
}
