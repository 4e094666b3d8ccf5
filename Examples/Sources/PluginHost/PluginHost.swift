import BeeHive
import BeeHivePlugins
import Glibc

/// A shop that loads what is good of a folder of plugins, and says why it leaves the others alone.
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

    // Files are read, and none is loaded yet.
    if CommandLine.arguments.contains("--report") {
      print(try hive.plugins.admission())
      return
    }
    // The very files that were judged, providers first.
    for file in try await hive.plugins.load() {
      print("loaded \(file.path.split(separator: "/").last ?? "")")
    }
    let launch = try await hive.start()
    print("started: \(launch.started.joined(separator: ", "))")
    await hive.stop()
  }
}
