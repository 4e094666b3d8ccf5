public import Foundation

/// Sources that tests compile.
public enum Compiler {
  /// The C compiler of this machine: the first of gcc, cc and clang that is installed.
  public static let program = ["gcc", "cc", "clang"].first(where: Needs.has) ?? "cc"

  /// The input of one call. Equal inputs have equal results.
  private struct Key: Hashable {
    var words: [String]
    var folder: URL
  }

  /// The results by their keys. The thread sanitizer does not understand `Synchronization.Mutex`.
  private final class Made: @unchecked Sendable {
    // Sound: read and written only by `withLock`.
    private var bytes: [Key: Data] = [:]
    private let lock = NSLock()

    subscript(key: Key) -> Data? {
      get { lock.withLock { bytes[key] } }
      set { lock.withLock { bytes[key] = newValue } }
    }
  }

  private static let made = Made()

  /// Compiles a library of entries in C, in a folder of its own.
  ///
  /// - Parameters:
  ///   - source: The text of the source.
  ///   - name: The name of the file.
  /// - Returns: The path of the library.
  /// - Throws: The ``Outcome`` of a compiler that fails.
  public static func library(_ source: String, as name: String) throws -> String {
    let folder = try Folder()
    try compile(
      source, as: name, in: folder.url, ["-shared", "-fPIC", "-w", "-I", Repository.headers])
    return folder.place(name).path
  }

  /// Compiles a source into a file.
  ///
  /// Libraries and objects are compiled once per run. A second call with the same input gets a copy of its own. An
  /// earlier file in its place stays valid for whoever has it open.
  ///
  /// - Parameters:
  ///   - source: The text of the source.
  ///   - suffix: Its language: `c`, or `s` for assembler.
  ///   - name: The path of the file in `folder`.
  ///   - folder: The folder of the file, and of relative paths in `arguments`.
  ///   - compiler: The program.
  ///   - arguments: Arguments in addition to the source and the output.
  /// - Throws: The ``Outcome`` of a compiler that fails.
  public static func compile(
    _ source: String, suffix: String = "c", as name: String, in folder: URL,
    with compiler: String = program, _ arguments: [String]
  ) throws {
    let key = Key(words: [source, suffix, compiler] + arguments, folder: folder)
    let result = folder.appendingPathComponent(name)
    if let bytes = made[key] {
      try? FileManager.default.removeItem(at: result)
      try bytes.save(as: result)
      return
    }
    let input = folder.appendingPathComponent("\(name).source.\(suffix)")
    try Data((source + "\n").utf8).write(to: input)
    try Command.output(compiler, [input.path, "-o", name] + arguments, in: folder)
    // A program is never copied: a child that is forked while the copy is written would keep it busy.
    guard ["-c", "-r", "-shared"].contains(where: arguments.contains) else { return }
    let bytes = try Data(contentsOf: result)
    made[key] = bytes
  }

  /// Compiles a source that includes the header into a library.
  ///
  /// - Parameters:
  ///   - source: The text of the source.
  ///   - name: The path of the file in `folder`. Folders on the way to it are made too.
  ///   - folder: The folder of relative paths in `options`.
  ///   - compiler: The program.
  ///   - options: Further options.
  /// - Returns: The library.
  /// - Throws: The ``Outcome`` of a compiler that fails.
  @discardableResult
  public static func library(
    _ source: String, as name: String, in folder: URL, with compiler: String = program,
    _ options: [String] = []
  ) throws -> URL {
    let library = folder.appendingPathComponent(name)
    try FileManager.default.createDirectory(
      at: library.deletingLastPathComponent(), withIntermediateDirectories: true)
    try compile(
      source, as: name, in: folder, with: compiler,
      ["-shared", "-fPIC", "-I", Repository.headers] + options)
    return library
  }

  /// Returns the source of a plugin with one module.
  public static func module(_ name: String, _ attributes: String = "\"\"") -> String {
    """
    #include <BeeHive.h>
    static const beehive_module_operations \(name)_operations = { 0 };
    BEEHIVE_MODULE(\(name), &\(name)_operations, \(attributes));
    """
  }

  /// Compiles Swift for one module, into a library unless `emit` says otherwise.
  ///
  /// - Parameters:
  ///   - source: The text of the source.
  ///   - module: The name of the module.
  ///   - name: The path of the file in `folder`.
  ///   - folder: The folder of the file, and of relative paths in `options`.
  ///   - emit: The option that selects the kind of file.
  ///   - options: Further options.
  /// - Returns: The file.
  /// - Throws: The ``Outcome`` of a compiler that fails.
  @discardableResult
  public static func swift(
    _ source: String, module: String, as name: String, in folder: URL,
    emit: String = "-emit-library", _ options: [String] = []
  ) throws -> URL {
    let input = folder.appendingPathComponent("\(name).swift")
    try Data(source.utf8).write(to: input)
    let fixed = ["-parse-as-library", emit, "-module-name", module, "-o", name, input.path]
    try Command.output("swiftc", fixed + options, in: folder)
    return folder.appendingPathComponent(name)
  }
}
