/// Says hello to a customer.
public protocol Greeter: Sendable {
  /// One sentence for the customer of this name.
  func greeting(for customer: String) -> String
}

/// Writes down what was sold.
public protocol Receipt: Sendable {
  /// One line for one item.
  func line(for item: String, cents: Int) -> String
}

/// A price with nothing around it. An entry of the old till offers it as a greeter, which it is not.
public struct PriceTag: Sendable {
  /// What it costs.
  public var cents: Int

  /// Writes a price tag.
  public init(cents: Int) { self.cents = cents }
}
