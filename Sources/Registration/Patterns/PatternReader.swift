/// Reads the text of a pattern.
///
/// It is cut at the characters of ASCII, whatever marks follow them, as a URL is cut at its bytes.
struct PatternReader {
  /// The most forms of a pattern. More optional parts would make more forms than anybody can mean.
  static let mostVariants = 64
  /// The most bytes of a pattern. All forms together are up to `mostVariants` times as long.
  static let mostBytes = 16 << 10

  let text: String

  func read(into parts: inout PatternParts) throws(Refusal) {
    try check(!text.isEmpty, "it is empty; write / for the root")
    try check(text.utf8.count <= Self.mostBytes, "it is longer than \(Self.mostBytes) bytes")
    try check(
      text.utf8.allSatisfy({ $0 > 0x20 && $0 != 0x7f }),
      "a blank or a control character has to be written as %XX; a method is no part of a pattern")
    try check(text[...].cut(at: "#") == nil, "a fragment is no part of a pattern")
    // A type of the path has no question mark.
    var (path, query) = text[...].split(at: "?")
    try check(
      query?.isEmpty != true,
      "nothing follows the ?; a part that may be missing is written (/:name)")
    (parts.scheme, path) = try splitScheme(path)
    if path.utf8.starts(with: "//".utf8) {
      parts.isAbsolute = true
      path = Substring(path.unicodeScalars.dropFirst(2))
    }
    var variants: [[PatternSegment]] = []
    for form in try Self.forms(of: path) {
      for segments in try self.variants(of: form, parts) where !variants.contains(segments) {
        variants.append(segments)
      }
    }
    parts.variants = variants.enumerated()
      .sorted { ($1.element.count, $0.offset) < ($0.element.count, $1.offset) }.map(\.element)
    if let query { try readQuery(query, into: &parts) }
    try checkNames(parts)
  }

  private func splitScheme(_ path: Substring) throws(Refusal) -> (String?, Substring) {
    guard let (scheme, rest) = path.cut(at: ":") else { return (nil, path) }
    if scheme == "*" { return (nil, rest) }
    // `:name` at the front is a parameter, and so is the one of `v:major`.
    guard let first = scheme.utf8.first, first.isLetter,
      scheme.utf8.allSatisfy(\.isSchemeCharacter), rest.utf8.first == UInt8(ascii: "/")
    else {
      try check(
        scheme.isEmpty || scheme.cut(at: "/") != nil || !rest.utf8.starts(with: "//".utf8),
        "\"\(scheme.excerpt)\" is no scheme: a letter, then letters, digits, +, - and .")
      return (nil, path)
    }
    let name = scheme.lowercased()
    let rules = SchemeRules(scheme: name)
    guard rules.isWeb else { return (name, rest) }
    return (name, String(decoding: rest.utf8.map(rules.cut), as: UTF8.self)[...])
  }

  /// Returns the segments of a form: one list for each way to read its host.
  private func variants(
    of form: String, _ pattern: PatternParts
  ) throws(Refusal) -> [[PatternSegment]] {
    var segments: [PatternSegment] = []
    var hosts: [String] = []
    for (index, part) in form[...].parts(at: "/").enumerated() {
      if case .rest? = segments.last {
        throw bad(
          "nothing can follow * or a Path, which take all that is left; write :name for one segment"
        )
      }
      guard index == 0, pattern.isAbsolute else {
        segments.append(try segment(part))
        continue
      }
      do throws(Refusal) {
        hosts = try Host.keys(ofPattern: part.withoutEdges[...], scheme: pattern.scheme) ?? []
        let segment = hosts.isEmpty ? try segment(part) : PatternSegment.literal(hosts[0])
        segments.append(try host(segment, pattern.scheme))
      } catch {
        throw bad("\"\(part.excerpt)\" is no host: \(error.message)")
      }
    }
    try check(
      !segments.isEmpty || !pattern.isAbsolute || !SchemeRules(scheme: pattern.scheme).isWeb,
      "every URL of http or https has a host; write //* for any")
    try check(
      segments.count <= PatternParts.mostSegments,
      "it has more than \(PatternParts.mostSegments) segments")
    return [segments] + hosts.dropFirst().map { [.literal($0)] + segments.dropFirst() }
  }

  /// Returns a segment as hosts have it.
  private func host(
    _ segment: PatternSegment, _ scheme: String?
  ) throws(Refusal) -> PatternSegment {
    guard case .capture(var capture) = segment else { return segment }
    (capture.prefix, capture.suffix) = try Host.patternText(
      before: capture.prefix, behind: capture.suffix, scheme: scheme)
    return .capture(capture)
  }

  private func segment(_ part: Substring) throws(Refusal) -> PatternSegment {
    if let (before, name) = part.cut(at: "*") {
      try check(
        before.isEmpty,
        "* takes whole segments; \"\(part.excerpt)\" has more; write *rest for all that is left")
      try check(
        name.allSatisfy(\.isNamePart),
        "* is followed by a name or by nothing, not by \"\(name.excerpt)\"; write *rest")
      return .rest(name: name.isEmpty ? "*" : String(name), isPath: false)
    }
    guard let (before, behind) = part.cut(at: ":"),
      !before.utf8.contains(where: Self.isReserved)
    else {
      let literal = try plain(part)
      try check(literal != "." && literal != "..", "it climbs with \(literal), so no URL matches")
      return .literal(literal)
    }
    return try capture(part, before, behind)
  }

  private func capture(
    _ part: Substring, _ before: Substring, _ behind: Substring
  ) throws(Refusal) -> PatternSegment {
    let name = behind.prefix(while: \.isNamePart)
    guard let first = name.first, !first.isNumber else {
      throw bad(": is followed by a name that begins with a letter; write %3A for a colon")
    }
    var rest = behind[name.endIndex...]
    var capture = PatternSegment.Capture(prefix: try plain(before), name: String(name))
    if rest.utf8.first == UInt8(ascii: "<") {
      guard let (written, suffix) = rest.dropFirstScalar.cut(at: ">") else {
        throw bad("< has no >; a parameter that may be missing is written (/:name<Type>)")
      }
      let type = try typeName(written)
      rest = suffix
      if type.lowercased() == "path" {
        try check(
          capture.prefix.isEmpty && rest.isEmpty,
          "a Path takes whole segments, so it has no text before or behind it")
        return .rest(name: capture.name, isPath: true)
      }
      capture.type = type.lowercased() == "string" ? nil : type
    }
    try check(
      rest.cut(at: ":") == nil,
      "\"\(part.excerpt)\" has two parameters in one segment; take it as one, and cut its text in the handler"
    )
    try check(
      rest.utf8.first != UInt8(ascii: "+"),
      "\"\(part.excerpt)\" has + behind a parameter; *name takes several segments, and %2B is the sign itself"
    )
    capture.suffix = try plain(rest)
    try check(
      (capture.prefix + "a" + capture.suffix).count
        == capture.prefix.count + 1 + capture.suffix.count,
      "in \"\(part.excerpt)\" the text next to the parameter forms one character with its value")
    return .capture(capture)
  }

  /// Throws if two values have one name.
  private func checkNames(_ parts: PatternParts) throws(Refusal) {
    for variant in parts.variants {
      var names: Set<String> = []
      for name in parts.keys.map(\.name) + variant.compactMap(\.name) {
        try check(names.insert(name).inserted, "the name \(name.excerpt) is there twice")
      }
    }
  }

  /// Returns the name of a type between angle brackets.
  func typeName(_ name: Substring) throws(Refusal) -> String {
    try check(
      !name.isEmpty && name.allSatisfy(\.isNamePart),
      "between < and > is the name of a type, not \"\(name.excerpt)\"")
    return String(name)
  }

  /// Returns the text of a segment, or of a part of one.
  func plain(_ part: Substring) throws(Refusal) -> String {
    if let sign = part.utf8.first(where: Self.isReserved) {
      throw bad(
        "\"\(part.excerpt)\" has \(Unicode.Scalar(sign)), which no name has; write :name, :name<Type> or, with text behind, "
          + ":name<String>text for a parameter, *rest for all that is left, else %XX")
    }
    return try decoded(part.withoutEdges[...])
  }

  /// Returns whether no URL has a sign as it is. Other routers write parameters with such signs.
  private static func isReserved(_ sign: UInt8) -> Bool {
    "<>{}[]\\|^`\"".utf8.contains(sign)
  }

  func decoded(_ part: Substring) throws(Refusal) -> String {
    try percentDecoded(Array(part.utf8)[...], "the pattern")
  }

  /// Throws a problem unless something is right.
  func check(_ isRight: Bool, _ reason: @autoclosure () -> String) throws(Refusal) {
    if !isRight { throw bad(reason()) }
  }

  func bad(_ reason: String) -> Refusal {
    Refusal(.badPattern, reason[...].withoutEdges)
  }
}

extension Substring {
  /// The text without the marks that keep names apart: see `PatternReader.edge`.
  fileprivate var withoutEdges: String {
    String(decoding: utf8.filter { $0 != UInt8(ascii: PatternReader.edge) }, as: UTF8.self)
  }
}

extension Character {
  /// Whether names of parameters and types may contain it.
  package var isNamePart: Bool { isLetter || isNumber || self == "_" }
}

extension PatternReader {
  /// Reads the query after the `?`: keys, their types and defaults.
  func readQuery(_ query: Substring, into parts: inout PatternParts) throws(Refusal) {
    for item in query.parts(at: "&") {
      if item == "*" {
        parts.allowsOtherKeys = true
        continue
      }
      var head = item
      var key = PatternKey(name: "", type: "String", isOptional: true)
      try check(
        item.first.map({ !"/:".contains($0) }) ?? true,
        "the query begins with ? and cannot begin with \"\(item)\"; (/:name) may be missing, and "
          + "*:// is any scheme")
      // The default may hold anything but &, as long as it is no parameter of another router.
      if let (name, text) = item.cut(at: "=") {
        try check(
          text.first.map { !":{<".contains($0) } ?? true,
          "a key of the query takes its value by its own name; write \(name) or \(name)<String>, and %XX "
            + "for a default that begins like \"\(text)\"")
        key.default = try decoded(text)
        head = name
      }
      if head.unicodeScalars.last == ">", let (name, behind) = head.cut(at: "<") {
        var type = behind.dropLastScalar
        let isOptional = type.unicodeScalars.last == "?"
        key.isOptional = isOptional || key.default != nil
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

  /// Throws if a key has a type that only paths have, or a default that is not of its type.
  private func check(_ key: PatternKey) throws(Refusal) {
    try check(
      PatternSegment.typeKey(key.type) != "path",
      "a Path takes what is left of the path, so the key \(key.name) cannot be one; write \(key.name) or "
        + "\(key.name)<String>")
    guard let text = key.default, let type = BuiltInType(named: key.type), !type.holds(text)
    else { return }
    throw bad("the default of \(key.name) is no \(key.type): \"\(text)\"")
  }
}

// The forms of a pattern with optional parts in parentheses.
extension PatternReader {
  /// Returns every form, the one with all parts first.
  private static func forms(of path: Substring) throws(Refusal) -> [String] {
    guard path.cut(at: "(") != nil || path.cut(at: ")") != nil else { return [String(path)] }
    var rest = path.unicodeScalars
    let forms = try sequence(&rest, depth: 0)
    try Refusal.check(rest.isEmpty, .badPattern, ") has no (")
    return forms
  }

  /// Returns the forms up to the end, or up to the `)` of a parenthesis that the caller opened.
  private static func sequence(
    _ rest: inout Substring.UnicodeScalarView, depth: Int
  ) throws(Refusal) -> [String] {
    // Each level makes one form more. This throws before the stack is used up.
    guard depth < mostVariants else { throw tooMany }
    var forms = [""]
    while let next = rest.first, next != ")" {
      if next == "(" {
        rest = rest.dropFirst()
        let inner = try sequence(&rest, depth: depth + 1)
        try Refusal.check(rest.first == ")", .badPattern, "( has no )")
        rest = rest.dropFirst()
        // Counted before they are made, because each is as long as the pattern.
        guard forms.count * (inner.count + 1) <= mostVariants else { throw tooMany }
        forms = forms.flatMap { form in inner.map { joined(form, $0) } + [form] }
      } else {
        let plain = Substring(rest.prefix { $0 != "(" && $0 != ")" })
        rest = rest.dropFirst(plain.unicodeScalars.count)
        forms = forms.map { joined($0, plain) }
      }
    }
    return forms
  }

  /// Separates a name from the edge of an optional part. No pattern contains it.
  static let edge: Unicode.Scalar = "\u{1}"

  private static func joined(_ form: String, _ next: some StringProtocol) -> String {
    guard let last = form.last, let first = next.first, first.isNamePart || first == "<",
      last.isNamePart || ":*<".contains(last)
    else { return form + next }
    return form + String(edge) + next
  }

  private static let tooMany = Refusal(
    .badPattern, "its optional parts make more than \(mostVariants) forms")
}
