// A file of its own, because readers look for what happens when a module throws: `ModuleRunner.take` acts on it.

/// The error of a start that was given up; nothing of the Hive runs.
public struct LaunchError: Error, Sendable, CustomStringConvertible {
  /// The order, with missing requirements and cycles.
  package var order = LaunchOrder([])
  /// The modules that failed.
  public var failures: [ModuleFailure] = []
  /// The interruption, if that is the reason.
  package var interruption: Interruption?

  /// An interruption of a start: one sentence.
  package enum Interruption: Hashable, Sendable, CustomStringConvertible {
    /// A call of `stop`, or the cancellation of the task.
    case stopped
    /// The call came from a module that is being started or stopped itself.
    case calledInside
    /// Signals cannot be observed, for a reason.
    case unobserved(signals: String, reason: String)

    package var description: String {
      switch self {
      case .stopped: "stopped, or cancelled, before the start was over"
      case .calledInside: "start was called by a module that is being started or stopped"
      case .unobserved(let signals, let reason): "cannot observe \(signals): \(reason)"
      }
    }
  }

  /// One line for each cause.
  public var description: String {
    (order.problems + failures.map(\.description) + [interruption].compactMap { $0?.description })
      .joined(separator: "\n")
  }
}

/// A module that threw, or took longer than it may.
public struct ModuleFailure: Error, Sendable {
  /// The module's name.
  public var module: String
  /// The event or step it failed in.
  public var event: String
  /// The reason, without the module's name: `threw …`.
  package var reason: String
  /// The error that the module threw, if it threw one.
  public internal(set) var error: (any Error)?
  /// Whether the module had not finished in its time; nobody waits for it any longer.
  package var isOverdue = false
  /// The location of the module's declaration.
  package var source: Source
}

extension ModuleFailure: CustomStringConvertible {
  /// `module audio (libshop.so BeehiveRecords[0]) setUp: …`
  public var description: String { "module \(module) (\(source)) \(event): \(reason)".escaped }

  /// The step and the reason, as lists of modules print them next to the name: `setUp: threw …`.
  var stepAndCause: String { "\(event): \(reason)".escaped }
}

/// The reaction to a module that fails to start.
public enum FailurePolicy: Hashable, Sendable {
  /// Everything that was started is torn down again, and `start` throws.
  case stop
  /// The module and whatever requires it do not start; the others do.
  case skip
  /// The failure is reported, and the module counts as started. A module that has not come back within its time limit
  /// is left out, because it is never called again; modules that require it start.
  case `continue`
}
