/// A fault of an entry, a setting or a call: a stable code, a sentence, and the other locations it concerns.
public struct Problem: Error, Hashable, Sendable {
  /// The cause, as a stable code: reports print `rawValue`.
  public struct Code: RawRepresentable, Hashable, Sendable {
    /// The code as it is printed and documented.
    public let rawValue: String

    /// Wraps a code. The known ones are static members, and the reasons in `Rejection.Reason`.
    ///
    /// - Parameter rawValue: The code as it is printed: `no-such-type`.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// Another entry already provides this, and nothing tells the two apart.
    public static let duplicate = Self(rawValue: "duplicate")
    /// No type of the implementation's name is loaded.
    package static let noSuchType = Self(rawValue: "no-such-type")
    /// Several loaded types have the name, which is unqualified.
    package static let ambiguousType = Self(rawValue: "ambiguous-type")
    /// The type does not conform to the type that it has to serve as.
    package static let doesNotConform = Self(rawValue: "does-not-conform")
    /// The type cannot be made: it lacks the initialiser that the Hive calls.
    package static let noInitializer = Self(rawValue: "no-initializer")
    /// This version does not know the record's `abi`.
    package static let unknownABI = Self(rawValue: "unknown-abi")
    /// The structure that the record's context leads to is missing, too small or of another version.
    package static let badContext = Self(rawValue: "bad-context")
    /// A function that the record leads to is not code of a loaded image.
    package static let badCode = Self(rawValue: "bad-code")
    /// Another module of this package registers the kind, or none does.
    package static let unhandledKind = Self(rawValue: "unhandled-kind")
    /// The file that declares it is not loaded.
    package static let notLoaded = Self(rawValue: "not-loaded")
    /// A caller in C passes an impossible value, or asks for something that is not there.
    static let badCall = Self(rawValue: "bad-call")
    /// A step of a module in C answers false.
    static let refused = Self(rawValue: "refused")
    /// No layer of the configuration has the setting, and its key has no default.
    package static let missingSetting = Self(rawValue: "missing-setting")
    /// A setting has another form than the key's type.
    package static let wrongType = Self(rawValue: "wrong-type")
    /// No module answers a question.
    package static let unanswered = Self(rawValue: "unanswered")
    /// A library was not replaced.
    package static let notReplaced = Self(rawValue: "not-replaced")
    /// A module's task registers something although the module has been unmounted.
    package static let unmounted = Self(rawValue: "unmounted")
  }

  /// The other entries it concerns, such as the first of two duplicates.
  // First, because enumerations mark the last word of their payload, and a leak checker does not recognise a marked
  // reference.
  package var related: [Source]
  /// The cause.
  public var code: Code
  /// One sentence for a person: what is wrong and what to do.
  public var message: String

  /// Describes a problem.
  ///
  /// - Parameters:
  ///   - code: The cause.
  ///   - message: One sentence: what is wrong and what to do. Control characters are escaped.
  ///   - related: The other entries it concerns.
  public init(_ code: Code, _ message: String, related: [Source] = []) {
    self.code = code
    self.message = message.escaped
    self.related = related
  }

  /// Throws a problem of a call from C unless `isRight`.
  static func check(_ isRight: Bool, _ message: @autoclosure () -> String) throws(Problem) {
    if !isRight { throw Problem(.badCall, message()) }
  }
}

extension Problem: CustomStringConvertible {
  /// The message.
  public var description: String { message }
}
