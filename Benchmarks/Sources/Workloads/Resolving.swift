import BeeHive
import CFloors
import Synchronization

/// A service whose existential is one reference and a table.
protocol ClassBound: AnyObject, Sendable {}
/// Another, for another thread.
protocol OtherClassBound: AnyObject, Sendable {}
/// A service whose existential holds any value.
protocol Opaque: Sendable {}

private final class Instance: ClassBound, OtherClassBound, Opaque {}
private final class OtherInstance: ClassBound, OtherClassBound {}
private struct Value: Opaque { let instance = Instance() }

/// Resolving a singleton that was resolved before, against copying an existential from a local.
///
/// The Hive is held in a local as well, as a host holds it: `let hive = Hive.process`.
enum Resolving {
  private static let count = 1000

  static func classBound() -> Comparison {
    register((any ClassBound).self, Instance())
    return Comparison(
      "resolve-class",
      floor: copyingClassBound,
      candidate: .init(
        run: {
          let hive = local(Hive.process)
          for _ in 0..<count { consume(resolved((any ClassBound).self, from: hive)) }
        }, operations: count))
  }

  /// Resolves without a local: Swift counts a reference to the Hive around each call.
  static func throughProcess() -> Comparison {
    register((any ClassBound).self, Instance())
    return Comparison(
      "resolve-process",
      floor: copyingClassBound,
      candidate: .init(
        run: {
          for _ in 0..<count { consume(resolved((any ClassBound).self, from: Hive.process)) }
        }, operations: count))
  }

  private static var copyingClassBound: Comparison.Side {
    .init(
      run: {
        let held: any ClassBound = local(Instance())
        for _ in 0..<count { consume(held) }
      }, operations: count)
  }

  static func opaque() -> Comparison {
    register((any Opaque).self, Value())
    return Comparison(
      "resolve-opaque",
      floor: .init(
        run: {
          let held: any Opaque = local(Value())
          for _ in 0..<count { consume(held) }
        }, operations: count),
      candidate: .init(
        run: {
          let hive = local(Hive.process)
          for _ in 0..<count { consume(resolved((any Opaque).self, from: hive)) }
        }, operations: count))
  }

  /// Borrows the service without a reference count; the floor borrows as well.
  static func borrowing() -> Comparison {
    register((any ClassBound).self, Instance())
    return Comparison(
      "resolve-borrowing",
      floor: .init(
        run: {
          let held: any ClassBound = local(Instance())
          for _ in 0..<count { borrow(held) }
        }, operations: count),
      candidate: .init(
        run: {
          let hive = local(Hive.process)
          for _ in 0..<count {
            guard (try? hive.withService((any ClassBound).self) { borrow($0) }) != nil
            else { stop("not registered") }
          }
        }, operations: count))
  }

  /// Compares two threads, each with a singleton of its own, with one.
  static func twoThreads() -> Comparison {
    register((any ClassBound).self, Instance())
    register((any OtherClassBound).self, OtherInstance())
    let rounds = 20_000
    let other = Partner {
      for _ in 0..<rounds { consume(resolved((any OtherClassBound).self, from: Hive.process)) }
    }
    return Comparison(
      "resolve-two-threads",
      floor: .init(
        run: {
          for _ in 0..<rounds { consume(resolved((any ClassBound).self, from: Hive.process)) }
        }, operations: rounds),
      candidate: .init(
        before: { other.getReady() },
        run: {
          other.start()
          for _ in 0..<rounds { consume(resolved((any ClassBound).self, from: Hive.process)) }
          other.finish()
        }, operations: 2 * rounds))
  }

  private static func register<Service: Sendable>(_ type: Service.Type, _ instance: Service) {
    do {
      try Hive.process.register(type, instance: instance)
      _ = try Hive.process.service(type)
    } catch { stop("\(error)") }
  }

  @inline(__always)
  private static func resolved<Service: Sendable>(
    _ type: Service.Type, from hive: Hive
  ) -> Service {
    do { return try hive.service(type) } catch { stop("\(error)") }
  }
}

// Opaque to the optimiser, so that each call costs what a call with such an argument costs: a reference that is handed
// over and released, or a borrowed one.
@inline(never) @_optimize(none) private func consume(_ service: consuming any ClassBound) {}
@inline(never) @_optimize(none) private func consume(_ service: consuming any OtherClassBound) {}
@inline(never) @_optimize(none) private func consume(_ service: consuming any Opaque) {}
@inline(never) @_optimize(none) private func borrow(_ service: borrowing any ClassBound) {}
@inline(never) @_optimize(none) private func local<Value>(_ value: Value) -> Value { value }
