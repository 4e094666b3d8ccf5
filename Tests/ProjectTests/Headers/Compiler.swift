import Foundation
import TestSupport
import Testing

/// A compiler of C or C++, and its demands on the header.
enum Compiler: String, CaseIterable, Sendable, CustomTestStringConvertible {
  case gcc, clang
  case gxx = "g++"
  case clangxx = "clang++"

  var testDescription: String { rawValue }
  var isClang: Bool { rawValue.hasPrefix("clang") }
  var language: String { rawValue.hasSuffix("++") ? "c++" : "c" }

  /// The standards that the header promises, the oldest first.
  var standards: [String] {
    language == "c" ? ["c11", "c17", "gnu17"] : ["c++17", "gnu++17", "c++20"]
  }
  var oldest: String { standards[0] }

  /// The warnings that the header must not cause.
  var warnings: [String] {
    [
      "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-Wshadow", "-Wconversion", "-Wundef",
      "-Wredundant-decls", language == "c" ? "-Wmissing-prototypes" : "-Wold-style-cast",
    ]
  }

  /// The options for the folders of the public headers.
  static let includes = ["CBeeHive", "CBeeHiveAnchor"].map {
    "-I" + Repository.place("CSupport/\($0)/include").path
  }

  /// Runs the compiler in a folder, whatever the outcome. Skips the running case if it is not installed.
  func run(_ arguments: [String], in folder: Folder) throws -> Outcome {
    try Needs.programs(rawValue)
    // Some tests read the messages in English.
    return try Command.run(rawValue, arguments, in: folder.url, environment: ["LC_ALL": "C"])
  }

  /// Compiles a source of the compiler's language in a folder, or in a new folder. The compiler must succeed.
  ///
  /// - Returns: The object file.
  @discardableResult
  func compile(
    _ source: URL, standard: String? = nil, _ options: [String] = [], in folder: Folder? = nil
  ) throws -> URL {
    let folder = if let folder { folder } else { try Folder() }
    let arguments = ["-x", language, "-std=\(standard ?? oldest)"] + Self.includes + warnings
    return try make("x.o", arguments + options + ["-c", source.path], in: folder)
  }

  /// Makes a file. The compiler must succeed.
  @discardableResult
  func make(_ name: String, _ arguments: [String], in folder: Folder) throws -> URL {
    try run(arguments + ["-o", name], in: folder).check()
    return folder.place(name)
  }

  /// Skips the running case unless the compiler is installed and supports an option. Not every compiler has every
  /// machine, or the library of every sanitizer.
  func needs(_ option: String, linking: Bool = false) throws {
    let folder = try Folder()
    let source = try folder.write("int main(void) { return 0; }\n", as: "main.c")
    let arguments = ["-x", "c", "-ffreestanding", option, source.path, "-o", "main"]
    if try run(linking ? arguments : arguments + ["-c"], in: folder).status != 0 {
      try Test.cancel("\(rawValue) \(option) is not installed")
    }
  }
}

/// Sources that the tests compile.
enum HeaderSource {
  static let everything = Repository.place("Tests/Fixtures/Headers/everything.c")
  static let printPointers = Repository.place("Tests/Fixtures/Headers/print_pointers.c")
  static let anchor = Repository.place("CSupport/CBeeHiveAnchor/anchor.c")
  /// Asserts the offsets of RecordLayout.md.
  static let layout = Repository.place("CSupport/CBeeHive/CBeeHive.c")

  static let include = "#include <BeeHive.h>\n"
  static let twoModules = "BeeHiveMod(A);\nBeeHiveMod(B);\n"
}

/// Machines that clang compiles for without their systems' headers.
enum Targets {
  static let elf = [
    "x86_64-linux-gnu", "i386-linux-gnu", "aarch64-linux-gnu", "armv7-linux-gnueabihf",
    "riscv64-linux-gnu", "s390x-linux-gnu", "powerpc64le-linux-gnu",
  ]
  static let machO = ["arm64-apple-macos13", "x86_64-apple-macos13"]
}
