package import BinaryImage
internal import Registration

/// The files that `dlopen` maps for a plugin, in the loader's order: the plugin, then level by level what they need.
///
/// Each file was found by the loader's rules and opened once, and every check reads that descriptor.
package struct LoadClosure: Hashable, Sendable {
  /// A name that the loader knows a file by: the path that it was opened at, the name that it was needed by, or its
  /// soname. The loader looks for a needed name only if no other file has it.
  package typealias Name = (text: String, isNeeded: Bool)

  /// One of the files.
  ///
  /// Sound to share: only constants of the open file are read.
  package struct Member: Hashable, @unchecked Sendable {
    /// The path that the loader finds it at.
    package let path: String
    /// The device, inode, size and times of the open file.
    package let stamp: FileStamp
    /// The names that lead to it, each once.
    package let names: [Name]
    /// The place of the member that needs it first; nil for the plugin.
    package let requester: Int?
    /// The places of the members that it needs.
    package let needs: [Int]
    /// The names that it needs, as the loader expands them, with the places of their members; nil if there is none.
    package let needed: [(name: String, place: Int?)]
    /// Whether the host has it without the plugin.
    package let isMapped: Bool
    /// Whether a plugin that loads earlier brings it.
    package let isResident: Bool
    fileprivate var file: OpenedFile?

    /// The open file, for reading with `pread`; it stays open as long as a copy of the member lives. -1 if it is closed.
    package var descriptor: Int32 { file?.descriptor ?? -1 }

    package static func == (left: Self, right: Self) -> Bool {
      (left.path, left.stamp, left.isMapped) == (right.path, right.stamp, right.isMapped)
    }

    package func hash(into hasher: inout Hasher) {
      hasher.combine(path)
      hasher.combine(stamp)
    }
  }

  /// The members, the plugin first.
  package private(set) var members: [Member] = []
  /// The most folders that a search path leads up from its file.
  package private(set) var climbs = 0

  /// The members with their places, each after the members that it needs.
  package var dependenciesFirst: [(place: Int, member: Member)] {
    members.map(\.needs).depthFirst.map { ($0, members[$0]) }
  }

  /// The files that only the plugin brings: neither the host nor an earlier plugin has them.
  var brought: [Member] { members.filter { !$0.isMapped && !$0.isResident } }

  /// Two files of a cycle: they come along and need each other, and the first is opened before the second.
  var cycle: (first: Member, second: Member)? {
    var opened: Set<Int> = []
    for (place, member) in dependenciesFirst where !member.isMapped {
      opened.insert(place)
      for other in member.needs where !opened.contains(other) && !members[other].isMapped {
        return (member, members[other])
      }
    }
    return nil
  }

  /// Opens the files again; throws if one that comes along cannot be opened, or is another than the one that was judged.
  package func opened() throws(ImageError) -> Self {
    var opened = self
    for (index, member) in members.enumerated() where member.file == nil {
      do throws(ImageError) {
        let file = try OpenedFile(path: member.path, wasMapped: true)
        try file.check(
          file.stamp.contents == member.stamp.contents, .replaced,
          "It is another file than the one that was judged: it was replaced meanwhile.")
        opened.members[index].file = file
      } catch  where member.isMapped { continue }
    }
    return opened
  }

  /// The closure without its open files: a folder may have more plugins than a process may open files.
  var closed: Self {
    var closed = self
    for index in members.indices { closed.members[index].file = nil }
    return closed
  }

  /// Follows the names that the files need, as the loader does.
  init(of libraries: LibrarySet) {
    guard let plugin = libraries.plugin else { return }
    members = libraries.order(from: plugin).map { position, requester, needs in
      let library = libraries.members[position]
      return Member(
        path: library.path, stamp: library.file.stamp, names: libraries.names[position],
        requester: requester, needs: needs.compactMap(\.place), needed: needs,
        isMapped: libraries.hosts(library),
        isResident: library.isResident,
        file: library.file)
    }
    let paths = libraries.members.flatMap(\.loading.searchPaths)
    climbs = paths.map { $0.pathParts.count { $0 == ".." } }.max() ?? 0
  }
}
