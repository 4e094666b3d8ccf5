import Foundation
import TestSupport
import Testing

/// Somebody else's package, Tests/Client, which takes this package by URL and version. That fails if a target of this
/// package has `unsafeFlags`.
struct Client {
  private static let version = "0.1.0"

  /// A repository with the sources of this checkout. Its only commit is tagged with the version.
  static let library = Result {
    let library = try Folder().place("swift-beehive")
    try Sources.copy(to: library)
    try tag(library, as: version)
    return library
  }

  /// The package with only the C and Swift targets, built in release.
  static let built = Result {
    let client = try Client("client")
    for product in [[], ["--product", "section-dump"]] {
      try client.swift(["build", "-c", "release"] + product).check()
    }
    return client
  }

  /// The package, and the part of its builds that is kept between runs.
  let package: URL
  let scratch: URL
  private var environment: [String: String]

  /// Makes a copy of the package without builds of this version of the library.
  init(_ name: String, macros: String? = nil) throws {
    package = try Folder().place("Client")
    try FileManager.default.copyItem(at: Repository.place("Tests/Client"), to: package)
    scratch = try Scratch.folder(name)
    environment = [
      "SWIFT_BEEHIVE": "file://\(try Self.library.get().path)",
      "SWIFT_BEEHIVE_VERSION": Self.version,
    ]
    environment["MACROS"] = macros
    // Anything that was fetched for an earlier state of the library is stale.
    let repositories = scratch.appending(path: "repositories")
    let fetched =
      (try? FileManager.default.contentsOfDirectory(atPath: repositories.path)) ?? []
    let stale =
      ["checkouts", "security", "workspace-state.json"].map { scratch.appending(path: $0) }
      + fetched.filter { $0.hasPrefix("swift-beehive") }.map { repositories.appending(path: $0) }
    for path in stale { try? FileManager.default.removeItem(at: path) }
  }

  /// Removes the build products; returns true.
  func forget() throws -> Bool {
    for path in try FileManager.default.contentsOfDirectory(atPath: scratch.path)
    where path != "repositories" {
      try FileManager.default.removeItem(at: scratch.appending(path: path))
    }
    return true
  }

  /// Whether an earlier run has built something.
  var hasBuilt: Bool {
    FileManager.default.fileExists(atPath: scratch.appending(path: "build.db").path)
  }

  /// Makes a library expand the macros instead of the package's own build.
  mutating func useMacros(of library: String) { environment["MACROS_LIBRARY"] = library }

  /// Runs the package manager: `build`, or `package` with a plugin's command.
  func swift(_ arguments: [String], in other: URL? = nil) throws -> Outcome {
    let folders = [
      "--package-path", (other ?? package).path, "--scratch-path",
      other.map { scratch.appending(path: $0.lastPathComponent).path } ?? scratch.path,
      "--security-path", scratch.appending(path: "security").path, "--disable-dependency-cache",
    ]
    return try Command.run(
      "swift", arguments.prefix(1) + folders + arguments.dropFirst(), environment: environment,
      limit: 3600)
  }

  /// Returns the folder of a configuration's products.
  func products(_ configuration: String = "release") throws -> URL {
    let path = try swift(["build", "-c", configuration, "--show-bin-path"]).check()
    return URL(filePath: path.trimmingCharacters(in: .newlines))
  }

  /// Makes a repository of a folder, with a tagged commit.
  private static func tag(_ folder: URL, as version: String) throws {
    let author = ["-c", "user.name=Client", "-c", "user.email=client@localhost"]
    for arguments in [
      ["init", "--quiet"], ["add", "--all"], author + ["commit", "--quiet", "--message", version],
      ["tag", version],
    ] {
      // The user's own setup, such as signatures and hooks, has no effect.
      try Command.output(
        "git", arguments, in: folder,
        environment: ["GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_NOSYSTEM": "1"])
    }
  }
}
