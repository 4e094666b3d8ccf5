// A host, as the guide WriteAHost.md shows it: it opens the plugins that it is given.
import BeeHive
import Glibc

struct greeter { var greet: @convention(c) () -> UnsafePointer<CChar> }
struct NotLoaded: Error {}

@main enum Program {
  static func main() async throws {
    for plugin in CommandLine.arguments.dropFirst() {
      guard dlopen(plugin, RTLD_NOW | RTLD_LOCAL) != nil else { throw NotLoaded() }
    }
    let hive = Hive.process
    for entry in hive.entries { print(entry) }

    var options = LaunchOptions()
    options.onFailure = .skip
    let launch = try await hive.start(Context(hive: hive, environment: .test), options: options)
    print("started:", launch.started)

    let greeter = try hive.service("Greeter", as: UnsafePointer<greeter>.self)
    print(String(cString: greeter.pointee.greet()))

    let failures = await hive.startLatecomers()
    print(hive.report())

    await hive.stop()
    print(failures.isEmpty)
  }
}
