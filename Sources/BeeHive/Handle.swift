/// Takes back what was given to a Hive, a router, a mediator or an entry point: an observer, a binding, a rule.
///
/// Forgetting the value takes nothing back. What a module gives is taken back when the module is unmounted.
public struct Handle: Sendable {
  private let undo: @Sendable () -> Void

  /// Wraps what takes it back, which does nothing the second time.
  package init(_ undo: @escaping @Sendable () -> Void) { self.undo = undo }

  /// Takes it back; what is under way on another thread may still meet it. Does nothing the second time.
  ///
  /// What another has put in its place since stays, and what it had replaced does not come back.
  public func cancel() { undo() }
}
