import Foundation
import PackagePlugin

/// `swift package beehive-new-plugin NAME`: makes the folder NAME, a package of its own with a library in C that a
/// host opens, and a test that opens it. It takes swift-beehive from where this package does.
@main struct NewPlugin: CommandPlugin {
  struct Failure: Error, CustomStringConvertible {
    var description: String
  }

  func performCommand(context: PluginContext, arguments: [String]) throws {
    guard arguments.count == 1, let name = arguments.first,
      name.wholeMatch(of: #/[A-Za-z_][A-Za-z0-9_]*/#) != nil
    else {
      throw Failure(
        description: "swift package beehive-new-plugin takes one name: letters, digits, _")
    }
    let folder = context.package.directoryURL.appending(path: name)
    let files = FileManager.default
    guard !files.fileExists(atPath: folder.path) else {
      throw Failure(description: "\(folder.path) is there already; take another name")
    }
    let dependency = try dependency(of: context.package)
    let template = URL(filePath: #filePath).appending(path: "../Template").standardized
    for path in try files.subpathsOfDirectory(atPath: template.path) where path.hasSuffix(".in") {
      let text = try String(contentsOf: template.appending(path: path), encoding: .utf8)
      let file = folder.appending(path: path.dropLast(3).replacing("NAME", with: name))
      try files.createDirectory(
        at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
      try text.replacing("DEPENDENCY", with: dependency).replacing("NAME", with: name)
        .write(to: file, atomically: true, encoding: .utf8)
    }
    print("\(folder.path)\nBuild and test it: swift test --package-path \(name)")
  }

  /// How the new package depends on swift-beehive: as the user's does.
  private func dependency(of package: Package) throws -> String {
    let own = URL(filePath: #filePath).appending(path: "../../../..").standardized
    var packages = [package]
    while let next = packages.popLast() {
      guard next.directoryURL.standardized.path == own.path else {
        packages += next.dependencies.map(\.package)
        continue
      }
      guard case .repository(let url, let version, let revision) = next.origin else {
        return #"name: "swift-beehive", path: "\#(next.directoryURL.path)""#
      }
      let isVersion = version.wholeMatch(of: #/\d+\.\d+\.\d+.*/#) != nil
      return #"url: "\#(url)", "#
        + (isVersion ? #"from: "\#(version)""# : #"revision: "\#(revision)""#)
    }
    throw Failure(description: "\(package.displayName) does not depend on swift-beehive")
  }
}
