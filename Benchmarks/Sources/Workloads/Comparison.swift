import CFloors

/// The library, and the least code that answers the same question.
public struct Comparison {
  /// One of the sides. It is prepared and cleaned up outside the measurement.
  public struct Side {
    var before: () -> Void = {}
    var run: () -> Void
    var after: () -> Void = {}
    /// The number of operations in one `run`.
    var operations = 1
  }

  /// The name in the table.
  public let name: String
  /// The same in C, or in Swift without the library; nil if the floor is another comparison's candidate.
  public let floor: Side?
  /// The library.
  public let candidate: Side
  /// The cost of both sides without anything to do. It is taken off both.
  public let base: Side?
  /// The number of rounds that the fixtures last for.
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
  /// Runs once and returns the time of one operation, in picoseconds.
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
