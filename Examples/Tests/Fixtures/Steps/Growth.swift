internal import BeeHive
internal import Glibc

/// What the first answer of a library costs beside few others and beside many: counted, not timed.
enum Growth {
  /// How many libraries are open.
  private static let few = 100
  private static let many = 900
  /// Of so many answers in turn the least counts: now and then one finds a buffer full.
  private static let answers = 5

  /// Opens one library after another and asks each for a service; says what that took.
  static func measure(files: [String]) throws {
    // Of a library that was loaded before all others: loader walks, allocations, bytes allocated.
    guard let counts = unsafe dlsym(nil, "counts") else { throw StepFailure("nobody counts") }
    var costs: [[Int]] = []
    for (number, file) in files.enumerated() {
      _ = try Handle(opening: file)
      let before = unsafe current(counts)
      _ = try Host.say("Speaker\(String(10_000 + number).dropFirst())0")
      costs.append(zip(unsafe current(counts), before).map { $0 - $1 })
    }
    for (name, first) in [("few", few), ("many", many)] {
      let least = (0..<3).map { kind in costs[first..<first + answers].map { $0[kind] }.min() ?? 0 }
      print("\(name): \(least[0]) walks, \(least[1]) allocations, \(least[2]) bytes")
    }
  }

  private static func current(_ counts: UnsafeRawPointer) -> [Int] {
    (0..<3).map { unsafe counts.load(fromByteOffset: 8 * $0, as: Int.self) }
  }
}
