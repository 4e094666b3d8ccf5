import BeeHive
import Glibc

/// The first resolve after a `dlopen`, next to few and to many entries or libraries.
enum Arriving {
  /// The number of the first copy. Copies before it share their names with the entries that are there.
  private static let firstCopy = 100

  /// Looks up an entry of a library of ten that has just arrived, next to `count` entries.
  static func beside(_ count: Int, _ fixtures: Fixtures) -> Comparison {
    fill(count, fixtures)
    return arriving("arrival-beside-\(count)", fixtures)
  }

  /// Looks up an entry of a library of ten that has just arrived, among `count` libraries of ten.
  static func among(_ count: Int, _ fixtures: Fixtures) -> Comparison {
    fixtures.load(count, of: "noted")
    guard Hive.process.entries.count == count * 10 else { stop("an entry was not registered") }
    return arriving("arrival-among-\(count)", fixtures)
  }

  private static func arriving(_ name: String, _ fixtures: Fixtures) -> Comparison {
    var next = firstCopy
    return Comparison(
      name, rounds: 300, floor: nil,
      candidate: .init(
        before: {
          fixtures.load(Fixtures.copy(next, of: "arriving"))
          next += 1
        },
        run: { resolve(fromCopy: next - 1) }))
  }

  private static func fill(_ count: Int, _ fixtures: Fixtures) {
    let before = Hive.process.entries.count
    if count == 100 {
      fixtures.load("hundred")
    } else {
      fixtures.load(count / 10_000, of: "thousands")
    }
    guard Hive.process.entries.count == before + count else { stop("an entry was not registered") }
  }

  private static func resolve(fromCopy number: Int) {
    let copy = Fixtures.copy(number, of: "").dropFirst()
    do {
      _ = try unsafe Hive.process.service(
        "Bench\(copy).Service00003", as: UnsafePointer<Int>.self)
    } catch { stop("\(error)") }
  }
}
