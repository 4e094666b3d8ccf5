import Foundation
import TestSupport

/// Folders that are kept between runs, for what takes minutes to make: in `BEEHIVE_SCRATCH`, else in
/// the checkout's `.build`, else, where nobody may write there, in a temporary folder.
enum Scratch {
  /// The folder of that name, made if it is new.
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
