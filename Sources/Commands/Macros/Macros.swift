import Foundation
import PackagePlugin

/// `swift package beehive-macros [ARGUMENT…]`: builds the macros' library with the compiler of this package manager. It
/// prints how to compile with the library. The arguments go to the compiler.
@main struct Macros: CommandPlugin {
  func performCommand(context: PluginContext, arguments: [String]) throws {
    let script = URL(filePath: #filePath).appending(path: "../../../../Scripts/build-macros")
    let folder = context.pluginWorkDirectoryURL.path
    let environment = ProcessInfo.processInfo.environment.merging(
      ["SWIFTC": try context.tool(named: "swiftc").url.path]) { $1 }
    let status = try run(script.standardized, [folder] + arguments, environment: environment)
    guard status == 0 else {
      fail("the library was not built: status \(status)")
    }
    let library = folder + "/libBeeHiveAnnotationsPlugin.so"
    print(
      """
      \(library)
      With the trait Declarations of swift-beehive, compile with it on the command line:
        swift build -Xswiftc -load-plugin-library -Xswiftc \(library)
      or in each target of a root package that writes the macros:
        swiftSettings: [.unsafeFlags(["-load-plugin-library", "\(library)"])]
      """)
  }
}
