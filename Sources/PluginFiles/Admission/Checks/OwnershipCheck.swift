internal import BinaryImage
internal import LibC

/// Whether only root and the host's user can change a file or put another in its place: the rule by which
/// sudo trusts its plugins.
struct OwnershipCheck {
  /// What is asked of folders in which only owners may rename and remove: `/tmp`.
  private static let sticky: UInt32 = 0o1000
  private let trusted: Set<UInt32> = [0, geteuid()]

  /// Checks an open file, and every folder that leads to it.
  func refusals(of file: OpenedFile, as title: String) -> [PluginRefusal] {
    var status = stat()
    guard unsafe fstat(file.descriptor, &status) == 0 else { return [Self.changed(title)] }
    let walk = FolderWalk(to: file.path)
    guard let end = walk.end, end.stamp.isSameFile(as: FileStamp(status)) else {
      return [Self.changed(title)]
    }
    let own = refusal(of: FileAccess(status), title, "")
    let folder = end.path.folder
    return ([own] + walk.folders.map { refusal(of: $0, holding: folder, title) }).compactMap { $0 }
  }

  /// Why others may put files into a folder, or another folder in its place; nil where they may not.
  func refusal(ofFolder path: String, _ title: String) -> PluginRefusal? {
    // A folder that is not there could be made by those who may write to what is.
    FolderWalk(to: path).folders.lazy.compactMap { refusal(of: $0, holding: path, title) }.first
  }

  private func refusal(
    of folder: (path: String, access: FileAccess), holding path: String, _ title: String
  ) -> PluginRefusal? {
    var access = folder.access
    // Others may add to such a folder, and touch nothing that is ours in it.
    if folder.path != path, access.mode & Self.sticky != 0 { access.mode &= ~0o022 }
    return refusal(of: access, "the folder \(folder.path)", " that leads to it")
  }

  private func refusal(of access: FileAccess, _ title: String, _ part: String) -> PluginRefusal? {
    let users = trusted.sorted().map { $0 == 0 ? "root" : "user \($0)" }.joined(separator: " or ")
    guard trusted.contains(access.owner) else {
      return PluginRefusal(
        .foreignOwner,
        "\(title.capitalizedFirst)\(part) belongs to user \(access.owner), not to \(users): that user could "
          + "replace it.",
        expected: users, found: "user \(access.owner)", remedy: "Give it to root: chown root.")
    }
    guard access.isWritableByOthers else { return nil }
    let mode = "0" + String(access.mode & 0o7777, radix: 8)
    let others = access.mode & 0o002 != 0 ? "everybody" : "its group"
    return PluginRefusal(
      .writableByOthers,
      "\(title.capitalizedFirst)\(part) is writable to \(others) (mode \(mode)): others could put code into "
        + "the host.",
      expected: "no write permission but the owner's", found: mode,
      remedy: "Take the permission away: chmod go-w.")
  }

  private static func changed(_ title: String) -> PluginRefusal {
    PluginRefusal(
      .changed, "\(title.capitalizedFirst) was replaced while it was read.",
      remedy: "Look again when no plugins are being installed.")
  }
}

extension String {
  /// The text as a sentence begins; a path stays as it is.
  var capitalizedFirst: String {
    guard let first, first.isLetter, !contains("/") || hasPrefix("the ") else { return self }
    return first.uppercased() + dropFirst()
  }
}
