/// What happens to the others when a module fails to start.
public enum FailurePolicy: Hashable, Sendable {
  /// Everything that was started is torn down again, and `start` throws.
  case stop
  /// The module and whatever requires it do not start; the others do.
  case skip
  /// The failure is reported, and the module counts as started. One that has not come back within
  /// its time limit is left out, since it is never called again; modules that require it start.
  case `continue`
}
