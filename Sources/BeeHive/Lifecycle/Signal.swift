internal import LibC

// A file of its own for three readers: `SystemWatch` observes signals, `Run` reacts to them, and hosts name them.

/// A signal of the operating system that `run` can observe. `Run.swift` reacts to it.
public struct Signal: RawRepresentable, Hashable, Sendable {
  /// The system's number.
  public let rawValue: Int32

  /// Wraps a number.
  ///
  /// - Parameter rawValue: The system's number, from 1 to 64; `run` throws for any other.
  public init(rawValue: Int32) { self.rawValue = rawValue }

  /// SIGTERM: ends `run`.
  public static let terminate = Self(rawValue: SIGTERM)
  /// SIGINT, which Ctrl-C sends: ends `run`.
  public static let interrupt = Self(rawValue: SIGINT)
  /// SIGQUIT: ends `run`.
  public static let quit = Self(rawValue: SIGQUIT)
  /// SIGHUP: modules get it as a typed event, `event.value(as: Signal.self)`.
  public static let hangUp = Self(rawValue: SIGHUP)
  /// SIGUSR1: modules get it as a typed event.
  public static let user1 = Self(rawValue: SIGUSR1)
  /// SIGUSR2: modules get it as a typed event.
  public static let user2 = Self(rawValue: SIGUSR2)
  /// SIGTSTP, which Ctrl-Z sends: willResignActive, didEnterBackground, and the process stops.
  public static let suspend = Self(rawValue: SIGTSTP)
  /// SIGCONT: willEnterForeground, didBecomeActive.
  public static let resume = Self(rawValue: SIGCONT)

  /// Whether it asks the process to end.
  var isTerminating: Bool { self == .terminate || self == .interrupt || self == .quit }

  /// The events that modules get when it comes, in order, unless it ends the process.
  var events: [Event] {
    switch self {
    case .suspend: [.willResignActive, .didEnterBackground]
    case .resume: [.willEnterForeground, .didBecomeActive]
    default: [Event(.typed, name: description, payload: self)]
    }
  }
}

extension Signal: CustomStringConvertible {
  /// `SIGTERM`
  public var description: String { Self.names[self] ?? "signal \(rawValue)" }

  private static let names: [Signal: String] = [
    .terminate: "SIGTERM", .interrupt: "SIGINT", .quit: "SIGQUIT", .hangUp: "SIGHUP",
    .user1: "SIGUSR1", .user2: "SIGUSR2", .suspend: "SIGTSTP", .resume: "SIGCONT",
  ]
}

// The events that `run` sends to modules for the system, and that an application may send itself.
extension Event {
  /// The application is about to stop being served.
  public static let willResignActive = Self(.willResignActive, name: "willResignActive")
  /// The application has stopped being served.
  public static let didEnterBackground = Self(.didEnterBackground, name: "didEnterBackground")
  /// The application is about to be served again.
  public static let willEnterForeground = Self(.willEnterForeground, name: "willEnterForeground")
  /// The application is served again.
  public static let didBecomeActive = Self(.didBecomeActive, name: "didBecomeActive")
  /// The process is about to end.
  public static let willTerminate = Self(.willTerminate, name: "willTerminate")
  /// Memory is short.
  public static let didReceiveMemoryWarning = Self(
    .didReceiveMemoryWarning, name: "didReceiveMemoryWarning")
}
