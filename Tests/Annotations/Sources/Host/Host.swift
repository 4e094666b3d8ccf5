internal import BeeHive
internal import Glibc

struct Log: Module {}

/// Opens the library of its argument, lists the library's entries, and starts the modules.
@main enum Host {
  static func main() async throws {
    let hive = Hive.process
    print("\(hive.entries.count) entries")
    guard unsafe dlopen(CommandLine.arguments[1], RTLD_NOW | RTLD_LOCAL) != nil else {
      print(unsafe dlerror().map { unsafe String(cString: $0) } ?? "dlopen failed")
      exit(1)
    }
    let entries = hive.entries.map { "\($0.kind) \($0.name) \($0.implementation ?? "–")" }
    for entry in entries.sorted() { print(entry) }
    try await hive.register(module: Log.self, name: "log", level: .basic)
    try hive.validate()
    try await hive.start()
    print("running", await hive.runningModules)
  }
}
