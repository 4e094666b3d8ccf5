import Foundation

/// How much of its work a test does.
public enum Effort {
  /// Whether everything is asked for, as `Scripts/test --all` does by `BEEHIVE_TESTS=all`.
  public static let isFull = ProcessInfo.processInfo.environment["BEEHIVE_TESTS"] == "all"

  /// How often to repeat what may be repeated without end.
  public static func times(_ usual: Int, full: Int) -> Int { isFull ? full : usual }

  /// As many of some values as are usually enough, in their order: always the same ones, which look
  /// random. All of them where everything is asked for.
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

  /// The next number.
  public mutating func next() -> UInt64 {
    state &+= 0x9e37_79b9_7f4a_7c15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xbf58_476d_1ce4_e5b9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
    return mixed ^ (mixed >> 31)
  }
}
