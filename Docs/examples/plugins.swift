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

    let watch = try hive.plugins.watch { print(hive.plugins.report()) }

    watch.cancel()

    hive.plugins.policy = .strict
    hive.plugins.policy.denied = ["libbeta*"]
    print(try hive.plugins.admission())

    let changes = Task { [changes = hive.plugins.changes] in
      for await file in changes { print(file.path, file.state) }
    }
    try await hive.plugins.load()
    try await hive.start()

    hive.plugins.activation = .onDemand
    hive.plugins.activations = ["com.example.audit": .atStart, "libold.so": .never]

    print(try await hive.plugins.unload())
    changes.cancel()
  }
}
