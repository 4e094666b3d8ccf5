import CFloors

/// What the library does, beside what the least code would do that answers the same question.
public struct Comparison {
  /// One of the two, or of several: prepared and cleaned up outside the measurement.
  public struct Side {
    var before: () -> Void = {}
    var run: () -> Void
    var after: () -> Void = {}
    /// How often `run` does the thing.
    var operations = 1
  }

  /// What the table calls it.
  public let name: String
  /// The same in C, or in Swift without the library; nil where another comparison's candidate is it.
  public let floor: Side?
  /// The library.
  public let candidate: Side
  /// What both cost without anything to do, taken off both.
  public let base: Side?
  /// How many rounds the fixtures last for.
  public let rounds: Int?

  init(
    _ name: String, rounds: Int? = nil, base: Side? = nil, floor: Side?, candidate: Side
  ) {
    self.name = name
    self.rounds = rounds
    self.base = base
    self.floor = floor
    self.candidate = candidate
  }
}

extension Comparison.Side {
  /// Runs once and says how long that took, in picoseconds for one operation.
  public func time() -> Int {
    before()
    let start = floor_clock()
    run()
    let end = floor_clock()
    after()
    return Int(end - start) * 1000 / operations
  }

  /// Runs once, while callgrind counts under `name`.
  public func count(as name: String) {
    before()
    floor_count_begin()
    run()
    unsafe floor_count_end("\(name) \(operations)")
    after()
  }
}
