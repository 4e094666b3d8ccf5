import BeeHivePlugins
import CFloors

/// Reads the entries of a folder of plugins, in a process that has read none of them before.
enum Cataloguing {
  /// Compares this with a `pread` of all bytes of the same files.
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
