import Foundation

/// The amount of work that a test does.
public enum Effort {
  /// Whether to do everything, as `Scripts/test --all` requests with `BEEHIVE_TESTS=all`.
  public static let isFull = ProcessInfo.processInfo.environment["BEEHIVE_TESTS"] == "all"

  /// Returns the number of repetitions of a test that could repeat without end.
  public static func times(_ usual: Int, full: Int) -> Int { isFull ? full : usual }

  /// Returns a sample of some values, in their order, or all of them if everything is to be done. The sample looks
  /// random, but is always the same.
  public static func sample<Value>(_ usual: Int, of values: [Value]) -> [Value] {
    guard !isFull, usual < values.count else { return values }
    var generator = SeededGenerator(seed: 0xbee)
    return values.indices.shuffled(using: &generator).prefix(usual).sorted().map { values[$0] }
  }
}

/// Numbers that look random and are the same in every run: SplitMix64.
public struct SeededGenerator: RandomNumberGenerator, Sendable {
  private var state: UInt64

  /// Equal seeds give equal numbers.
  public init(seed: UInt64) { state = seed }

  /// Returns the next number.
  public mutating func next() -> UInt64 {
    state &+= 0x9e37_79b9_7f4a_7c15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xbf58_476d_1ce4_e5b9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
    return mixed ^ (mixed >> 31)
  }
}
