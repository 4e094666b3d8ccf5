import Foundation

/// The plugin that expands the macros for a compiler.
///
/// `Tests/Annotations` has the package manager build the executable, against swift-syntax, which takes minutes.
/// Everywhere else it is the library that `Scripts/build-macros` makes in seconds. Then the declarations of the macros
/// are compiled here, because the package has them only with a trait.
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
    /// Built once, at its first use, as for a client that switches the trait `Declarations` on.
    static let library = Result {
      let folder = try Folder()
      // A later toolchain may have better names for parts of the oldest swift-syntax.
      try Command.output(
        Repository.place("Scripts/build-macros").path,
        [folder.path] + strict + ["-Wwarning", "DeprecatedDeclaration"],
        environment: SwiftCompiler.environment)
      return folder.place("libBeeHiveAnnotationsPlugin.so")
    }

    static let parts = Result {
      let folder = try Folder()
      let plugin = try library.get().path
      let object = folder.place("BeeHiveAnnotations.o").path
      let sources = try FileManager.default.contentsOfDirectory(
        at: Repository.place("Sources/BeeHiveAnnotations"), includingPropertiesForKeys: nil)
      let outcome = try SwiftCompiler.run(
        ["-module-name", "BeeHiveAnnotations", "-parse-as-library", "-D", "Declarations", "-wmo"]
          + strict + [
            "-emit-object", "-o", object, "-emit-module", "-emit-module-path",
            folder.place("BeeHiveAnnotations.swiftmodule").path, "-load-plugin-library", plugin,
          ] + sources.map(\.path).sorted())
      guard outcome.status == 0 else { throw outcome }
      return Parts(
        toCompile: ["-I", folder.path, "-load-plugin-library", plugin], toLink: [object])
    }

    private static let strict = SwiftCompiler.Mode.strict.arguments
  #endif
}
