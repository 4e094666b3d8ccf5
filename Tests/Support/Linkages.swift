public import Foundation
import Testing

/// The files that `Scripts/make-fixtures` makes of one source, for every format, machine and linker.
public enum Linkages {
  private static let script = Repository.place("Scripts/make-fixtures").path

  /// Returns the lines of a manifest by their first word.
  private static func lines(_ manifest: String) -> [String: [String]] {
    let pairs = manifest.split(separator: "\n").map { $0.split(separator: " ", maxSplits: 1) }
    return Dictionary(grouping: pairs.filter { $0.count == 2 }) { String($0[0]) }
      .mapValues { $0.map { String($0[1]) } }
  }

  private static let listed = lines((try? Command.output(script, ["--list"])) ?? "")

  /// The names of the files that register the source's entries, whether they can be made here or not.
  public static let names = listed["built"] ?? []

  private static let made = Result {
    let folder = try Folder()
    let outcome = try Command.run(script, [folder.path])
    let manifest = try String(contentsOf: folder.place("MANIFEST"), encoding: .utf8)
    let skipped = lines(manifest)["skip", default: []].map {
      $0.split(separator: ":", maxSplits: 1).map { $0.trimmingCharacters(in: .whitespaces) }
    }
    return (
      folder: folder, outcome: outcome,
      skipped: Dictionary(uniqueKeysWithValues: skipped.map { ($0[0], $0.last ?? "") })
    )
  }

  /// Returns the outcome of making the files, once per run.
  public static func outcome() throws -> Outcome { try made.get().outcome }

  /// Returns the names of the files that were made.
  public static func built() throws -> [String] {
    let made = try made.get()
    return names.filter { FileManager.default.fileExists(atPath: made.folder.place($0).path) }
  }

  /// Returns the path of a file. Skips the running test, or its running case, if a tool for the file is missing.
  public static func path(_ name: String) throws -> String {
    let made = try made.get()
    if let reason = made.skipped[name] { try Test.cancel("\(reason)") }
    let path = made.folder.place(name).path
    guard FileManager.default.fileExists(atPath: path) else { throw made.outcome }
    return path
  }

  /// Returns the bytes of a file. Skips in the same cases as ``path(_:)``.
  public static func bytes(_ name: String) throws -> Data {
    try Data(contentsOf: URL(fileURLWithPath: path(name)))
  }
}
