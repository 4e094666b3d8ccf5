/// Says hello to a customer.
public protocol Greeter: Sendable {
  /// Returns one sentence for the customer of this name.
  func greeting(for customer: String) -> String
}

/// Writes down what was sold.
public protocol Receipt: Sendable {
  /// Returns one line for one item.
  func line(for item: String, cents: Int) -> String
}

/// A price and nothing else. An entry of the old till offers it as a greeter, but it is not one.
public struct PriceTag: Sendable {
  /// The price in cents.
  public var cents: Int

  /// Writes a price tag.
  public init(cents: Int) { self.cents = cents }
}
