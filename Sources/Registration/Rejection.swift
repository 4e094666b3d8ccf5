internal import BinaryImage

/// An entry that cannot be registered: the reason and the location.
package struct Rejection: Hashable, Sendable, CustomStringConvertible {
  /// The cause; `rawValue` is the stable code that reports print.
  package enum Reason: String, Hashable, Sendable, CaseIterable {
    /// The slot holds a null pointer.
    case nullPointer = "null-pointer"
    /// The pointer leads outside the image's own mapping.
    case pointerOutsideImage = "pointer-outside-image"
    /// The pointer depends on another image or on a relocation that cannot be resolved here, or a relocation writes
    /// over the entry.
    case unresolvedPointer = "unresolved-pointer"
    /// The text has no NUL before the mapping, the record or the limit ends.
    case unterminatedText = "unterminated-text"
    /// The text is not UTF-8.
    case invalidUTF8 = "invalid-utf8"
    /// The name is empty.
    case emptyName = "empty-name"
    /// The text of a service entry is not a JSON object of one string pair.
    case malformedJSON = "malformed-json"
    /// The JSON object has more than one key.
    case severalJSONKeys = "several-json-keys"
    /// The size of a pointer section is not a multiple of the pointer size.
    case oddSectionSize = "odd-section-size"
    /// The record's size field is 1-31, not a multiple of 8, or past the end of the section.
    case badRecordSize = "bad-record-size"
    /// This reader does not know the record's version.
    case unknownVersion = "unknown-version"
    /// This version gives the record's kind no meaning.
    case unknownKind = "unknown-kind"
    /// The text offset lies inside the head or past the record.
    case badTextOffset = "bad-text-offset"
    /// An attribute is not `key=value`, or its value has the wrong form.
    case badAttribute = "bad-attribute"
    /// The pattern of a route cannot be read, or has a part in the wrong place.
    case badPattern = "bad-pattern"
    /// An action of a target cannot be read, or is declared twice.
    case badAction = "bad-action"
    /// An action or a route in C declares a type that C has no values for.
    case unknownType = "unknown-type"
    /// The record is made in C, and leads to no structure, or to one that does not fit.
    case badContext = "bad-context"
    /// A function in the structure of a record in C is not code.
    case badCode = "bad-code"
    /// The identity of a plugin has no usable id or version, or is the second one of its image.
    case badIdentity = "bad-identity"
    /// The section exists, but its bytes cannot be read.
    case unreadableSection = "unreadable-section"
    /// There is more than a scan holds; the message says what was left out.
    case limitExceeded = "limit-exceeded"
  }

  /// The cause.
  package var reason: Reason
  /// The kind of thing that the entry was to declare, as far as the entry or its section says.
  package var kind: RecordKind
  /// The entry's name, if it could be read.
  package var name: String?
  /// One sentence for a person: what was found and what to do.
  package var message: String
  /// The entry's location.
  package var origin: Origin

  /// `libx.so BeehiveMods[3] at 0x3018: points outside the image`
  package var description: String {
    "\(origin) at \(origin.address.rawValue.hexadecimal): \(message)".escaped
  }
}

/// The reason why an entry, a URL, a part of one, a pattern or a declaration cannot be read. Readers add the location.
package struct Refusal: Error, Hashable {
  package var reason: Rejection.Reason
  /// The index among the bytes to read; for a pattern, among the bytes of the part that is wrong.
  package var index: Int
  /// The rule that is broken, for people.
  package var message: String

  /// Describes a refusal.
  ///
  /// - Parameters:
  ///   - reason: The cause.
  ///   - index: The index among the bytes to read.
  ///   - message: The rule that is broken.
  package init(_ reason: Rejection.Reason = .badPattern, at index: Int = 0, _ message: String) {
    // It may quote a long text that many entries share.
    (self.reason, self.index, self.message) = (reason, index, message.shortened)
  }

  /// Throws a refusal unless something is right.
  @inline(__always)
  package static func check(
    _ isRight: Bool, _ reason: Rejection.Reason = .badPattern, at index: Int = 0,
    _ message: @autoclosure () -> String
  ) throws(Refusal) {
    if !isRight { throw Refusal(reason, at: index, message()) }
  }
}

extension String {
  /// The text, without its middle if it is long.
  package var shortened: String {
    guard utf8.count > 512 else { return self }
    return "\(String(unicodeScalars.prefix(256)))…\(String(unicodeScalars.suffix(192)))"
  }
}

extension StringProtocol {
  /// The text as a message quotes it: at most 200 bytes. A longer text has its beginning and its end.
  package var excerpt: String {
    guard utf8.count > 200 else { return String(self) }
    // An index inside of a scalar counts as its beginning.
    let begin = utf8.index(startIndex, offsetBy: 120)
    let end = utf8.index(endIndex, offsetBy: -70)
    return "\(self[..<begin])…\(self[end...])"
  }
}
