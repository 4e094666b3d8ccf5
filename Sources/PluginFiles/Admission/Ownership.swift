internal import BinaryImage
internal import LibC
internal import Registration

// The users who may decide which code a host runs: the owners of a file, and of the folders that lead to it.

/// The users who may decide which code a host runs: root, and the user who runs the host.
private var trustedUsers: Set<UInt32> { [0, geteuid()] }

/// Returns the refusals of an open file that others can change or replace: of the file, and of each folder above it.
func ownerRefusals(of file: OpenedFile, as title: String) -> [PluginRefusal] {
  let walk = FolderWalk(to: file.path)
  guard let end = walk.end, end.stamp.isSameFile(as: file.stamp) else {
    return walk.failure.map { [PluginRefusal($0)] } ?? [.replaced(title)]
  }
  let own = ownerRefusal(of: end.access, title)
  return [own].compactMap { $0 } + walk.refusals
}

/// Returns the reason that others may put a library at a path that the loader passes over today; nil if they may not.
func passedRefusal(at path: String) -> PluginRefusal? {
  let walk = FolderWalk(to: path)
  let own = walk.end.flatMap { ownerRefusal(of: $0.access, "It") }
  guard let reason = own ?? walk.refusals.first else { return nil }
  return PluginRefusal(
    .unsafeSearchPath, "The loader passes over \(path) today. \(reason.message)",
    expected: reason.expected, found: reason.found, remedy: reason.advice)
}

private func ownerRefusal(of access: FileAccess, _ title: String) -> PluginRefusal? {
  let users = trustedUsers.sorted().map { $0 == 0 ? "root" : "user \($0)" }
    .joined(separator: " or ")
  guard trustedUsers.contains(access.owner) else {
    return PluginRefusal(
      .foreignOwner,
      "\(title) belongs to user \(access.owner), not to \(users): that user could replace it.",
      expected: users, found: "user \(access.owner)", remedy: .giveToRoot)
  }
  guard access.isWritableByOthers else { return nil }
  let mode = "0" + String(access.mode & 0o7777, radix: 8)
  let others = access.mode & 0o002 != 0 ? "everybody" : "its group"
  return PluginRefusal(
    .writableByOthers,
    "\(title) is writable to \(others) (mode \(mode)): others could put code into the host.",
    expected: "no write permission but the owner's", found: mode,
    remedy: access.mode & 0o1000 == 0 ? .takePermission : .useOwnFolder)
}

extension PluginRefusal {
  /// Makes the refusal of a file that was replaced.
  static func replaced(_ title: String) -> Self {
    Self(.changed, "\(title) was replaced since it was read.", remedy: .lookAgain)
  }
}

extension FolderWalk {
  /// The reasons that other users may decide what the path leads to, outermost folder first, as in sudo.
  var refusals: [PluginRefusal] {
    // Folders that cannot be seen are not safe.
    if let failure { return [PluginRefusal(failure)] }
    var told: Set<String> = []
    return steps.compactMap { step in
      var (access, title) = (step.access, "The folder \(step.path) that leads to it")
      // Only owners may rename and remove in a sticky folder, as in /tmp: others may add names, but not touch ours.
      if access.mode & 0o1000 != 0, access.isWritableByOthers, let owner = step.owner {
        access.mode &= ~0o022
        if trustedUsers.contains(access.owner), !trustedUsers.contains(owner) {
          (access.owner, title) = (owner, "\(step.name), which leads to it,")
        }
      }
      guard let refusal = ownerRefusal(of: access, title), told.insert(title).inserted else {
        return nil
      }
      return refusal
    }
  }
}
