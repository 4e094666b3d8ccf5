/// A type whose values a piece of a URL can hold.
///
/// An enum with a raw value conforms by saying so: `enum Currency: String, URLConvertible { … }`.
public protocol URLConvertible: Sendable {
  /// The value that a decoded text stands for; nil where it stands for none.
  init?(urlText: String)

  /// The text that `init(urlText:)` reads back; it is encoded where it goes into a URL.
  var urlText: String { get }

  /// The value of a key that is given this often; one text for everything but arrays and optionals.
  static func value(ofTexts texts: [String]) -> Self?

  /// The texts of a key that holds this value: one for everything but arrays and optionals.
  var urlTexts: [String] { get }
}

extension URLConvertible {
  /// The value of the one text; nil where there are several.
  public static func value(ofTexts texts: [String]) -> Self? {
    texts.count == 1 ? Self(urlText: texts[0]) : nil
  }

  /// The one text.
  public var urlTexts: [String] { [urlText] }
}

extension URLConvertible where Self: RawRepresentable, RawValue: URLConvertible {
  /// The value of the raw value that the text stands for.
  public init?(urlText: String) {
    guard let rawValue = RawValue(urlText: urlText) else { return nil }
    self.init(rawValue: rawValue)
  }

  /// The text of the raw value.
  public var urlText: String { rawValue.urlText }
}

extension String: URLConvertible {
  /// The text itself.
  public init?(urlText: String) { self = urlText }
  /// The text itself.
  public var urlText: String { self }
}

/// What integers share: decimal digits with a sign or without.
extension URLConvertible where Self: FixedWidthInteger & LosslessStringConvertible {
  /// A decimal number that fits.
  public init?(urlText: String) { self.init(urlText) }
  /// Decimal digits.
  public var urlText: String { description }
}

extension Int: URLConvertible {}
extension Int32: URLConvertible {}
extension Int64: URLConvertible {}
extension UInt: URLConvertible {}
extension UInt32: URLConvertible {}
extension UInt64: URLConvertible {}

extension Double: URLConvertible {
  /// A finite decimal number: no `nan`, no `inf`, nothing hexadecimal.
  public init?(urlText: String) {
    let isDecimal = urlText.utf8.allSatisfy { $0.isDigit || "+-.eE".utf8.contains($0) }
    guard isDecimal, let value = Double(urlText), value.isFinite else { return nil }
    self = value
  }
  /// The shortest digits that give the same number.
  public var urlText: String { description }
}

extension Float: URLConvertible {
  /// A finite decimal number.
  public init?(urlText: String) {
    guard let value = Double(urlText: urlText), Float(value).isFinite else { return nil }
    self = Float(value)
  }
  /// The shortest digits that give the same number.
  public var urlText: String { description }
}

extension Bool: URLConvertible {
  /// `true`, `1`, or nothing as in `?debug`; `false` or `0`.
  public init?(urlText: String) {
    switch urlText {
    case "true", "1", "": self = true
    case "false", "0": self = false
    default: return nil
    }
  }
  /// `true` or `false`.
  public var urlText: String { self ? "true" : "false" }
}

extension Array: URLConvertible where Element: URLConvertible {
  /// An array of one.
  public init?(urlText: String) {
    guard let element = Element(urlText: urlText) else { return nil }
    self = [element]
  }
  /// The elements, with commas: for people; a URL repeats the key.
  public var urlText: String { map(\.urlText).joined(separator: ",") }

  /// One element for each text; nil where one of them stands for none.
  public static func value(ofTexts texts: [String]) -> [Element]? {
    let elements = texts.compactMap { Element(urlText: $0) }
    return elements.count == texts.count ? elements : nil
  }
  /// A text for each element.
  public var urlTexts: [String] { map(\.urlText) }
}

extension Optional: URLConvertible where Wrapped: URLConvertible {
  /// The value that the text stands for; no value is no text.
  public init?(urlText: String) {
    guard let value = Wrapped(urlText: urlText) else { return nil }
    self = value
  }
  /// The text of the value.
  public var urlText: String { self?.urlText ?? "" }
  /// Nil where there is no text.
  public static func value(ofTexts texts: [String]) -> Wrapped?? {
    if texts.isEmpty { return .some(nil) }
    return Wrapped.value(ofTexts: texts).map { .some($0) }
  }
  /// The texts of the value; none for nil.
  public var urlTexts: [String] { self?.urlTexts ?? [] }
}
