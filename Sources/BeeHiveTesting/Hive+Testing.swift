public import BeeHive
import Glibc

extension Hive {
  /// Creates a Hive of what these libraries declare, and nothing else that the process has loaded.
  ///
  ///     let hive = try Hive(opening: "libShop.so")
  ///
  /// - Parameter files: Opened with `dlopen`, each as `builtFile(_:)` finds it; they stay open.
  /// - Throws: `LibraryNotOpened` with the loader's reason.
  public convenience init(opening files: String...) throws {
    var chosen: Set<String> = []
    for path in files.map(builtFile) {
      guard unsafe dlopen(path, RTLD_NOW) != nil else {
        throw LibraryNotOpened(path: path, reason: unsafe String(cString: dlerror()))
      }
      chosen.insert(canonical(path))
    }
    self.init(imagesWhere: { [chosen] in chosen.contains(canonical($0)) })
  }

  /// Creates a Hive of these entries alone, by the rules for what images and files declare.
  ///
  ///     let hive = try Hive(planting: Registrations(services: [.init(service: "Shop.Cart", impl: "Cart")]))
  ///
  /// - Parameter entries: What a file would say: its names are those of types, or are bound with `bind`.
  /// - Throws: ``Problem`` of the first entry that is rejected.
  public convenience init(planting entries: Registrations) throws {
    self.init()
    try register(entries, file: "planted")
    for case .rejected(let problem) in self.entries.map(\.state) { throw problem }
  }
}

/// A library that the loader refuses to open.
package struct LibraryNotOpened: Error, CustomStringConvertible {
  /// Its path.
  package let path: String
  /// What the loader said.
  package let reason: String

  /// The loader's reason, which names the file.
  package var description: String { "\(path) cannot be opened: \(reason)" }
}

/// The one path of a file that others lead to; the path itself where there is no such file.
private func canonical(_ path: String) -> String {
  guard let resolved = unsafe realpath(path, nil) else { return path }
  defer { unsafe free(resolved) }
  return unsafe String(cString: resolved)
}
