/// Where among all values one is, in percent: the same in each process and on each machine.
enum StableShare {
  /// From 0 to below 100, in steps of a hundredth. Each rule orders the values in a way of its own.
  ///
  /// FNV-1a with 64 bits of the rule's name and the texts, a zero byte before each text; then the last step of
  /// SplitMix64, so that values that differ little are far apart; then the remainder of 10,000.
  static func of(_ rule: String, _ texts: [String]) -> Double {
    let bytes = Array(rule.utf8) + texts.flatMap { [0] + Array($0.utf8) }
    var hash: UInt64 = bytes.reduce(0xcbf2_9ce4_8422_2325) {
      ($0 ^ UInt64($1)) &* 0x100_0000_01b3
    }
    hash = (hash ^ hash >> 30) &* 0xbf58_476d_1ce4_e5b9
    hash = (hash ^ hash >> 27) &* 0x94d0_49bb_1331_11eb
    hash ^= hash >> 31
    return Double(hash % 10_000) / 100
  }
}
