import BeeHivePlugins
import CFloors

/// Reading what a folder of plugins offers, as a process does that has read none of it before.
enum Cataloguing {
  /// Against a `pread` of all bytes of the same files.
  static func plugins(_ fixtures: Fixtures) -> Comparison {
    let folder = fixtures.folder + "/noted"
    // A process keeps what it has read.
    var hive: Hive?
    return Comparison(
      "catalogue-1000",
      floor: .init {
        guard unsafe floor_read_folder(folder) > 1000 else { stop("the floor missed a file") }
      },
      candidate: .init(
        run: {
          hive = Hive()
          guard (try? hive?.plugins.add(directory: folder)) != nil else { stop("no catalogue") }
        }, after: { hive = nil }))
  }
}
