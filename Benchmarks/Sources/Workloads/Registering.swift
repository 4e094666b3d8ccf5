import BeeHive
import CFloors
import Glibc
@_spi(Benchmarks) import Registration

/// Ten thousand entries of one library, against ten thousand constructors.
enum Registering {
  /// Follows each entry of a loaded library to its text, without the library. The floor loads a library whose
  /// constructors do nothing, less the cost of loading an empty library.
  static func reading(_ fixtures: Fixtures) -> Comparison {
    inPlace("read-10000", fixtures, read)
  }

  /// The library's own walk of the same entries. It checks that each pointer lies in the image and that each text ends
  /// and is UTF-8, and hashes names. It makes no entry.
  static func scanning(_ fixtures: Fixtures) -> Comparison {
    inPlace("scan-10000", fixtures) {
      guard (try? Measured.recordsOfNewest()) == 10_000 else { stop("the entries were not found") }
    }
  }

  private static func inPlace(
    _ name: String, _ fixtures: Fixtures, _ read: @escaping () -> Void
  ) -> Comparison {
    var library: Library?
    var nothing: Library?
    return Comparison(
      name,
      base: loading("nothing", fixtures),
      floor: loading("empty-constructors", fixtures),
      candidate: .init(
        before: { library = fixtures.load("modules") },
        run: {
          // The base, which is taken off this side too.
          nothing = fixtures.load("nothing")
          read()
        },
        after: {
          nothing?.close()
          library?.close()
        }))
  }

  /// Does the same and loads the library too, which relocates every entry.
  static func loadingAndReading(_ fixtures: Fixtures) -> Comparison {
    Comparison(
      "load-and-read-10000", rounds: 150,
      base: loading("nothing", fixtures),
      floor: loading("empty-constructors", fixtures),
      candidate: loading("modules", fixtures) { read() })
  }

  private static func read() {
    guard floor_read_newest() > 100_000 else { stop("the entries were not found") }
  }

  /// Loads the library until every entry is registered. The floor loads a library whose constructors copy their names
  /// and insert them into a hash map.
  static func whole(_ kind: String, _ fixtures: Fixtures) -> Comparison {
    Hive.process.refresh()
    let before = Hive.process.entries.count
    let copy = fixtures.fresh(kind)
    let library = fixtures.load(copy)
    guard Hive.process.entries.count == before + 10_000 else { stop("an entry was not registered") }
    fixtures.remove(copy, library)
    return Comparison(
      "register-\(kind)", rounds: 150,
      floor: loading("inserting-constructors", fixtures) {},
      candidate: loading(kind, fixtures) { Hive.process.refresh() })
  }

  private static func loading(
    _ name: String, _ fixtures: Fixtures, then: @escaping () -> Void = {}
  ) -> Comparison.Side {
    var (copy, library): (String, Library?) = ("", nil)
    return .init(
      // Finishes the work that the other side left: images to withdraw, and small pieces of freed memory, which the
      // allocator merges at its next request for a larger one.
      before: {
        copy = fixtures.fresh(name)
        Hive.process.refresh()
        floor_settle()
      },
      run: {
        library = fixtures.load(copy)
        then()
      },
      after: {
        fixtures.remove(copy, library)
        library = nil
      })
  }
}
