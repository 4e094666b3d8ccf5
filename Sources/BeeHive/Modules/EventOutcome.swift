internal import BinaryImage

/// What a module made of an event.
public enum EventResponse: Sendable {
  /// It is not the module's business.
  case ignored
  /// The module has done its part.
  case handled
  /// The module answers with a value.
  case value(any Sendable)
  /// The module has done its part, with an answer or without, and no module after it is told.
  case stop((any Sendable)? = nil)
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
  /// - Returns: The values, in the order in which the modules were asked.
  public func collect<Value: Sendable>(as type: Value.Type = Value.self) -> [Value] {
    answers.compactMap { $0.response.value as? Value }
  }
}

extension EventOutcome {
  /// Why an event has no effect, for those who learn only that it has none.
  func silence(of event: Event) -> String {
    let why =
      answers.isEmpty
      ? "no module runs that could be told; start the Hive first"
      : "none of the modules that were told has handled it: "
        + answers.map(\.module).joined(separator: ", ")
    return "event \(event.kind.rawValue) \(event.name): \(why)".escaped
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
