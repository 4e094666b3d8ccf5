/// What a module is told about its host.
public struct Context: Sendable {
  /// The Hive that runs the module.
  public let hive: Hive

  /// The context of a Hive.
  public init(hive: Hive) { self.hive = hive }
}
