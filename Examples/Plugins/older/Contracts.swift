/// The contract as it was last year.
public protocol Greeter: Sendable {
  /// Returns one sentence for the customer who leaves.
  func farewell(for customer: String) -> String
  /// Returns one sentence for the customer of this name.
  func greeting(for customer: String) -> String
}
