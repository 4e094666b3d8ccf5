internal import Synchronization

private let numbers = Atomic<UInt64>(0)

/// Returns the next number: of a call, a route, a rule.
func nextNumber() -> UInt64 { numbers.wrappingAdd(1, ordering: .relaxed).newValue }

/// What another may replace: who takes it out again looks whether it is still the same.
struct Numbered<Value: Sendable>: Sendable {
  let number = nextNumber()
  let value: Value
}
