// A host, as the guide WriteAHost.md shows it: it opens the plugins that it is given. `greeter` comes from the header that
// plugins in C include, by the target CGreeter.
import BeeHive
import CGreeter
import Glibc

@main enum Program {
  static func main() async throws {
    for plugin in CommandLine.arguments.dropFirst()
    where dlopen(plugin, RTLD_NOW | RTLD_LOCAL) == nil {
      print(String(cString: dlerror()))  // and the others are opened all the same
    }
    let hive = Hive.process
    for entry in hive.entries { print(entry) }

    let options = LaunchOptions(onFailure: .skip)
    let launch = try await hive.start(Context(hive: hive, environment: .test), options: options)
    print("started:", launch.started)

    let greeter = try hive.service("Greeter", as: UnsafePointer<greeter>.self)
    if let words = greeter.pointee.greet() { print(String(cString: words)) }

    let failures = await hive.startLatecomers()
    print(hive.report())

    await hive.stop()
    print(failures.isEmpty)
  }
}
