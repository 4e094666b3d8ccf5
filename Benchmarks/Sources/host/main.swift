internal import BeeHive
internal import BeeHivePlugins
internal import CFloors
internal import Foundation

// A host with a folder of plugins, for Plugins/measure.
//
//   host start FOLDER          starts with them on demand, says how many there are, and goes
//   host cycles FOLDER N       loads and unloads the first plugin N times
//   host generations FOLDER N  reloads the first plugin N times, each time a new build that was renamed over it
//   host mappings FOLDER N     has the loader open N builds of the first plugin, and nothing else
//
// The last three say how many bytes of memory one time has cost, but for the first tenth of them.

func measure(_ turn: () async throws -> Void) async throws {
  let count = Int(CommandLine.arguments[3]) ?? 0
  for _ in 0..<(count / 10) { try await turn() }
  let before = floor_anonymous_bytes()
  for _ in (count / 10)..<count { try await turn() }
  print((Int(floor_anonymous_bytes()) - Int(before)) / (count - count / 10))
}

/// Writes a copy of a plugin with a build-id of its own next to another file, and renames it over that file.
func writeBuild(of plugin: String, to path: String) throws {
  var bytes = try Data(contentsOf: URL(fileURLWithPath: plugin))
  guard let note = bytes.range(of: Data("GNU\0".utf8)) else { fatalError("it has no build-id") }
  let id = Data((0..<8).map { _ in UInt8.random(in: .min ... .max) })
  bytes.replaceSubrange(note.upperBound..<note.upperBound + 8, with: id)
  try bytes.write(to: URL(fileURLWithPath: path), options: .atomic)
}

do {
  let (word, folder) = (CommandLine.arguments[1], CommandLine.arguments[2])
  let plugins = Hive.process.plugins
  try plugins.add(directory: folder)
  plugins.activation = .onDemand
  try await Hive.process.start()
  let files = plugins.files
  let path = files.first?.path ?? ""
  switch word {
  case "start": print(files.count)
  case "cycles":
    try await measure {
      try await plugins.load(path)
      _ = try await plugins.unload(path)
    }
  case "generations":
    try await plugins.load(path)
    try await measure {
      try writeBuild(of: path, to: path)
      _ = try await plugins.reload(path)
    }
  default:
    var builds = 0
    try await measure {
      builds += 1
      try writeBuild(of: path, to: "\(folder)/\(builds)")
      guard unsafe dlopen("\(folder)/\(builds)", RTLD_NOW) != nil else { fatalError() }
    }
  }
} catch {
  print(error)
  exit(1)
}
