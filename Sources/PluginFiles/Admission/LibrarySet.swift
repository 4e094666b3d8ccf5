internal import BinaryImage

/// Libraries in the order in which the loader looks for symbols in them.
struct LibrarySet {
  private(set) var members: [Library] = []
  /// Libraries that were needed and not found, who needs them, and the file that the loader stops at, if there is one.
  private(set) var missing: [(name: String, requester: Library, obstacle: ImageError?)] = []
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
      for name in requester.linkage.needed where positions[name] == nil {
        let found: Library
        do throws(ImageError) {
          guard let library = try search.find(name, for: requester) else {
            missing.append((name, requester, nil))
            continue
          }
          found = library
        } catch {
          missing.append((name, requester, error))
          continue
        }
        // Two names may lead to one file.
        let known = members.firstIndex { $0.file.stamp.isSameFile(as: found.file.stamp) }
        if let known { positions[name] = known } else { add(found, as: name) }
      }
    }
  }

  /// Whether a member defines what one wants.
  func define(_ wanted: BoundSymbol) throws(ImageError) -> Bool {
    for member in members where try member.bindings.get().define(wanted) { return true }
    return false
  }
}
