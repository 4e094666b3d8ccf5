import Foundation
public import Testing

/// The programs that a test needs beyond Swift, libelf, a C compiler and binutils. If one is missing, the test is
/// skipped. The reason names the program as `Scripts/setup` does.
public enum Needs {
  /// Returns the path of a program in `PATH`, or nil.
  public static func path(of program: String) -> String? {
    let path = ProcessInfo.processInfo.environment["PATH"] ?? ""
    return path.split(separator: ":").lazy.map { "\($0)/\(program)" }
      .first { FileManager.default.isExecutableFile(atPath: $0) }
  }

  /// Returns whether a program is in `PATH`, or whether aspell has a dictionary such as `dict:en`.
  public static func has(_ program: String) -> Bool {
    guard program.hasPrefix("dict:") else { return path(of: program) != nil }
    let dictionaries = try? Command.output("aspell", ["dicts"])
    return dictionaries?.split(separator: "\n").contains(program.dropFirst("dict:".count)) ?? false
  }

  /// Returns the program of a linker, from its name in `-fuse-ld=`.
  public static func program(ofLinker linker: String) -> String {
    linker == "mold" ? linker : "ld.\(linker)"
  }

  /// Skips the running test, or its running case, unless these programs are installed.
  public static func programs(_ programs: String...) throws {
    for program in programs where !has(program) {
      try Test.cancel("\(program) is not installed")
    }
  }

  /// Returns the first installed program of some equal candidates. If there is none, skips the running test, or its
  /// running case, and names the first candidate.
  public static func one(of candidates: String...) throws -> String {
    if let found = candidates.first(where: has) { return found }
    try programs(candidates[0])
    return candidates[0]
  }

  /// Skips the running test, or its running case, unless the linker is installed.
  public static func linker(_ linker: String) throws {
    try programs(program(ofLinker: linker))
  }

  /// Whether `Scripts/test` builds everything with a sanitizer.
  public static var isSanitized: Bool {
    ProcessInfo.processInfo.environment["SANITIZER"] != nil
  }

  static let reserves = "a sanitizer reserves terabytes, and the limit is one of address space"

  /// Cancels the test under a sanitizer, because a child that reads a file has limited memory.
  public static func isolation() throws {
    if isSanitized { try Test.cancel("\(reserves)") }
  }

  /// Does the same for the linker that a compiler's arguments ask for, if any.
  public static func linker(of arguments: [String]) throws {
    let option = "-fuse-ld="
    for argument in arguments where argument.hasPrefix(option) {
      try linker(String(argument.dropFirst(option.count)))
    }
  }
}

extension Trait where Self == ConditionTrait {
  /// Skips the test unless these programs are installed.
  public static func needs(_ programs: String...) -> Self {
    let missing = programs.first { !Needs.has($0) } ?? ""
    return .enabled(if: missing.isEmpty, "\(missing) is not installed")
  }

  /// Skips the test if the tool and the library were built with a sanitizer, and gives a reason.
  private static func unsanitized(_ reason: String) -> Self {
    .enabled(if: !Needs.isSanitized, "\(reason)")
  }

  /// Skips the test under a sanitizer, because its plain C host opens the library.
  public static var opensLibrary: Self {
    unsanitized("a host without a sanitizer cannot open a library that has one")
  }

  /// Skips the test under a sanitizer, because it limits the tool's memory.
  public static var limitsMemory: Self { unsanitized(Needs.reserves) }

  /// Leaves the test to `Scripts/test --all`, because it takes minutes.
  public static var full: Self {
    .enabled(if: Effort.isFull, "takes minutes: Scripts/test --all runs it")
  }
}
