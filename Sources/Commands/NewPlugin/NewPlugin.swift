import Foundation
import PackagePlugin

/// `swift package beehive-new-plugin NAME`: makes a package in the folder NAME, with a library in C and a test that
/// opens it. The new package takes swift-beehive from the same source as this one.
@main struct NewPlugin: CommandPlugin {
  func performCommand(context: PluginContext, arguments: [String]) throws {
    guard arguments.count == 1, let name = arguments.first,
      name.wholeMatch(of: #/[A-Za-z_][A-Za-z0-9_]*/#) != nil
    else {
      fail("swift package beehive-new-plugin takes one name: letters, digits, _")
    }
    let folder = context.package.directoryURL.appending(path: name)
    let files = FileManager.default
    // Finds a dangling link too.
    guard (try? files.attributesOfItem(atPath: folder.path)) == nil else {
      fail("\(folder.path) is there already; take another name")
    }
    let beehive = beehive(of: context.package)
    // The package manager would make a program of a `main.c`.
    let taken = tree(of: beehive).flatMap { $0.targets.map(\.name) + $0.products.map(\.name) }
    guard name != "main", !taken.contains(name) else {
      fail("\(name) means something to the package manager; take another name")
    }
    let template = URL(filePath: #filePath).appending(path: "../Template").standardized
    let compiler = try context.tool(named: "clang").url
    let headers = beehive.directoryURL.appending(path: "CSupport/CBeeHive/include").path
    // The compiler knows all words, types, macros and headers.
    let isFree = try ["c", "c++"].allSatisfy { language in
      try run(
        compiler,
        [
          "-fsyntax-only", "-x", language, "-I", headers, "-DNAME=\(name)", "-DHEADER=<\(name).h>",
          template.appending(path: "name.check").path,
        ]) == 0
    }
    guard isFree else { fail("\(name) means something in C or C++; take another name") }
    let dependency = dependency(on: beehive)
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

  /// Returns swift-beehive as the user's package depends on it.
  private func beehive(of package: Package) -> Package {
    let own = URL(filePath: #filePath).appending(path: "../../../..").standardized
    let found = tree(of: package).first { $0.directoryURL.standardized.path == own.path }
    if let found { return found }
    fail("\(package.displayName) does not depend on swift-beehive")
  }

  /// Returns a package and all its dependencies.
  private func tree(of package: Package) -> [Package] {
    [package] + package.dependencies.flatMap { tree(of: $0.package) }
  }

  /// Returns the arguments of `.package` that name the user's swift-beehive.
  private func dependency(on beehive: Package) -> String {
    guard case .repository(let url, let version, let revision) = beehive.origin else {
      return #"name: "swift-beehive", path: "\#(beehive.directoryURL.path)""#
    }
    let isVersion = version.wholeMatch(of: #/\d+\.\d+\.\d+.*/#) != nil
    return #"url: "\#(url)", "#
      + (isVersion ? #"from: "\#(version)""# : #"revision: "\#(revision)""#)
  }
}
