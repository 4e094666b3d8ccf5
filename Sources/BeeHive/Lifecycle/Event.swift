/// An event for modules: a step of the lifecycle, a signal, or an event of the application's own.
///
///     struct OrderPlaced: Sendable { let number: Int }
///
///     await hive.trigger(Event(OrderPlaced(number: 7)))
///     // In a module's `handle`:
///     guard let order = event.value(as: OrderPlaced.self) else { return .ignored }
public struct Event: Sendable {
  /// The kind of an event, by BeeHive's numbers. `Docs/events.md` says where each kind comes from on Linux.
  public enum Kind: Int, Hashable, Sendable {
    /// `setUp` of every module.
    case setUp = 0
    /// `initialize` of every module.
    case initialize = 1
    /// `tearDown` of every module.
    case tearDown = 2
    /// `splash` of every module.
    case splash = 3
    /// The application is about to stop being served: SIGTSTP.
    case willResignActive = 5
    /// The application has stopped being served: SIGTSTP, after `willResignActive`.
    case didEnterBackground = 6
    /// The application is about to be served again: SIGCONT.
    case willEnterForeground = 7
    /// The application is served again: SIGCONT, after `willEnterForeground`.
    case didBecomeActive = 8
    /// The process is about to end: SIGTERM, SIGINT.
    case willTerminate = 9
    /// `unmount` of every module.
    case unmount = 10
    /// A URL was opened.
    case openURL = 11
    /// Memory is short: pressure stall information of the system or of the control group.
    case didReceiveMemoryWarning = 12
    /// An application's own; `Event.number` tells which.
    case custom = 1000
    /// An event that is a Swift type.
    case typed = -1
  }

  /// The kind of the event.
  public let kind: Kind
  /// Its number: 0 to 23 are BeeHive's, 1000 and above belong to applications.
  public let number: Int
  /// The name that reports print.
  public let name: String
  /// The payload; for a typed event, the value itself.
  public let payload: (any Sendable)?

  init(_ kind: Kind, name: String, payload: (any Sendable)? = nil, number: Int? = nil) {
    self.kind = kind
    self.number = number ?? kind.rawValue
    self.name = name
    self.payload = payload
  }

  /// Creates an application's own event, by number; nil if the number is taken.
  ///
  /// - Parameters:
  ///   - number: 1000 or above.
  ///   - name: The name that reports print.
  ///   - payload: The payload, which modules read with `event.value(as:)`.
  public init?(number: Int, name: String, payload: (any Sendable)? = nil) {
    guard number >= Kind.custom.rawValue else { return nil }
    self.init(.custom, name: name, payload: payload, number: number)
  }

  /// Creates an application's own event, by type.
  ///
  /// - Parameter value: The value, which modules read with `event.value(as:)`. Its type names the event in reports.
  public init<Value: Sendable>(_ value: Value) {
    self.init(.typed, name: TypeSpelling.of(Value.self).unqualified, payload: value)
  }

  /// Creates the event that a URL was opened. Modules read the URL with `event.value(as: String.self)`.
  ///
  /// - Parameter url: The URL as it was opened.
  /// - Returns: An event of the kind `openURL`.
  public static func openURL(_ url: String) -> Self {
    Self(.openURL, name: "openURL", payload: url)
  }

  /// Returns the payload, if it is of a type.
  ///
  /// - Parameter type: The type to read it as.
  /// - Returns: The payload; nil if there is none or it is of another type.
  public func value<Value: Sendable>(as type: Value.Type = Value.self) -> Value? {
    payload as? Value
  }
}

/// The response of a module to an event.
public enum EventResponse: Sendable {
  /// The event does not concern the module.
  case ignored
  /// The module has done its part.
  case handled
  /// The module answers with a value.
  case value(any Sendable)
  /// The module has done its part, with an answer or without. No later module gets the event.
  case stop((any Sendable)? = nil)
}

/// The responses of all modules to an event, in the order of the modules.
public struct EventOutcome: Sendable {
  /// The response of each module that got the event.
  public internal(set) var answers: [(module: String, response: EventResponse)] = []
  /// The modules that threw or took too long.
  public internal(set) var failures: [ModuleFailure] = []

  /// Whether any module did something with the event.
  public var any: Bool { answers.contains { $0.response.isHandled } }

  /// Whether every module that got the event did something with it; false if none got it.
  public var all: Bool {
    !answers.isEmpty && failures.isEmpty && answers.allSatisfy { $0.response.isHandled }
  }

  /// Returns the first value of a type that a module answered with.
  ///
  /// - Parameter type: The type of the value.
  /// - Returns: The value; nil if no module answered with one.
  public func first<Value: Sendable>(as type: Value.Type = Value.self) -> Value? {
    collect(as: type).first
  }

  /// Returns every value of a type that modules answered with.
  ///
  /// - Parameter type: The type of the values.
  /// - Returns: The values, in the order of the modules.
  public func collect<Value: Sendable>(as type: Value.Type = Value.self) -> [Value] {
    answers.compactMap { $0.response.value as? Value }
  }
}

extension EventResponse {
  var isHandled: Bool { if case .ignored = self { false } else { true } }

  var value: (any Sendable)? {
    switch self {
    case .value(let value): value
    case .stop(let value): value
    case .ignored, .handled: nil
    }
  }

  var stops: Bool { if case .stop = self { true } else { false } }
}

extension EventOutcome {
  /// Returns the problem that no module answered with a type, and what the modules did instead.
  func noAnswer(to event: Event, as type: Any.Type) -> Problem {
    let asked = answers.count + failures.count
    let answer = TypeSpelling.of(type).unqualified
    let head =
      "\(event.name): no module answered with a \(answer); asked: \(asked), failed: \(failures.count)"
    return Problem(.unanswered, ([head] + failures.map(\.description)).joined(separator: "; "))
  }
}

/// One call of a module: a step of the lifecycle, or an event.
public struct ModuleStep: Hashable, Sendable {
  /// The module's name.
  public var module: String
  /// The name of the step or event.
  public var event: String
  /// The number of the call, which no other call of this Hive has.
  package var number: UInt64

  /// `module audio has been in setUp for 0.4 seconds`
  static func delay(_ module: String, _ event: String, _ elapsed: Duration) -> String {
    "module \(module) has been in \(event) for \(elapsed)".escaped
  }
}
