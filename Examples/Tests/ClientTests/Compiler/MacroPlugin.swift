import Foundation

/// What expands the macros for a compiler.
///
/// `Tests/Annotations` has the package manager build the executable, against swift-syntax, which
/// takes minutes. Everywhere else it is a library that the compiler builds in seconds against the
/// SwiftSyntax of its own toolchain; the declarations of the macros are then compiled likewise,
/// because without the trait the package has none.
enum MacroPlugin {
  /// The compiler's arguments for a client of the macros.
  struct Parts: Sendable {
    var toCompile: [String]
    var toLink: [String]
  }

  #if SWIFTPM_PLUGIN
    static let parts = Result {
      let tool = Repository.products.appendingPathComponent("BeeHiveAnnotationsPlugin-tool").path
      return Parts(
        toCompile: ["-load-plugin-executable", "\(tool)#BeeHiveAnnotationsPlugin"],
        toLink: try SwiftCompiler.objects(of: "BeeHiveAnnotations"))
    }
  #else
    /// Built once, by whoever asks first.
    static let parts = Result {
      let folder = try Folder()
      let plugin = folder.place("libBeeHiveAnnotationsPlugin.so").path
      let host = try toolchainLibraries()
      try build(
        "BeeHiveAnnotationsPlugin", except: "Plugin.swift",
        [
          "-emit-library", "-o", plugin, "-I", host, "-L", host, "-Xlinker", "-rpath",
          "-Xlinker", host, "-lSwiftSyntax", "-lSwiftSyntaxMacros", "-lSwiftSyntaxBuilder",
          "-lSwiftParser", "-lSwiftDiagnostics",
          // A later toolchain may have better names for what the oldest swift-syntax has.
          "-Wwarning", "DeprecatedDeclaration",
        ])
      let object = folder.place("BeeHiveAnnotations.o").path
      let module = folder.place("BeeHiveAnnotations.swiftmodule").path
      try build(
        "BeeHiveAnnotations",
        [
          "-emit-object", "-o", object, "-emit-module", "-emit-module-path", module,
          "-load-plugin-library", plugin,
        ])
      return Parts(
        toCompile: ["-I", folder.path, "-load-plugin-library", plugin], toLink: [object])
    }

    /// Where the toolchain keeps SwiftSyntax.
    private static func toolchainLibraries() throws -> String {
      struct Information: Decodable {
        struct Paths: Decodable { var runtimeResourcePath: String }
        var paths: Paths
      }
      let text = try Command.output("swiftc", ["-print-target-info"])
      let information = try JSONDecoder().decode(Information.self, from: Data(text.utf8))
      return information.paths.runtimeResourcePath + "/host"
    }

    /// Compiles the sources of a target as its trait and the package's settings have it.
    private static func build(
      _ target: String, except left: String = "", _ arguments: [String]
    ) throws {
      let sources = try FileManager.default.contentsOfDirectory(
        at: Repository.place("Sources/\(target)"), includingPropertiesForKeys: nil
      ).filter { $0.pathExtension == "swift" && $0.lastPathComponent != left }.map(\.path)
      let outcome = try SwiftCompiler.run(
        ["-module-name", target, "-parse-as-library", "-D", "Annotations", "-wmo"]
          + SwiftCompiler.Mode.strict.arguments + arguments + sources.sorted())
      guard outcome.status == 0 else { throw outcome }
    }
  #endif
}
