public import BeeHive
public import Contracts

/// A receipt that the old till asks for by name. `Injectable` says how to make it.
public struct TillSlip: Receipt, Injectable {
  private let greeter: any Greeter

  /// Takes the greeter that the Hive provides.
  public init(hive: Hive) throws { greeter = try hive.service() }

  /// Returns one line for one item, and a kind word.
  public func line(for item: String, cents: Int) -> String {
    "\(item) \(cents) ct. \(greeter.greeting(for: "dear customer"))"
  }
}
