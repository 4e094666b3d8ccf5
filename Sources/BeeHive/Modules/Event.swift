/// Something that modules are told: a step of the lifecycle, a signal, or what the application says.
public struct Event: Sendable {
  /// Which event it is, by BeeHive's numbers; `Docs/events.md` says where each comes from on Linux.
  public struct Kind: RawRepresentable, Hashable, Sendable {
    /// The number: 0 to 23 are BeeHive's, 1000 and above belong to applications.
    public let rawValue: Int

    /// Wraps a number.
    public init(rawValue: Int) { self.rawValue = rawValue }
  }

  /// Which event it is.
  public let kind: Kind
  /// The name that reports print.
  public let name: String
  /// What comes along; for a typed event, the value itself.
  public let payload: (any Sendable)?

  init(_ kind: Kind, name: String, payload: (any Sendable)? = nil) {
    self.kind = kind
    self.name = name
    self.payload = payload
  }

  /// An application's own event, by number; nil below 1000, where the numbers are taken.
  public init?(number: Int, name: String, payload: (any Sendable)? = nil) {
    guard number >= Kind.custom.rawValue else { return nil }
    self.init(Kind(rawValue: number), name: name, payload: payload)
  }

  /// An application's own event, by type: modules ask with `event.value(as:)`.
  public init<Value: Sendable>(_ value: Value) {
    self.init(.custom, name: TypeSpelling.of(Value.self).unqualified, payload: value)
  }

  /// What comes along, if it is of this type.
  public func value<Value: Sendable>(as type: Value.Type = Value.self) -> Value? {
    payload as? Value
  }
}

extension Event.Kind {
  /// `setUp` of every module.
  public static let setUp = Self(rawValue: 0)
  /// `initialize` of every module.
  public static let initialize = Self(rawValue: 1)
  /// `tearDown` of every module.
  public static let tearDown = Self(rawValue: 2)
  /// `splash` of every module.
  public static let splash = Self(rawValue: 3)
  /// The application is about to stop being served: SIGTSTP.
  public static let willResignActive = Self(rawValue: 5)
  /// The application has stopped being served: SIGTSTP, after `willResignActive`.
  public static let didEnterBackground = Self(rawValue: 6)
  /// The application is about to be served again: SIGCONT.
  public static let willEnterForeground = Self(rawValue: 7)
  /// The application is served again: SIGCONT, after `willEnterForeground`.
  public static let didBecomeActive = Self(rawValue: 8)
  /// The process is about to end: SIGTERM, SIGINT.
  public static let willTerminate = Self(rawValue: 9)
  /// `unmount` of every module.
  public static let unmount = Self(rawValue: 10)
  /// A URL was opened.
  public static let openURL = Self(rawValue: 11)
  /// Memory is short: pressure stall information of the system or of the control group.
  public static let didReceiveMemoryWarning = Self(rawValue: 12)
  /// The first number of applications, and the number of every typed event.
  public static let custom = Self(rawValue: 1000)
}

/// What a module made of an event.
public enum EventResponse: Sendable {
  /// It is not the module's business.
  case ignored
  /// The module has done its part.
  case handled
  /// The module answers with a value.
  case value(any Sendable)
  /// The module answers, or not, and nobody after it is asked.
  case stop(any Sendable)
}

/// What all modules made of an event, in the order in which they were asked.
public struct EventOutcome: Sendable {
  /// The answer of one module.
  public struct Answer: Sendable {
    /// The module's name.
    public var module: String
    /// What it made of the event.
    public var response: EventResponse
  }

  /// The answers.
  public internal(set) var answers: [Answer] = []
  /// The modules that threw or took too long.
  public internal(set) var failures: [ModuleFailure] = []

  /// Whether any module did something with the event.
  public var any: Bool { answers.contains { $0.response.isHandled } }

  /// Whether every module that was asked did something with it; false where none was asked.
  public var all: Bool {
    !answers.isEmpty && failures.isEmpty && answers.allSatisfy { $0.response.isHandled }
  }

  /// The first value of this type that a module answered with.
  public func first<Value: Sendable>(as type: Value.Type = Value.self) -> Value? {
    for answer in answers { if let value = answer.response.value as? Value { return value } }
    return nil
  }

  /// Every value of this type, in order.
  public func collect<Value: Sendable>(as type: Value.Type = Value.self) -> [Value] {
    answers.compactMap { $0.response.value as? Value }
  }
}

extension EventResponse {
  var isHandled: Bool { if case .ignored = self { false } else { true } }

  var value: (any Sendable)? {
    switch self {
    case .value(let value), .stop(let value): value
    case .ignored, .handled: nil
    }
  }

  var stops: Bool { if case .stop = self { true } else { false } }
}
