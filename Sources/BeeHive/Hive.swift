/// The registry of modules and services.
public final class Hive: Sendable {
  /// An empty Hive.
  public init() {}
}
