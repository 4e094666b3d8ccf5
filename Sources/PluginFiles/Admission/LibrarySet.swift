internal import BinaryImage

/// Libraries in the order in which the loader looks for symbols in them.
struct LibrarySet {
  private(set) var members: [Library] = []
  /// A library that was needed and not found.
  struct Missing {
    let name: String
    /// Who needs it.
    let requester: Library
    /// The file that the loader stops at, if there is one.
    var obstacle: ImageError?
    /// The first file of the name that the loader passes over, if there is one.
    var passed: ImageError?
  }

  private(set) var missing: [Missing] = []
  private var positions: [String: Int] = [:]

  /// Adds a library, with the names under which others get it; the first of each name is meant.
  mutating func add(_ library: Library, as name: String? = nil) {
    let own = [name, library.linkage.name, library.path, library.path.fileName].compactMap { $0 }
    for name in own where positions[name] == nil { positions[name] = members.count }
    members.append(library)
  }

  /// Adds what the members from one on need, and what those need, in the loader's order.
  mutating func addNeeded(from start: Int, _ search: LibrarySearch) {
    var next = start
    while next < members.count {
      let requester = members[next]
      next += 1
      for name in requester.linkage.needed where positions[name] == nil && !Self.isThere(name) {
        var found: Library?
        var failure = Missing(name: name, requester: requester)
        do throws(ImageError) {
          found = try search.find(name, for: requester) { failure.passed = failure.passed ?? $0 }
        } catch {
          failure.obstacle = error
        }
        guard let found else {
          missing.append(failure)
          continue
        }
        // Two names may lead to one file.
        let known = members.firstIndex { $0.file.stamp.isSameFile(as: found.file.stamp) }
        if let known { positions[name] = known } else { add(found, as: name) }
      }
    }
  }

  /// What every process has without a file: itself, and what the kernel maps.
  private static func isThere(_ name: String) -> Bool {
    name.isEmpty || name == "linux-vdso.so.1"
  }

  /// The first member that defines what one wants.
  func first(defining wanted: BoundSymbol) throws(ImageError) -> Library? {
    for member in members where try member.bindings.get().define(wanted) { return member }
    return nil
  }
}
