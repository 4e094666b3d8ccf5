internal import BinaryImage

/// A module that threw, or took longer than it may.
public struct ModuleFailure: Error, Sendable {
  /// What went wrong.
  public enum Reason: Sendable {
    /// The module threw this error.
    case threw(any Error)
    /// A C module's operation answered false.
    case refused
    /// The module had not finished after this time; it is not waited for any longer.
    case exceeded(Duration)
    /// The module could not be made, or, where it came after the start, could not be ordered.
    case notMade(String)
    /// A module that this one requires failed, so it was skipped.
    case skipped(requirement: String)
  }

  /// The module's name.
  public var module: String
  /// The event or step it failed in.
  public var event: String
  /// What went wrong.
  public var reason: Reason
  /// Where the module was declared.
  public var source: Source
}

extension ModuleFailure: CustomStringConvertible {
  /// `module audio (libshop.so BeehiveRecords[0]) setUp: …`
  public var description: String { "module \(module) (\(source)) \(event): \(what)".escaped }

  /// `setUp: threw …`: what a list of modules says beside the name.
  var stepAndCause: String { "\(event): \(what)".escaped }

  /// What went wrong, without whose fault it is.
  var what: String {
    switch reason {
    case .threw(let error): "threw \(error)"
    case .refused: "answered false"
    case .exceeded(let limit): "did not finish within \(limit)"
    case .notMade(let reason): "could not be made: \(reason)"
    case .skipped(let requirement): "skipped, because \(requirement) failed"
    }
  }
}
