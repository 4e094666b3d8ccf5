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
    /// Whether it was not looked for everywhere, since that would take too long.
    var isUnfound = false
  }

  /// What the loader knows a member by: the path at which it was opened, what it was asked for as, its soname.
  struct Name {
    let text: String
    /// The place of the member.
    let position: Int
    /// Whether somebody needs it as that.
    let isAsked: Bool
  }

  private(set) var missing: [Missing] = []
  /// The names of all members, each once.
  private(set) var names: [Name] = []
  /// By bytes: to the loader, texts that Swift takes for equal are two names.
  private var positions: [[UInt8]: Int] = [:]
  /// File names of libraries that are loaded, and whose files cannot be read.
  private var unread: Set<[UInt8]> = []
  /// Files that earlier plugins have brought, by their names: who needs such a name gets that file.
  var residents: [[UInt8]: String] = [:]

  /// Adds a library, with the names under which others get it; the first of each name is meant.
  mutating func add(_ library: Library, as asked: String? = nil) {
    if let asked { note(asked, members.count, isAsked: true) }
    for name in [library.linkage.name, library.path].compactMap({ $0 }) {
      note(name, members.count, isAsked: false)
    }
    members.append(library)
  }

  private mutating func note(_ name: String, _ position: Int, isAsked: Bool) {
    let bytes = Array(name.utf8)
    guard positions[bytes] == nil else { return }
    positions[bytes] = position
    names.append(Name(text: name, position: position, isAsked: isAsked))
  }

  /// Notes a library that is loaded and cannot be read: who needs it has it.
  mutating func addUnread(_ path: String) { unread.insert(Array(path.fileName.utf8)) }

  /// Notes what members of a running process were asked for as, which it does not tell: whatever they need is there.
  mutating func addNamesOfFiles() {
    for name in members.flatMap(\.linkage.needed) where positions[Array(name.utf8)] == nil {
      let position = members.firstIndex { $0.path.fileName.utf8.elementsEqual(name.utf8) }
      if let position { note(name, position, isAsked: true) }
    }
  }

  /// Adds what the members from one on need, and what those need, in the loader's order.
  mutating func addNeeded(from start: Int, _ search: LibrarySearch) {
    var next = start
    while next < members.count {
      let requester = members[next]
      next += 1
      var lookups = search.lookups(for: requester)
      var unfound: Set<[UInt8]> = []
      for text in requester.linkage.needed where !Self.isThere(text) {
        let name = requester.expanded(text)
        let bytes = Array(name.utf8)
        guard positions[bytes] == nil, !unread.contains(bytes), !unfound.contains(bytes) else {
          continue
        }
        var failure = Missing(name: name, requester: requester)
        do throws(ImageError) {
          if let found = try find(
            name, bytes, search, &lookups, { failure.passed = failure.passed ?? $0 })
          {
            // Two names may lead to one file.
            let known = members.firstIndex { $0.file.stamp.isSameFile(as: found.file.stamp) }
            if let known { note(name, known, isAsked: true) } else { add(found, as: name) }
            continue
          }
          failure.isUnfound = lookups.areSpent
        } catch {
          failure.obstacle = error
        }
        unfound.insert(bytes)
        missing.append(failure)
        if failure.isUnfound { break }
      }
    }
  }

  /// What a name leads to: a file that is loaded, or what is found where the loader looks.
  private func find(
    _ name: String, _ bytes: [UInt8], _ search: LibrarySearch,
    _ lookups: inout LibrarySearch.Lookups, _ passed: (ImageError) -> Void
  ) throws(ImageError) -> Library? {
    guard let path = residents[bytes] else { return try search.find(name, &lookups, passed) }
    return try Library(
      of: OpenedFile(path: path), for: lookups.requester, isResident: true)
  }

  /// What every process has without a file: itself, and what the kernel maps.
  private static func isThere(_ name: String) -> Bool {
    name.isEmpty || name == "linux-vdso.so.1"
  }

  /// The member that others get under a name.
  func member(named name: String) -> Library? { positions[Array(name.utf8)].map { members[$0] } }

  /// The first member that defines what one wants.
  func first(defining wanted: BoundSymbol) throws(ImageError) -> Library? {
    for member in members where try member.bindings.get().define(wanted) { return member }
    return nil
  }
}
