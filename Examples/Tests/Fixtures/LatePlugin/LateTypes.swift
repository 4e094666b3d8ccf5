public import BeeHive
public import TestContracts

/// A module that a C library names before this library is there.
public final class LateModule: Module {
  /// Makes the module.
  public init() {}
}

/// A greeter that a C library names before this library is there.
public final class LateGreeter: Greeter, Injectable {
  /// Makes the greeter.
  public init(hive: Hive) throws {}
  /// A greeting.
  public func greet() -> String { "hello, late" }
}

/// No module and no greeter: who names it as one is refused.
public final class Bystander: Sendable {
  /// Makes one.
  public init() {}
}
