import Foundation
import TestSupport
import Testing

/// Somebody else's package, Tests/Client, which takes this one by version: `unsafeFlags` in a target
/// of ours would refuse that. It is built in release.
struct Client {
  static let built = Result { try Client() }

  /// Where the build's products are, and the packages that it took.
  let products: URL
  let checkouts: URL

  private init() throws {
    let work = try Folder()
    let library = work.place("swift-beehive")
    try Sources.copy(to: library)
    try Self.tag(library, as: "1.0.0")
    let package = work.place("Client")
    try FileManager.default.copyItem(at: Repository.place("Tests/Client"), to: package)
    let scratch = try Scratch.folder("client")
    checkouts = scratch.appendingPathComponent("checkouts")
    // What an earlier version of the library fetched is not what this one does.
    try? FileManager.default.removeItem(at: checkouts)
    try? FileManager.default.removeItem(at: scratch.appendingPathComponent("workspace-state.json"))
    let build = [
      "build", "-c", "release", "--package-path", package.path, "--scratch-path", scratch.path,
    ]
    let from = ["SWIFT_BEEHIVE": library.path]
    try Command.output("swift", build, environment: from, limit: 3600)
    try Command.output(
      "swift", build + ["--product", "section-dump"], environment: from, limit: 3600)
    products = URL(
      fileURLWithPath: try Command.output("swift", build + ["--show-bin-path"], environment: from)
        .trimmingCharacters(in: .newlines))
  }

  /// Makes a repository of a folder, whose only commit has a version.
  private static func tag(_ folder: URL, as version: String) throws {
    let author = ["-c", "user.name=Client", "-c", "user.email=client@example.org"]
    for arguments in [
      ["init", "--quiet"], ["add", "--all"], author + ["commit", "--quiet", "--message", version],
      ["tag", version],
    ] {
      // Whatever somebody has set up, signatures and hooks among it, is not asked.
      try Command.output(
        "git", arguments, in: folder,
        environment: ["GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_NOSYSTEM": "1"])
    }
  }
}
