public import Foundation

/// This checkout and its build products.
public enum Repository {
  /// The root of the checkout: the folder with `Scripts` and `CSupport`.
  public static let root: URL = {
    var folder = URL(fileURLWithPath: #filePath).resolvingSymlinksInPath()
    repeat {
      folder.deleteLastPathComponent()
    } while !FileManager.default.fileExists(
      atPath: folder.appendingPathComponent("Scripts/test").path) && folder.path != "/"
    return folder
  }()

  /// Returns the location of a file or folder in the checkout.
  public static func place(_ path: String) -> URL { root.appendingPathComponent(path) }

  /// Returns the text of a file in the checkout.
  public static func text(_ path: String) throws -> String {
    try String(contentsOf: place(path), encoding: .utf8)
  }

  /// Returns the text of a file of `Tests/Fixtures`.
  public static func fixture(_ path: String) throws -> String { try text("Tests/Fixtures/\(path)") }

  /// The folder of the header that authors include.
  public static let headers = place("CSupport/CBeeHive/include").path

  /// The folder of everything that was built with the running tests, including the test bundle.
  public static let products = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
    .deletingLastPathComponent()

  /// `section-dump`, as it was built with the tests.
  public static let sectionDump = products.appendingPathComponent("section-dump").path
}
