/// A type whose values a piece of a URL can hold.
///
/// An enum with a raw value conforms by saying so: `enum Currency: String, URLConvertible { … }`.
public protocol URLConvertible: Sendable {
  /// Reads a value from a text; nil if the text is not of the type.
  ///
  /// - Parameter urlText: The text, decoded.
  init?(urlText: String)

  /// The text that `init(urlText:)` reads back; a URL has it encoded.
  var urlText: String { get }

  /// Returns the value of a key with these texts; all types but arrays and optionals take one text.
  ///
  /// - Parameter texts: A text for each time that the key is given, decoded.
  /// - Returns: The value; nil if the texts are not of the type.
  static func value(ofTexts texts: [String]) -> Self?

  /// The texts of a key that holds this value: one for everything but arrays and optionals.
  var urlTexts: [String] { get }
}

extension URLConvertible {
  /// Returns the value of the only text.
  ///
  /// - Parameter texts: The texts of the key, decoded.
  /// - Returns: The value; nil unless there is one text, and it is of the type.
  public static func value(ofTexts texts: [String]) -> Self? {
    texts.count == 1 ? Self(urlText: texts[0]) : nil
  }

  /// The one text.
  public var urlTexts: [String] { [urlText] }
}

extension URLConvertible where Self: RawRepresentable, RawValue: URLConvertible {
  /// Reads a raw value, and makes the value of it; nil if there is none.
  ///
  /// - Parameter urlText: The text of the raw value.
  public init?(urlText: String) {
    guard let rawValue = RawValue(urlText: urlText) else { return nil }
    self.init(rawValue: rawValue)
  }

  /// The text of the raw value.
  public var urlText: String { rawValue.urlText }
}

extension String: URLConvertible {
  /// Takes the text itself.
  ///
  /// - Parameter urlText: The text.
  public init?(urlText: String) { self = urlText }
  /// The text itself.
  public var urlText: String { self }
}

/// The conformance of integers: decimal digits with a sign or without.
extension URLConvertible where Self: FixedWidthInteger & LosslessStringConvertible {
  /// Reads a decimal number; nil if the text is not one, or does not fit.
  ///
  /// - Parameter urlText: Decimal digits, with a sign or without.
  public init?(urlText: String) { self.init(urlText) }
  /// Decimal digits.
  public var urlText: String { description }
}

extension Int: URLConvertible {}
extension Int8: URLConvertible {}
extension Int16: URLConvertible {}
extension Int32: URLConvertible {}
extension Int64: URLConvertible {}
extension UInt: URLConvertible {}
extension UInt8: URLConvertible {}
extension UInt16: URLConvertible {}
extension UInt32: URLConvertible {}
extension UInt64: URLConvertible {}

extension Double: URLConvertible {
  /// Reads a finite decimal number; nil if the text is not one.
  ///
  /// - Parameter urlText: Decimal digits: no `nan`, no `inf`, nothing hexadecimal.
  public init?(urlText: String) {
    self.init(decimal: urlText)
  }
  /// The shortest digits that give the same number.
  public var urlText: String { description }
}

extension Float: URLConvertible {
  /// Reads a finite decimal number; nil if the text is not one, or does not fit.
  ///
  /// - Parameter urlText: Decimal digits, as for a `Double`.
  public init?(urlText: String) {
    guard let value = Double(urlText: urlText), Float(value).isFinite else { return nil }
    self = Float(value)
  }
  /// The shortest digits that give the same number.
  public var urlText: String { description }
}

extension Bool: URLConvertible {
  /// Reads a truth value; nil if the text is not one.
  ///
  /// - Parameter urlText: `true`, `1`, or nothing as in `?debug`; `false` or `0`.
  public init?(urlText: String) {
    self.init(truth: urlText)
  }
  /// `true` or `false`.
  public var urlText: String { self ? "true" : "false" }
}

extension Array: URLConvertible where Element: URLConvertible {
  /// Reads one element; nil if the text is not one.
  ///
  /// - Parameter urlText: The text of the element; a comma does not separate several.
  public init?(urlText: String) {
    guard let element = Element(urlText: urlText) else { return nil }
    self = [element]
  }
  /// The elements, separated by commas. This is for people; a URL repeats the key.
  public var urlText: String { map(\.urlText).joined(separator: ",") }

  /// Returns one element for each text.
  ///
  /// - Parameter texts: The texts of the key, decoded.
  /// - Returns: The elements, in order; nil if one of the texts is not an element.
  public static func value(ofTexts texts: [String]) -> [Element]? {
    let elements = texts.compactMap { Element(urlText: $0) }
    return elements.count == texts.count ? elements : nil
  }
  /// A text for each element.
  public var urlTexts: [String] { map(\.urlText) }
}

extension Optional: URLConvertible where Wrapped: URLConvertible {
  /// Reads a value; nil if the text is not one.
  ///
  /// - Parameter urlText: The text of the value.
  public init?(urlText: String) {
    guard let value = Wrapped(urlText: urlText) else { return nil }
    self = value
  }
  /// The text of the value.
  public var urlText: String { self?.urlText ?? "" }
  /// Returns the value of the texts, or an empty optional if there is no text.
  ///
  /// - Parameter texts: The texts of the key, decoded.
  /// - Returns: The optional; nil if the texts are not of the type.
  public static func value(ofTexts texts: [String]) -> Wrapped?? {
    if texts.isEmpty { return .some(nil) }
    return Wrapped.value(ofTexts: texts).map { .some($0) }
  }
  /// The texts of the value; none for nil.
  public var urlTexts: [String] { self?.urlTexts ?? [] }
}

/// A UUID without Foundation, written in the usual 36 characters.
///
/// `UUID(uuidString: value.description)` is Foundation's.
public struct UUIDValue: Hashable, Sendable, URLConvertible, CustomStringConvertible {
  /// In capital letters.
  private let text: String

  /// Reads a UUID; nil if the text is not one.
  ///
  /// - Parameter urlText: 32 hexadecimal digits in groups of 8, 4, 4, 4 and 12, of either case.
  public init?(urlText: String) {
    guard BuiltInType.uuid.holds(urlText) else { return nil }
    text = urlText.uppercased()
  }

  /// The UUID in capital letters, as Foundation writes it.
  public var urlText: String { text }

  /// The UUID in capital letters, as Foundation writes it.
  public var description: String { text }
}
