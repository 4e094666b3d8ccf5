public import Foundation

/// Sources that tests compile.
public enum Compiler {
  /// The C compiler of this machine: whichever of gcc, cc and clang comes first.
  public static let program = ["gcc", "cc", "clang"].first(where: Needs.has) ?? "cc"

  /// What one call compiles: equal ones have equal results.
  private struct Key: Hashable {
    var words: [String]
    var folder: URL
  }

  /// What was made; the thread sanitizer does not understand `Synchronization.Mutex`.
  private final class Made: @unchecked Sendable {
    // Sound: read and written by `withLock` alone.
    private var bytes: [Key: Data] = [:]
    private let lock = NSLock()

    subscript(key: Key) -> Data? {
      get { lock.withLock { bytes[key] } }
      set { lock.withLock { bytes[key] = newValue } }
    }
  }

  private static let made = Made()

  /// Compiles a source into a file.
  ///
  /// Libraries and objects are compiled once per run: whoever asks for the same again gets a copy,
  /// which is a file of its own. What stood at the place before is left to those who have it open.
  ///
  /// - Parameters:
  ///   - source: The text of the source.
  ///   - suffix: Its language: `c`, or `s` for assembler.
  ///   - name: The file that is made, from `folder` on.
  ///   - folder: Where it is made, and where relative paths in `arguments` begin.
  ///   - compiler: The program.
  ///   - arguments: Its arguments besides the source and the output.
  /// - Throws: The ``Outcome`` of a compiler that fails.
  public static func compile(
    _ source: String, suffix: String = "c", as name: String, in folder: URL,
    with compiler: String = program, _ arguments: [String]
  ) throws {
    let key = Key(words: [source, suffix, compiler] + arguments, folder: folder)
    let result = folder.appendingPathComponent(name)
    if let bytes = made[key] {
      try? FileManager.default.removeItem(at: result)
      try bytes.write(to: result)
      return
    }
    let input = folder.appendingPathComponent("\(name).source.\(suffix)")
    try Data((source + "\n").utf8).write(to: input)
    try Command.output(compiler, [input.path, "-o", name] + arguments, in: folder)
    // A program is no copy: a child that is forked while one is written would keep it busy.
    guard ["-c", "-r", "-shared"].contains(where: arguments.contains) else { return }
    let bytes = try Data(contentsOf: result)
    made[key] = bytes
  }
}
