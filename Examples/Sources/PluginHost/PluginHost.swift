import BeeHive
import BeeHivePlugins
import Glibc

/// A shop that loads what is good of a folder of plugins, and says why it leaves the others alone.
@main
struct PluginHost {
  static func main() async {
    do {
      try await openShop(with: CommandLine.arguments.last ?? "plugins")
    } catch {
      _ = unsafe "PluginHost: \(error)\n".withCString {
        unsafe write(STDERR_FILENO, $0, strlen($0))
      }
      exit(EXIT_FAILURE)
    }
  }

  private static func openShop(with folder: String) async throws {
    let hive = Hive.process
    // Nothing of a plugin runs before its module is set up.
    hive.plugins.policy.startup = .anchor
    try hive.plugins.add(directory: folder)

    // Files are read, and none is loaded yet.
    if CommandLine.arguments.contains("--report") {
      print(try hive.plugins.admission())
      return
    }
    // Providers first. Loading is dlopen, as ever.
    for path in try hive.plugins.admitted {
      guard unsafe dlopen(path, RTLD_NOW | RTLD_LOCAL) != nil else {
        throw LoadingFailure(message: unsafe String(cString: dlerror()))
      }
      print("loaded \(path.split(separator: "/").last ?? "")")
    }
    let launch = try await hive.start()
    print("started: \(launch.started.joined(separator: ", "))")
    await hive.stop()
  }
}

/// Why the host cannot go on.
struct LoadingFailure: Error, CustomStringConvertible {
  var message: String
  var description: String { message }
}
