import Foundation
import PackagePlugin

/// Adds the sources of BeeHiveTesting to a test target, which links the one libBeeHive.so.
@main struct TestingSources: BuildToolPlugin {
  func createBuildCommands(context: PluginContext, target: any Target) throws -> [Command] {
    let folder = URL(filePath: #filePath).appending(path: "../../../BeeHiveTesting").standardized
    let names = try FileManager.default.contentsOfDirectory(atPath: folder.path)
    return names.filter { $0.hasSuffix(".swift") }.sorted().map { name in
      let (source, copy) = (
        folder.appending(path: name), context.pluginWorkDirectoryURL.appending(path: name)
      )
      return .buildCommand(
        displayName: "BeeHiveTesting: \(name)", executable: URL(filePath: "/bin/cp"),
        arguments: [source.path, copy.path], inputFiles: [source], outputFiles: [copy])
    }
  }
}
