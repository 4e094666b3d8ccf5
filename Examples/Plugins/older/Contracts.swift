/// The contract as it was last year.
public protocol Greeter: Sendable {
  /// One sentence for the customer who leaves.
  func farewell(for customer: String) -> String
  /// One sentence for the customer of this name.
  func greeting(for customer: String) -> String
}
