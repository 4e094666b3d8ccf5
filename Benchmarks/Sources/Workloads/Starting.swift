import CFloors
import Glibc

/// A program in C, from `posix_spawn` to its end.
enum Starting {
  /// Its `main` returns at once: linked to the library, against linked only to the libraries that it needs.
  static func program(_ fixtures: Fixtures) -> Comparison {
    let folder = programs(fixtures)
    return Comparison(
      "start-program",
      floor: .init(run: { run("\(folder)/without") }),
      candidate: .init(run: { run("\(folder)/with") }))
  }

  /// Its `main` asks for all entries, so the Hive looks at its own libraries; against one that asks nothing.
  static func listing(_ fixtures: Fixtures) -> Comparison {
    let folder = programs(fixtures)
    return Comparison(
      "start-listing",
      floor: .init(run: { run("\(folder)/with") }),
      candidate: .init(run: { run("\(folder)/listing") }))
  }

  /// Links the programs and returns their folder.
  private static func programs(_ fixtures: Fixtures) -> String {
    let folder = fixtures.folder + "/start"
    let made = unsafe system("'\(fixtures.folder)/../../Fixtures/start' '\(library())' '\(folder)'")
    guard made == 0 else { stop("the programs cannot be linked") }
    return folder
  }

  /// Returns the path of the library as this process has loaded it.
  private static func library() -> String {
    guard let path = unsafe floor_library_of("beehive_start")
    else { stop("libBeeHive.so is not loaded") }
    return unsafe String(cString: path)
  }

  private static func run(_ path: String) {
    var child: pid_t = 0
    var status: CInt = 0
    let spawned = unsafe posix_spawn(&child, path, nil, nil, [nil], environ)
    guard spawned == 0, unsafe waitpid(child, &status, 0) == child, status == 0
    else { stop("\(path) does not run") }
  }
}
