import Foundation
import TestSupport

/// Folders that are kept between runs, for things that take minutes to make. They are in `BEEHIVE_SCRATCH`, else in the
/// checkout's `.build`, or in a temporary folder if `.build` is read-only.
enum Scratch {
  /// Returns the folder of that name, and makes it if it is new.
  static func folder(_ name: String) throws -> URL {
    if let scratch = ProcessInfo.processInfo.environment["BEEHIVE_SCRATCH"], !scratch.isEmpty {
      return try make(URL(fileURLWithPath: scratch).appendingPathComponent(name))
    }
    let folder = Repository.place(".build").appendingPathComponent(name)
    guard let kept = try? make(folder), FileManager.default.isWritableFile(atPath: kept.path)
    else { return try make(Folder().place(name)) }
    return kept
  }

  private static func make(_ folder: URL) throws -> URL {
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    return folder
  }
}
