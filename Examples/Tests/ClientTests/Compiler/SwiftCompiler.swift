import Foundation

/// The compiler as the package manager calls it for a client of the package. It uses what was built next to these
/// tests: the library, its modules, the header's module map.
enum SwiftCompiler {
  /// The build settings of the client's own package.
  enum Mode: String, CaseIterable, CustomStringConvertible, Sendable {
    case debug
    case release
    case strict
    case swift5
    case addressSanitizer

    var description: String { rawValue }

    var arguments: [String] {
      switch self {
      case .debug: ["-swift-version", "6", "-Onone", "-g", "-enable-testing"]
      case .release:
        ["-swift-version", "6", "-O", "-wmo", "-g", "-Xlinker", "--gc-sections"]
      case .strict:
        [
          "-swift-version", "6", "-strict-memory-safety", "-warnings-as-errors",
          "-enable-upcoming-feature", "ExistentialAny",
          "-enable-upcoming-feature", "InternalImportsByDefault",
          "-enable-upcoming-feature", "MemberImportVisibility",
        ]
      case .swift5: ["-swift-version", "5", "-warnings-as-errors"]
      case .addressSanitizer: ["-swift-version", "6", "-sanitize=address"]
      }
    }
  }

  /// The options that link a client with the library.
  static let libraries = [
    "-L", Repository.products.path, "-lBeeHive",
    "-Xlinker", "-rpath", "-Xlinker", Repository.products.path,
  ]

  /// Compiles one file of a module. `arguments` name the output.
  static func compile(
    _ source: String, _ mode: Mode, module: String = "Shop", _ arguments: [String]
  ) throws -> Outcome {
    let file = try Folder().write(source, as: "\(module).swift")
    return try run(["-module-name", module] + mode.arguments + arguments + [file.path])
  }

  /// Compiles and links a plugin that uses the macros: a shared library with the objects that the package manager links
  /// into it.
  static func plugin(
    _ source: String, _ mode: Mode, module: String = "Shop", _ arguments: [String] = []
  ) throws -> String {
    let library = try Folder().place("lib\(module).so").path
    let macros = try MacroPlugin.parts.get()
    let outcome = try compile(
      source, mode, module: module,
      ["-parse-as-library", "-emit-library", "-o", library] + macros.toCompile + libraries
        + macros.toLink + objects(of: "CBeeHiveAnchor") + arguments)
    guard outcome.status == 0 else { throw outcome }
    return library
  }

  /// Compiles and links a program that uses the runtime: one file, with `@main` if `asLibrary`, else
  /// `main.swift`; `arguments` are those of a client of the macros.
  static func program(
    _ source: String, _ mode: Mode = .debug, asLibrary: Bool = true, _ arguments: [String] = []
  ) throws -> String {
    let folder = try Folder()
    let program = folder.place("Host").path
    let file = try folder.write(source, as: asLibrary ? "Host.swift" : "main.swift")
    let outcome = try run(
      ["-module-name", "Host"] + (asLibrary ? ["-parse-as-library"] : []) + mode.arguments
        + ["-emit-executable", "-o", program] + libraries + [file.path] + arguments)
    guard outcome.status == 0 else { throw outcome }
    return program
  }

  /// Compiles and links a shared library of C that includes our header.
  static func library(ofC source: String) throws -> String {
    let folder = try Folder()
    try Compiler.compile(
      source, as: "library.so", in: folder.url, ["-shared", "-fPIC", "-I", Repository.headers])
    return folder.place("library.so").path
  }

  /// Runs the compiler over something that imports the library's modules.
  static func run(_ arguments: [String]) throws -> Outcome {
    let maps = try contents(of: "").filter {
      $0.lastPathComponent.hasPrefix("C") && $0.pathExtension == "build"
        && !$0.lastPathComponent.hasSuffix("-tool.build")
    }
    .map { $0.appendingPathComponent("module.modulemap").path }
    .filter { FileManager.default.fileExists(atPath: $0) }
    // The caller's folders come first: a module in them hides one of the same name.
    return try Command.run(
      "swiftc",
      arguments + [
        "-diagnostic-style", "llvm",
        "-I", Repository.products.appendingPathComponent("Modules").path,
        "-I", Repository.headers, "-I", Repository.place("CSupport/CElf").path,
      ] + maps.flatMap { ["-Xcc", "-fmodule-map-file=\($0)"] }, environment: environment)
  }

  /// Makes the compiler cache the modules of C and of its toolchain's SwiftSyntax next to the tests, for later runs
  /// too. The home directory need not exist, and the package manager's cache may name the same folder by another path.
  static let environment = [
    "CLANG_MODULE_CACHE_PATH": Repository.products.appendingPathComponent("ClientModuleCache").path
  ]

  /// Returns the object files of a target.
  static func objects(of target: String) throws -> [String] {
    try contents(of: "\(target).build").filter { $0.pathExtension == "o" }.map(\.path)
  }

  private static func contents(of folder: String) throws -> [URL] {
    try FileManager.default.contentsOfDirectory(
      at: Repository.products.appendingPathComponent(folder), includingPropertiesForKeys: nil)
  }
}
