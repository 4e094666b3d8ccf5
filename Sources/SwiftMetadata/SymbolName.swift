/// The names in the symbol of a protocol's or a type's descriptor: `Contracts.Codec` of `$s9Contracts5CodecMp`.
///
/// Only what other images can refer to is read: modules, and types and protocols in them, nested or in extensions.
/// Swift: `docs/ABI/Mangling.rst`.
package struct SymbolName {
  /// The names from the module on.
  package private(set) var path: [String] = []
  /// The kind of the symbol: `Mp` for a protocol's descriptor, `Mn` for a type's.
  package var suffix: String { String(decoding: rest, as: UTF8.self) }

  private var rest: ArraySlice<UInt8>
  /// The words of the identifiers so far; later identifiers may consist of them.
  private var words: [ArraySlice<UInt8>] = []
  /// The paths so far; later paths may begin with them.
  private var known: [[String]] = []

  /// Reads a symbol; nil if it names something else, or has a spelling that is not read.
  package init?(_ symbol: String) {
    rest = Array(symbol.utf8)[...]
    guard let path = read() else { return nil }
    self.path = path
  }

  /// Returns the name of a symbol for texts: `Contracts.Codec`, or the symbol itself.
  package static func text(of symbol: String) -> String {
    SymbolName(symbol)?.path.joined(separator: ".") ?? symbol
  }

  private mutating func read() -> [String]? {
    // No name that a compiler makes is longer.
    guard rest.count < 1 << 12, skip("$s"), var path = context() else { return nil }
    while let byte = rest.first, isDigit(byte) {
      guard let name = identifier() else { return nil }
      path.append(name)
      // A protocol has no letter of its own where it is described.
      if let kind = rest.first, [UInt8]("VCOP".utf8).contains(kind) { rest.removeFirst() }
      known.append(path)
      skipExtension()
    }
    return path.count > 1 ? path : nil
  }

  /// Reads a module, or an abbreviation of the standard library.
  private mutating func context() -> [String]? {
    if skip("So") || skip("SC") { return ["__C"] }
    if skip("s") { return ["Swift"] }
    if skip("S") {
      var key = rest.prefix(1)
      if key.first == UInt8(ascii: "c") { key = rest.prefix(2) }
      guard let name = Self.standard[String(decoding: key, as: UTF8.self)] else { return nil }
      rest = rest.dropFirst(key.count)
      skipExtension()
      return ["Swift", name]
    }
    if skip("A") {
      // `AA` is the first path that was read.
      guard let letter = rest.popFirst(), case let index = Int(letter) - 65,
        known.indices.contains(index)
      else { return nil }
      return known[index]
    }
    guard let module = identifier() else { return nil }
    known.append([module])
    return [module]
  }

  /// Skips the module of an extension; the type that it extends is before it.
  private mutating func skipExtension() {
    var inExtension = self
    if inExtension.context() != nil, inExtension.skip("E") { self = inExtension }
  }

  private mutating func identifier() -> String? {
    guard let first = rest.first, isDigit(first) else { return nil }
    var usesWords = skip("0")
    // Punycode is not read.
    if usesWords, rest.first == UInt8(ascii: "0") { return nil }
    var bytes: [UInt8] = []
    repeat {
      while usesWords, let letter = rest.first, isLetter(letter) {
        rest.removeFirst()
        usesWords = letter >= UInt8(ascii: "a")
        let index = Int(letter) - (usesWords ? 97 : 65)
        guard words.indices.contains(index) else { return nil }
        bytes += words[index]
      }
      if skip("0") { break }
      guard let count = natural(), count > 0, count <= rest.count else { return nil }
      let slice = rest.prefix(count)
      rest = rest.dropFirst(count)
      remember(slice)
      bytes += slice
    } while usesWords
    return String(validating: bytes, as: UTF8.self)
  }

  /// Remembers words: they begin at letters, and end before a capital or an underscore.
  private mutating func remember(_ slice: ArraySlice<UInt8>) {
    var start: Int?
    for index in slice.startIndex...slice.endIndex {
      let byte = index < slice.endIndex ? slice[index] : UInt8(ascii: "_")
      if let from = start,
        byte == UInt8(ascii: "_") || isCapital(byte) && !isCapital(slice[index - 1])
      {
        if index - from >= 2, words.count < 26 { words.append(slice[from..<index]) }
        start = nil
      }
      if start == nil, !isDigit(byte), byte != UInt8(ascii: "_") { start = index }
    }
  }

  private mutating func natural() -> Int? {
    let digits = rest.prefix(4).prefix(while: isDigit)
    rest = rest.dropFirst(digits.count)
    return digits.isEmpty ? nil : digits.reduce(0) { $0 * 10 + Int($1) - 48 }
  }

  private mutating func skip(_ text: String) -> Bool {
    guard rest.starts(with: text.utf8) else { return false }
    rest = rest.dropFirst(text.utf8.count)
    return true
  }

  private func isDigit(_ byte: UInt8) -> Bool { (48...57).contains(byte) }
  private func isCapital(_ byte: UInt8) -> Bool { (65...90).contains(byte) }
  private func isLetter(_ byte: UInt8) -> Bool { isCapital(byte) || (97...122).contains(byte) }

  /// Swift: `StandardTypesMangling.def`.
  private static let standard: [String: String] = {
    let pairs = """
      a Array b Bool D Dictionary d Double f Float h Set I DefaultIndices i Int J Character \
      N ClosedRange n Range O ObjectIdentifier P UnsafePointer p UnsafeMutablePointer \
      R UnsafeBufferPointer r UnsafeMutableBufferPointer S String s Substring u UInt \
      V UnsafeRawPointer v UnsafeMutableRawPointer W UnsafeRawBufferPointer \
      w UnsafeMutableRawBufferPointer q Optional B BinaryFloatingPoint E Encodable e Decodable \
      F FloatingPoint G RandomNumberGenerator H Hashable j Numeric K BidirectionalCollection \
      k RandomAccessCollection L Comparable l Collection M MutableCollection \
      m RangeReplaceableCollection Q Equatable T Sequence t IteratorProtocol U UnsignedInteger \
      X RangeExpression x Strideable Y RawRepresentable y StringProtocol Z SignedInteger \
      z BinaryInteger cA Actor cF Executor cf SerialExecutor ch TaskExecutor \
      cI AsyncIteratorProtocol ci AsyncSequence cM MainActor cP TaskPriority cT Task \
      cE CancellationError cS AsyncStream
      """.split(separator: " ").map(String.init)
    return Dictionary(
      stride(from: 0, to: pairs.count - 1, by: 2).map { (pairs[$0], pairs[$0 + 1]) }
    ) { first, _ in first }
  }()
}
