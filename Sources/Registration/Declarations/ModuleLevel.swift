/// Which modules start first.
public enum ModuleLevel: String, Hashable, Sendable, CaseIterable {
  /// Before the normal ones.
  case basic
  /// After the basic ones.
  case normal
}
