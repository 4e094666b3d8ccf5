import Foundation

/// The host and the plugins in `Tests/Annotations/Sources`, as the package manager builds them for a package that
/// depends on this one. If the macros come from a library, they are compiled here.
enum Client {
  /// The program that opens a plugin and says what it finds.
  #if SWIFTPM_PLUGIN
    static let host = Result<String, any Error>.success(
      Repository.products.appendingPathComponent("Host").path)
  #else
    static let host = Result { try SwiftCompiler.program(try source(of: "Host"), .strict) }
  #endif

  /// Returns the path of a plugin that is written only in Swift.
  static func plugin(_ name: String) throws -> String {
    #if SWIFTPM_PLUGIN
      Repository.products.appendingPathComponent("lib\(name).so").path
    #else
      try SwiftCompiler.plugin(try source(of: name), .strict, module: name)
    #endif
  }

  private static func source(of target: String) throws -> String {
    let folder = Repository.place("Tests/Annotations/Sources/\(target)")
    return try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
      .map { try String(contentsOf: folder.appendingPathComponent($0), encoding: .utf8) }
      .joined()
  }
}
