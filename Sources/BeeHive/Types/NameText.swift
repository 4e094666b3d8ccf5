/// The spelling of type names: where the parts of a text lie and how spaces are set.
///
/// Works on UTF-8: everything that has a meaning here is ASCII.
enum NameText {
  /// How the names that images hold spell a space.
  static let noBreakSpace: Character = "\u{a0}"

  /// Whether the byte may be part of an identifier; every byte above ASCII may.
  static func isIdentifier(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "$"), 0x80...:
      true
    default: false
    }
  }

  /// Whether the text is identifiers and dots alone.
  static func isPlain(_ text: String) -> Bool {
    text.utf8.allSatisfy { isIdentifier($0) || $0 == UInt8(ascii: ".") }
  }

  /// The text with one way of setting spaces, without `any`, outer parentheses and `.self`.
  static func normalised(_ written: String) -> String {
    var text = Substring(spaced(written))
    if text.hasSuffix(".self") { text = text.dropLast(5) }
    while let inner = parenthesised(text) { text = inner }
    // The order of a composition's parts means nothing, so it is always the same one.
    let parts = split(text, at: UInt8(ascii: "&"))
    guard parts.count > 1 else { return String(text) }
    return parts.map { trimmed($0) }.sorted().joined(separator: " & ")
  }

  /// The identifiers of a dotted name; nil where the text is none.
  static func path(_ text: String) -> [String]? {
    if isPlain(text) {
      let path = text.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
      return path.contains("") ? nil : path
    }
    var path: [String] = []
    for part in split(text[...], at: UInt8(ascii: ".")) {
      guard let name = identifier(of: part), !name.isEmpty else { return nil }
      path.append(name)
    }
    return path
  }

  /// The last identifier of a dotted name; nil where the text is none.
  static func last(_ text: String) -> Substring? {
    guard isPlain(text) else { return path(text)?.last.map { $0[...] } }
    let parts = text.split(separator: ".", omittingEmptySubsequences: false)
    return parts.contains("") ? nil : parts.last
  }

  /// The text, and what is left of it after each of its top-level dots.
  static func suffixes(_ text: String) -> [String] {
    guard path(text) != nil else { return [text] }
    return split(text[...], at: UInt8(ascii: ".")).map { String(text[$0.startIndex...]) }
  }

  /// The parts between the separators outside all brackets and backticks.
  static func split(_ text: Substring, at separator: UInt8) -> [Substring] {
    var parts: [Substring] = []
    var start = text.startIndex
    var depth = 0
    var isQuoted = false
    var previous: UInt8 = 0
    for index in text.utf8.indices {
      let byte = text.utf8[index]
      switch byte {
      case UInt8(ascii: "`"): isQuoted.toggle()
      case _ where isQuoted: break
      case UInt8(ascii: "<"), UInt8(ascii: "("), UInt8(ascii: "["): depth += 1
      // The arrow of a function type closes nothing.
      case UInt8(ascii: ">") where previous == UInt8(ascii: "-"): break
      case UInt8(ascii: ">"), UInt8(ascii: ")"), UInt8(ascii: "]"): depth -= 1
      case separator where depth == 0:
        parts.append(text[start..<index])
        start = text.utf8.index(after: index)
      default: break
      }
      previous = byte
    }
    return parts + [text[start...]]
  }

  /// The identifier that a part of a dotted name starts with; nil where more than arguments follow.
  private static func identifier(of part: Substring) -> String? {
    let bytes = part.utf8
    if bytes.first == UInt8(ascii: "`") {
      guard part.last == "`", part.count > 2 else { return nil }
      let inner = part.dropFirst().dropLast()
      // Backticks that only escape a keyword are gone in the image; those of a raw identifier stay,
      // and no-break spaces are its spaces.
      if inner.utf8.allSatisfy(isIdentifier), inner.first?.isWholeNumber == false {
        return String(inner)
      }
      return String(part.map { $0 == " " ? noBreakSpace : $0 })
    }
    let end = bytes.firstIndex { !isIdentifier($0) } ?? bytes.endIndex
    guard end == bytes.endIndex || (bytes[end] == UInt8(ascii: "<") && part.last == ">") else {
      return nil
    }
    return String(part[..<end])
  }

  /// The text between the parentheses that enclose the whole text; nil for a tuple or a function.
  private static func parenthesised(_ text: Substring) -> Substring? {
    guard text.first == "(", text.last == ")" else { return nil }
    let inner = text.dropFirst().dropLast()
    var depth = 0
    for byte in inner.utf8 {
      if byte == UInt8(ascii: "(") { depth += 1 }
      if byte == UInt8(ascii: ")") { depth -= 1 }
      // `(A) & (B)`: the first parenthesis closes before the end.
      if depth < 0 { return nil }
    }
    guard !inner.isEmpty, split(inner, at: UInt8(ascii: ",")).count == 1 else { return nil }
    return inner
  }

  private static func trimmed(_ text: Substring) -> Substring {
    let inner = text.drop { $0 == " " }
    return inner.last == " " ? inner.dropLast() : inner
  }

  /// Sets spaces: one between words, one after a comma, one around `&` and `->`, none elsewhere.
  private static func spaced(_ written: String) -> String {
    var output: [UInt8] = []
    var rest = Array(written.utf8)[...]
    var isSpaced = false
    while let byte = rest.first {
      switch byte {
      case UInt8(ascii: " "), UInt8(ascii: "\t"), UInt8(ascii: "\n"), UInt8(ascii: "\r"):
        rest.removeFirst()
        isSpaced = true
        continue
      case UInt8(ascii: "`"):
        let end = rest.dropFirst().firstIndex(of: byte) ?? rest.index(before: rest.endIndex)
        output += rest[...end]
        rest = rest[(end + 1)...]
      case _ where isIdentifier(byte):
        let word = rest.prefix(while: isIdentifier)
        rest = rest.dropFirst(word.count)
        let isKeyword = word.elementsEqual("any".utf8) || word.elementsEqual("some".utf8)
        // `any P` and `any(P)`, but not `any.P`.
        if isKeyword, output.last != UInt8(ascii: "."), let next = rest.first,
          " \t(".utf8.contains(next)
        {
          continue
        }
        if isSpaced, let last = output.last, isIdentifier(last) { output.append(UInt8(ascii: " ")) }
        output += word
      case UInt8(ascii: ","), UInt8(ascii: ":"):
        rest.removeFirst()
        output += [byte, UInt8(ascii: " ")]
      case UInt8(ascii: "&"):
        rest.removeFirst()
        output += " & ".utf8
      case UInt8(ascii: "-") where rest.dropFirst().first == UInt8(ascii: ">"):
        rest.removeFirst(2)
        output += " -> ".utf8
      default:
        rest.removeFirst()
        output.append(byte)
      }
      isSpaced = false
    }
    return String(decoding: output, as: UTF8.self)
  }
}
