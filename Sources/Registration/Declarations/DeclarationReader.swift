extension ActionDeclaration {
  /// Reads a declaration; `init(parsing:)` of `BeeHiveRouting` throws its own error.
  package init(reading text: String) throws(Refusal) {
    var reader = DeclarationReader(text)
    self = try reader.read()
  }
}

/// Reads the text of an `ActionDeclaration`.
private struct DeclarationReader {
  private let text: String
  private var rest: Substring

  init(_ text: String) {
    self.text = text
    rest = text[...]
  }

  mutating func read() throws(Refusal) -> ActionDeclaration {
    var declaration = ActionDeclaration(name: "")
    declaration.exposure =
      takeWord("remote") ? .remote : takeWord("elevated") ? .elevated : .local
    declaration.name = try takeName("the action")
    try take("(")
    while !rest.hasPrefix(")") {
      declaration.parameters.append(try takeParameter())
      guard takeSign(",") else { break }
    }
    try take(")")
    declaration.isAsync = takeWord("async")
    declaration.canThrow = takeWord("throws")
    if takeSign("->") {
      declaration.result = String(rest)
      guard !rest.isEmpty else { throw bad("a type has to follow ->") }
    } else if !rest.isEmpty {
      throw bad("\"\(rest)\" is left over")
    }
    let names = declaration.parameters.map(\.name)
    if Set(names).count < names.count { throw bad("two parameters have the same name") }
    return declaration
  }

  private mutating func takeParameter() throws(Refusal) -> ActionDeclaration.Parameter {
    let name = try takeName("a parameter")
    try take(":")
    let type = takeBalanced(until: "=")
    var parameter = ActionDeclaration.Parameter(name: name, type: type)
    parameter.isOptional = type.hasSuffix("?")
    if parameter.isOptional { parameter.type.removeLast() }
    guard !parameter.type.isEmpty else { throw bad("the parameter \(name) has no type") }
    if takeSign("=") { parameter.default = takeBalanced(until: nil) }
    return parameter
  }

  /// Takes the text up to a comma, a parenthesis or `end` outside of brackets and quotes.
  private mutating func takeBalanced(until end: Character?) -> String {
    var depth = 0
    var isQuoted = false
    var index = rest.startIndex
    while index < rest.endIndex {
      let character = rest[index]
      if character == "\"" { isQuoted.toggle() }
      if !isQuoted {
        if depth == 0, character == "," || character == ")" || character == end { break }
        if "([<".contains(character) { depth += 1 }
        // The bracket of an arrow closes nothing.
        if ")]".contains(character) || (character == ">" && !rest[..<index].hasSuffix("-")) {
          depth -= 1
        }
      }
      index = rest.index(after: index)
    }
    let taken = rest[..<index]
    rest = rest[index...]
    return String(taken.reversed().drop { $0 == " " }.reversed())
  }

  private mutating func takeName(_ what: String) throws(Refusal) -> String {
    skipBlanks()
    let name = rest.prefix { $0.isLetter || $0.isNumber || $0 == "_" || $0 == "-" || $0 == "." }
    guard !name.isEmpty else { throw bad("\(what) has no name") }
    rest = rest.dropFirst(name.count)
    return String(name)
  }

  private mutating func takeWord(_ word: String) -> Bool {
    skipBlanks()
    guard rest.hasPrefix(word) else { return false }
    let behind = rest.dropFirst(word.count)
    guard behind.first.map({ $0 == " " || $0 == "-" }) ?? true else { return false }
    rest = behind
    return true
  }

  private mutating func take(_ sign: String) throws(Refusal) {
    guard !takeSign(sign) else { return }
    throw bad("\(sign) is missing" + (rest.isEmpty ? "" : "; there is \"\(rest)\" in its place"))
  }

  /// Takes a sign and the blanks around it, if the sign comes next. Returns whether it does.
  private mutating func takeSign(_ sign: String) -> Bool {
    skipBlanks()
    guard rest.hasPrefix(sign) else { return false }
    rest = rest.dropFirst(sign.count)
    skipBlanks()
    return true
  }

  private mutating func skipBlanks() { rest = rest.drop { $0 == " " } }

  private func bad(_ reason: String) -> Refusal {
    let place = text.utf8.count - rest.utf8.count
    return Refusal(
      .badAction, at: place,
      "the declaration \"\(text)\" cannot be read at byte \(place): \(reason)")
  }
}
