internal import BinaryImage
internal import LibC
internal import Registration

/// Libraries, in the order that the loader looks for symbols in them.
struct LibrarySet {
  /// A library that was needed but not found. `reason` ends a sentence about its requester. `file` is the file that the
  /// loader stops at or passes over, nil if no file has the name.
  typealias Missing = (
    name: String, requester: Library, reason: String, remedy: Remedy, file: String?
  )

  /// A member's position, the place of the member that needs it first, and the names that it needs with their places.
  typealias Ordered = (position: Int, requester: Int?, needs: [(name: String, place: Int?)])

  private(set) var members: [Library] = []
  private(set) var missing: [Missing] = []
  /// The files that some processors take instead of members.
  private(set) var rivals: [String] = []
  /// The paths of files that it passes over today before it finds members.
  private(set) var passedOver: [String] = []
  /// The names of each member, each name once.
  private(set) var names: [[LoadClosure.Name]] = []
  /// The place of the plugin; nil without one.
  private(set) var plugin: Int?
  /// The most files that a plugin may bring along with itself, and the most bytes in them.
  var most = (files: 1 << 10, bytes: UInt64(1) << 34)
  /// The files that the plugin brings, and their bytes; the search ends with the first file too many.
  private(set) var size = (files: 0, bytes: UInt64(0))
  /// The members by all their names.
  private var positions: [[UInt8]: Int] = [:]
  /// The places of libraries that the process has opened later, perhaps only for their openers (`RTLD_LOCAL`).
  private var opened: Set<Int> = []
  /// The places of the members that the plugin leads to.
  private var reached: Set<Int> = []
  /// The file names of loaded libraries whose files cannot be read.
  private var unread: Set<[UInt8]> = []
  /// Whether the plugin, or a library that comes with it, needs such a library.
  private(set) var needsUnread = false
  /// The files that earlier plugins have brought, by name. A file that needs such a name gets that file.
  private var residents: [[UInt8]: String] = [:]

  /// The plugin, and the libraries that it brings along, without those of earlier plugins.
  var companions: [Library] { members[(plugin ?? members.count)...].filter { !$0.isResident } }

  /// The bytes of static thread storage for libraries that the process has opened later.
  var openedThreadBytes: UInt64 {
    opened.map { members[$0] }.filter { (try? $0.image.wantsStaticThreads()) == true }
      .reduce(0) { $0 + $1.loading.threadBytes }
  }

  /// Whether the plugin brings more than it may.
  var isTooLarge: Bool { size.files > most.files || size.bytes > most.bytes }

  /// Returns the set with a plugin and its needs. `residents` are paths of files of earlier plugins, by their names.
  func loading(
    _ library: Library, _ search: LibrarySearch, beside residents: [[UInt8]: String] = [:]
  ) -> Self {
    var set = self
    (set.plugin, set.residents, set.missing) = (members.count, residents, [])
    (set.needsUnread, set.rivals, set.passedOver) = (false, [], [])
    set.add(library)
    set.addNeeded(from: members.count, search)
    set.reached = Set(set.order(from: members.count).map(\.position))
    return set
  }

  /// Returns the member at a place and everything that it needs, level by level as the loader goes. Each file comes
  /// once, with the place of the member that needs it first, and the names that it needs with their places.
  func order(from start: Int) -> [Ordered] {
    var order: [Ordered] = [(start, nil, [])]
    var places = [members[start].file.stamp.number: 0]
    var next = 0
    while next < order.count {
      let library = members[order[next].position]
      // The kernel maps linux-vdso without a file.
      for (text, _) in library.companions where !text.isEmpty && text != "linux-vdso.so.1" {
        let name = library.expanded(text)
        let place = position(named: name).map { position in
          let number = members[position].file.stamp.number
          let place = places[number] ?? order.count
          places[number] = place
          if place == order.count { order.append((position, next, [])) }
          return place
        }
        order[next].needs.append((name, place))
      }
      next += 1
    }
    return order
  }

  /// Adds a library, with the names that others get it by. If two libraries have one name, the first counts.
  mutating func add(_ library: Library, as asked: String? = nil) {
    members.append(library)
    names.append([])
    if plugin != nil, !library.isResident {
      let bytes = max(UInt64(library.file.size), library.loading.mappedBytes)
      size = (size.files + 1, size.bytes.saturating(adding: bytes))
    }
    if let asked { note(asked, members.count - 1, isNeeded: true) }
    // The loader knows the program only by its soname.
    for name in [library.linkage.name, library.isProgram ? nil : library.path].compactMap({ $0 }) {
      note(name, members.count - 1, isNeeded: false)
    }
  }

  private mutating func note(_ text: String, _ position: Int, isNeeded: Bool) {
    // To the loader, texts that Swift takes for equal are two names.
    let bytes = Array(text.utf8)
    guard positions[bytes] == nil else { return }
    positions[bytes] = position
    names[position].append((text, isNeeded))
  }

  /// Notes a loaded library that cannot be read: a file that needs it has it.
  mutating func addUnread(_ path: String) { unread.insert(Array(path.fileName.utf8)) }

  /// Adds the file names of loaded libraries, because a process does not record the names they were requested by.
  mutating func addNamesOfFiles() {
    for name in members.flatMap(\.linkage.needed) where positions[Array(name.utf8)] == nil {
      let position = members.firstIndex {
        !$0.isProgram && $0.path.fileName.utf8.elementsEqual(name.utf8)
      }
      if let position { note(name, position, isNeeded: true) }
    }
  }

  /// Notes the members of this process that its program does not need.
  mutating func noteOpened() {
    opened = Set(members.indices).subtracting(order(from: 0).map(\.position))
  }

  /// Adds the libraries that the members from `start` on need, and the needs of those libraries, in the loader's order.
  mutating func addNeeded(from start: Int, _ search: LibrarySearch) {
    var next = start
    while next < members.count {
      let requester = members[next]
      next += 1
      var lookups = LibrarySearch.Lookups(for: requester, by: search)
      var looked: Set<[UInt8]> = []
      for (text, isOptional) in requester.companions
      // Every process has two without a file: itself, and the library that the kernel maps.
      where !text.isEmpty && text != "linux-vdso.so.1" {
        guard !isTooLarge else { return }
        let name = requester.expanded(text)
        let bytes = Array(name.utf8)
        if unread.contains(bytes) { needsUnread = true }
        guard positions[bytes] == nil, !unread.contains(bytes), looked.insert(bytes).inserted else {
          continue
        }
        var obstacle: ImageError?
        do throws(ImageError) {
          // The file of an earlier plugin, or the file that the loader finds.
          let found =
            if let path = residents[bytes] {
              Optional(try Library(of: OpenedFile(path: path), for: requester, isResident: true))
            } else { try lookups.find(name) }
          passedOver += lookups.passed.map(\.image) + lookups.rivals
          if let found {
            if isOptional, try !found.isMapped(beside: members.first) { continue }
            // Two names may lead to one file. The loader opens the program's file anew, and stops there.
            let known = members.firstIndex {
              !$0.isProgram && $0.file.stamp.isSameFile(as: found.file.stamp)
            }
            if let known { note(name, known, isNeeded: true) } else { add(found, as: name) }
            rivals += lookups.rivals.prefix(1)
            continue
          }
        } catch { obstacle = error }
        // The loader maps a file that was cut off, which ends the process.
        if !isOptional || lookups.areSpent || obstacle?.code == .truncated {
          missing.append(Self.missing(name, lookups, obstacle))
        }
        if lookups.areSpent { break }
      }
    }
  }

  /// Explains that the loader does not find a library, or stops at a file that is no library.
  private static func missing(
    _ name: String, _ lookups: LibrarySearch.Lookups, _ obstacle: ImageError?
  ) -> Missing {
    let nowhere = "which the loader does not find"
    var reason = "\(nowhere)."
    let place = lookups.requester.requester == nil ? "the plugin" : lookups.requester.path
    var remedy = Remedy.install(beside: place)
    if let obstacle {
      reason = "and the first of that name cannot be read: \(obstacle)"
      remedy = .passObstacle
    } else if lookups.areSpent {
      let most = LibrarySearch.Lookups.most
      reason =
        "which is not looked for any more: the search for needed libraries has tried \(most) places."
      remedy = .shortenPath
    } else if let rival = lookups.rivals.first {
      reason = "which is there for some processors alone: \(rival)."
      remedy = .buildForAllProcessors
    } else if let passed = lookups.passed.first {
      reason = "\(nowhere), because it passes over \(passed)"
      remedy = .replaceLibrary
    }
    return (name, lookups.requester, reason, remedy, (obstacle ?? lookups.passed.first)?.image)
  }

  /// Returns the member that others get by a name.
  func member(named name: String) -> Library? { position(named: name).map { members[$0] } }

  /// Returns the place of that member.
  func position(named name: String) -> Int? { positions[Array(name.utf8)] }

  /// The libraries that files need by names other than their sonames, which the loader does not know once they are
  /// open. It knows the host's libraries also by their paths, and by the names that the host needs them by.
  var misnamed: [(library: Library, name: String)] {
    let start = plugin ?? members.count
    let known = members[..<start].flatMap { $0.companions.map(\.text) }
    return members.indices.filter { $0 != plugin }.flatMap { position in
      names[position].filter { name in
        name.isNeeded && members[position].linkage.name.map { [$0].has(name.text) } != true
          && (position > start || !name.text.utf8.contains(UInt8(ascii: "/")))
          && !known.has(name.text)
      }.map { (members[position], $0.text) }
    }
  }

  /// Returns whether a name is missing, or is the name of a loaded library that cannot be read.
  func lacks(_ name: String) -> Bool {
    unread.contains(Array(name.utf8)) || missing.contains { [$0.name].has(name) }
  }

  /// Returns the names that files need a member by.
  func names(of library: Library) -> [String] {
    members.firstIndex { $0 === library }.map { names[$0].map(\.text.fileName) } ?? []
  }

  /// Returns whether the host has a file without the plugin.
  func hosts(_ library: Library) -> Bool {
    members[..<(plugin ?? members.count)].contains {
      $0.file.stamp.isSameFile(as: library.file.stamp)
    }
  }

  /// Returns the first member that defines a wanted symbol, if others find it there.
  func first(
    defining wanted: BoundSymbol
  ) throws(ImageError) -> (library: Library, definition: BoundSymbol)? {
    for (position, member) in members.enumerated() {
      guard let found = try member.bindings.get().definition(of: wanted) else { continue }
      let isSeen = !opened.contains(position) || reached.contains(position)
      // A library that was opened only for its opener does not answer for other files.
      if unsafe isSeen || dlsym(nil, wanted.name) != nil { return (member, found) }
    }
    return nil
  }
}
