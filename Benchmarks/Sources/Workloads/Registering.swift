import BeeHive
import CFloors
import Glibc

/// Ten thousand entries of one library, against ten thousand constructors.
enum Registering {
  /// Loading the library and following each entry to its text, without the library; against loading
  /// one whose constructors do nothing. Both less what loading an empty library costs.
  static func reading(_ fixtures: Fixtures) -> Comparison {
    Comparison(
      "read-10000",
      base: loading("nothing", fixtures),
      floor: loading("empty-constructors", fixtures),
      candidate: loading("modules", fixtures) {
        guard floor_read_newest() > 100_000 else { stop("the entries were not found") }
      })
  }

  /// Loading the library until every entry is registered, against loading one whose constructors copy
  /// their names and insert them into a hash map.
  static func whole(_ kind: String, _ fixtures: Fixtures) -> Comparison {
    Hive.process.refresh()
    let before = Hive.process.entries.count
    let library = fixtures.load(kind)
    guard Hive.process.entries.count == before + 10_000 else { stop("an entry was not registered") }
    library.close()
    return Comparison(
      "register-\(kind)",
      floor: loading("inserting-constructors", fixtures) {},
      candidate: loading(kind, fixtures) { Hive.process.refresh() })
  }

  private static func loading(
    _ name: String, _ fixtures: Fixtures, then: @escaping () -> Void = {}
  ) -> Comparison.Side {
    var library: Library?
    return .init(
      // What the side before this one left to do is not this one's.
      before: { Hive.process.refresh() },
      run: {
        library = fixtures.load(name)
        then()
      },
      after: {
        library?.close()
        library = nil
      })
  }
}
