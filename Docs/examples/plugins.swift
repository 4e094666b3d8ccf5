// What Docs/plugins.md shows, as a program: it says what the plugins of a directory offer, loads
// and unloads those that are admitted.
import BeeHivePlugins

@main enum Program {
  static func main() async throws {
    guard CommandLine.arguments.count == 2 else { return print("usage: plugins DIRECTORY") }
    let hive = Hive.process
    let directory = CommandLine.arguments[1]
    try hive.plugins.add(directory: directory)

    for file in hive.plugins.files where !file.isLoaded {
      print(file.path, file.machine, file.requirements)
    }
    // Of files that are not loaded, the larger priority first.
    print(hive.plugins.implementations(of: "Greeter").map(\.implementation))
    print(hive.plugins.report())

    hive.plugins.policy = .strict
    hive.plugins.policy.denied = ["libbeta*"]
    print(try hive.plugins.admission())

    hive.plugins.activation = .onDemand
    hive.plugins.activations = ["com.example.greet": .atStart, "libold.so": .never]

    // Has the changes from here on, so it comes before the load.
    let changes = Task { [changes = hive.plugins.changes] in
      for await file in changes { print(file.path, file.state) }
    }
    let watch = try hive.plugins.watch { print(hive.plugins.report()) }

    do {
      for file in try await hive.plugins.load() { print("loaded", file.path) }
    } catch {
      print(error)  // Has each reason. Other plugins may be loaded.
    }
    try await hive.start(options: LaunchOptions(onFailure: .skip))

    print(try await hive.plugins.unload())

    watch.cancel()
    changes.cancel()
  }
}
