internal import BinaryImage
internal import LibC

// What a policy asks of a file that would load: its name, its owners, where it looks for libraries, what it runs.

/// Why the lists of a policy do not admit a file of this name.
func listRefusal(of candidate: AdmissionCandidate, _ policy: PluginPolicy) -> PluginRefusal? {
  let name = candidate.name
  if let pattern = policy.denied.first(where: { name.isMatched(by: $0) }) {
    return PluginRefusal(
      .denied, "The policy denies '\(pattern)'.", expected: "no \(pattern)", found: name,
      remedy: "Take the name off the list of what is denied, or the file out of the folder.")
  }
  let allowed = policy.allowed.map { "'\($0)'" }.joined(separator: ", ")
  if !policy.allowed.isEmpty, !policy.allowed.contains(where: { name.isMatched(by: $0) }) {
    return PluginRefusal(
      .notAllowed, "The policy allows \(allowed) and nothing else.",
      expected: policy.allowed.joined(separator: ", "), found: name,
      remedy: "Add the name to the list of what is allowed, or take the file out of the folder.")
  }
  return nil
}

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

/// Why a file looks for libraries where others can put some.
func searchPathRefusals(
  of library: Library, as title: String, _ policy: PluginPolicy
) -> [PluginRefusal] {
  let paths = zip(library.loading.searchPaths, library.searchFolders)
  let wanted = library.linkage.needed.filter { $0.contains("/") }
    .map { ($0, library.expanded($0).folder) }
  let folders = paths.lazy.compactMap {
    searchPathRefusal(of: $1, title, "looks for libraries in", $0, policy)
  }
  let files = wanted.lazy.compactMap {
    searchPathRefusal(of: $1, title, "needs the library", $0, policy)
  }
  return Array(folders.prefix(mostSearchPaths)) + files.prefix(mostSearchPaths)
}

/// The most that are told of one file; a path may have more folders than anybody reads.
private let mostSearchPaths = 16

private func searchPathRefusal(
  of folder: String, _ title: String, _ wants: String, _ written: String, _ policy: PluginPolicy
) -> PluginRefusal? {
  let shown = "\(title.capitalizedFirst) \(wants) \(written.isEmpty ? "an empty path" : written)"
  // What begins with $ORIGIN is as absolute as the path of the file.
  let isFromOrigin = ["$ORIGIN/", "${ORIGIN}"].contains { "\(written)/".hasPrefix($0) }
  guard folder.hasPrefix("/") || isFromOrigin else {
    return PluginRefusal(
      .unsafeSearchPath,
      "\(shown), which depends on the folder that the host is started in.",
      expected: "an absolute path, or $ORIGIN", found: written,
      remedy: "Link it with -Wl,-rpath,'$ORIGIN', or with an absolute path.")
  }
  guard policy.checksOwners,
    let reason = OwnershipCheck().refusal(ofFolder: folder, title)
  else { return nil }
  return PluginRefusal(
    .unsafeSearchPath,
    "\(shown). \(reason.message)",
    expected: reason.expected, found: reason.found, remedy: reason.remedy)
}

/// Why code does not stay code: something runs on the stack, or writes into functions.
func hardeningRefusals(
  of library: Library, as title: String, _ policy: PluginPolicy
) -> [PluginRefusal] {
  var refusals: [PluginRefusal] = []
  let loading = library.loading
  if !policy.admitsExecutableStacks, loading.runsStack ?? true {
    let found = loading.runsStack == nil ? "it does not say (no PT_GNU_STACK)" : "it asks for one"
    refusals.append(
      PluginRefusal(
        .executableStack,
        "\(title.capitalizedFirst) makes the stack of the whole host executable: \(found).",
        expected: "a stack that is not executable", found: found,
        remedy: "Link it with -Wl,-z,noexecstack; an assembler source needs .note.GNU-stack."))
  }
  if !policy.admitsTextRelocations, loading.relocatesCode {
    refusals.append(
      PluginRefusal(
        .textRelocations,
        "\(title.capitalizedFirst) has the loader write into its code (DT_TEXTREL), which is writable "
          + "meanwhile.",
        expected: "no DT_TEXTREL", found: "DT_TEXTREL", remedy: "Compile all of it with -fPIC."))
  }
  return refusals
}

/// What our headers, the compilers and Swift's runtime have every library run.
private let usualAtStartup: Set<String> = [
  "beehive_image_up", "_ZN20beehive_image_anchorILi0EE2upEv", "frame_dummy",
  "_ZL23swift_image_constructorv",
]

/// Why a file runs more by itself, when it is loaded, than what announces its entries.
///
/// An audit, no wall: names are what the file says. What has no name, as in a stripped file, is refused.
func startupRefusal(
  of library: Library, as title: String, _ policy: PluginPolicy
) throws(ImageError) -> PluginRefusal? {
  guard policy.startup == .anchor else { return nil }
  let (steps, problems) = try library.image.startup()
  if let problem = problems.first { throw problem }
  let further = steps.filter { step in
    switch step.kind {
    case .needed, .threadLocal, .finiArray, .finaliser: false
    case .audit, .filter, .resolver, .exportedResolver: true
    case .preinit, .initialiser, .initArray:
      !step.isOfCompiler && !usualAtStartup.contains(step.name ?? "")
    }
  }
  guard !further.isEmpty else { return nil }
  let names = further.map { step in
    step.name ?? step.address.map { "a function without a name at \($0.hexadecimal)" } ?? "?"
  }
  let shown = names.shown(most: 3)
  let isPlural = names.count > 1
  return PluginRefusal(
    .runsAtStartup,
    "\(title.capitalizedFirst) runs \(shown) by \(isPlural ? "themselves" : "itself") when it is loaded, before "
      + "anybody asks for it; the policy lets a plugin run nothing but what announces its entries.",
    expected: "nothing but the anchor", found: names.joined(separator: ", "),
    remedy:
      "Do that in a module's setUp, or admit it: --startup anything. section-dump startup lists "
      + "everything that runs.")
}

extension String {
  /// Whether a shell's pattern matches it.
  package func isMatched(by pattern: String) -> Bool { unsafe fnmatch(pattern, self, 0) == 0 }

  /// The text as a sentence begins; a path stays as it is.
  var capitalizedFirst: String {
    guard let first, first.isLetter, !contains("/") || hasPrefix("the ") else { return self }
    return first.uppercased() + dropFirst()
  }
}

extension [String] {
  /// The first few, and how many more there are.
  package func shown(most: Int) -> String {
    let text = prefix(most).joined(separator: ", ")
    return count > most ? "\(text) and \(count - most) more" : text
  }
}
