import BeeHive
import BeeHivePlugins
import Glibc

/// A shop that loads the good plugins of a folder, and says why it leaves the others out.
@main
struct PluginHost {
  static func main() async {
    do {
      try await openShop(with: CommandLine.arguments.dropFirst().last ?? "plugins")
    } catch {
      _ = unsafe "PluginHost: \(error)\n".withCString {
        unsafe write(STDERR_FILENO, $0, strlen($0))
      }
      exit(EXIT_FAILURE)
    }
  }

  private static func openShop(with folder: String) async throws {
    let hive = Hive.process
    if CommandLine.arguments.contains("--strict") { hive.plugins.policy = .strict }
    // Nothing of a plugin runs before its module is set up.
    let isTrusting = CommandLine.arguments.contains("--trusting")
    hive.plugins.policy.startup = isTrusting ? .anything : .anchor
    try hive.plugins.add(directory: folder)

    // Reads the files, and loads none yet.
    if CommandLine.arguments.contains("--report") {
      print(try hive.plugins.admission())
      return
    }
    // Loads the very files that were judged, providers first.
    for file in try await hive.plugins.load() {
      print("loaded \(file.path.split(separator: "/").last ?? "")")
    }
    let launch = try await hive.start()
    print("started: \(launch.started.joined(separator: ", "))")
    await hive.stop()
  }
}
