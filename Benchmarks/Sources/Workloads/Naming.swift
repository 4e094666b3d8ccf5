import BeeHive

private struct Price: Sendable { let cents: Int }
/// A type that no entry provides.
private struct Missing: Sendable {}

/// Services of one type with different names, and services that are made anew each time, against lookups in a
/// dictionary by type and name.
enum Naming {
  private struct Key: Hashable {
    let type: ObjectIdentifier
    let name: String
  }

  private static let count = 1000

  /// Registers so many, one by one; the floor is a dictionary that takes as many factories.
  static func registering(_ entries: Int) -> Comparison {
    let names = (0..<entries).map { "price \($0)" }
    return Comparison(
      "register-names-\(entries)",
      floor: .init(
        run: {
          var factories: [Key: @Sendable () -> Price] = [:]
          for (number, name) in names.enumerated() {
            factories[Key(type: ObjectIdentifier(Price.self), name: name)] = {
              Price(cents: number)
            }
          }
          consume(factories.count)
        }, operations: entries),
      candidate: .init(
        run: {
          let hive = Hive()
          do {
            for (number, name) in names.enumerated() {
              try hive.register(Price.self, name: name) { _ in Price(cents: number) }
            }
          } catch { stop("\(error)") }
        }, operations: entries))
  }

  /// Finds one service by name among so many, and makes it.
  static func finding(among entries: Int) -> Comparison {
    let hive = hive(entries)
    let name = "price \(entries / 2)"
    return Comparison(
      "find-name-\(entries)", floor: dictionary(entries, name),
      candidate: .init(
        run: {
          for _ in 0..<count {
            do { consume(try hive.service(Price.self, name: name).cents) } catch {
              stop("\(error)")
            }
          }
        }, operations: count))
  }

  /// Looks up a type that nothing provides.
  static func missing() -> Comparison {
    let hive = hive(10)
    return Comparison(
      "find-nothing", floor: dictionary(10, "price 5"),
      candidate: .init(
        run: {
          for _ in 0..<count {
            // The text of the error is made when it is printed.
            if (try? hive.service(Missing.self)) != nil { stop("something provides it") }
          }
        }, operations: count))
  }

  private static func hive(_ entries: Int) -> Hive {
    let hive = Hive()
    do {
      for number in 0..<entries {
        try hive.register(Price.self, name: "price \(number)") { _ in Price(cents: number) }
      }
    } catch { stop("\(error)") }
    return hive
  }

  private static func dictionary(_ entries: Int, _ name: String) -> Comparison.Side {
    let factories = Dictionary(
      uniqueKeysWithValues: (0..<entries).map { number in
        (
          Key(type: ObjectIdentifier(Price.self), name: "price \(number)"),
          { @Sendable in Price(cents: number) }
        )
      })
    return .init(
      run: {
        for _ in 0..<count {
          guard let make = factories[Key(type: ObjectIdentifier(Price.self), name: name)] else {
            stop("not there")
          }
          consume(make().cents)
        }
      }, operations: count)
  }
}

@inline(never) @_optimize(none) private func consume(_ number: Int) {}
