public import Foundation

/// This checkout and what was built of it.
public enum Repository {
  /// Its root: the folder with `Scripts` and `CSupport`.
  public static let root: URL = {
    var folder = URL(fileURLWithPath: #filePath).resolvingSymlinksInPath()
    repeat {
      folder.deleteLastPathComponent()
    } while !FileManager.default.fileExists(
      atPath: folder.appendingPathComponent("Scripts/test").path) && folder.path != "/"
    return folder
  }()

  /// A file or folder of it.
  public static func place(_ path: String) -> URL { root.appendingPathComponent(path) }

  /// The text of one of its files.
  public static func text(_ path: String) throws -> String {
    try String(contentsOf: place(path), encoding: .utf8)
  }

  /// The text of a file of `Tests/Fixtures`.
  public static func fixture(_ path: String) throws -> String { try text("Tests/Fixtures/\(path)") }

  /// The folder of the header that authors include.
  public static let headers = place("CSupport/CBeeHive/include").path

  /// The folder of what was built with the running tests: the test bundle is in it too.
  public static let products = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
    .deletingLastPathComponent()

  /// `section-dump`, as it was built with the tests.
  public static let sectionDump = products.appendingPathComponent("section-dump").path
}
