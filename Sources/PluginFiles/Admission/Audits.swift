internal import BinaryImage
internal import LibC
internal import Registration

// The policy's checks of a file that would load: its name, its owners, its search paths, and what it runs.

extension Admission.Judged {
  /// Checks every name of a file against the lists of a policy.
  ///
  /// A soname can only deny, because the file itself chooses it. The system's libraries need no permission.
  mutating func checkLists(of library: Library, neededAs needed: [String] = []) {
    let patterns = policy.denied + policy.allowed
    guard !patterns.isEmpty, !library.isSystem || !policy.denied.isEmpty else { return }
    let names = library.file.names(at: library.requester == nil ? paths : [library.path]) { name in
      patterns.contains { name.isMatched(by: $0) }
    }
    func match(_ patterns: [String], _ names: [String]) -> (pattern: String, name: String)? {
      let pairs = patterns.flatMap { pattern in
        names.filter { $0.isMatched(by: pattern) }.map { (pattern, $0) }
      }
      matched.formUnion(pairs.map(\.0))
      return pairs.first
    }
    let permission = match(policy.allowed, names)
    let own = library.path.fileName
    let brings = library.requester == nil ? "" : ", and it brings along \(library.path)"
    if let (pattern, name) = match(
      policy.denied, names + needed + [library.linkage.name].compactMap { $0 })
    {
      let other = name == own ? "" : "\(brings.isEmpty ? ", and it" : ", which") is \(name) too"
      refuse(
        .denied, "The policy denies '\(pattern)'\(brings)\(other).", expected: "no \(pattern)",
        found: name, remedy: .admitDenied)
    } else if !policy.allowed.isEmpty, permission == nil, !library.isSystem {
      let allowed = policy.allowed.map { "'\($0)'" }.joined(separator: ", ")
      refuse(
        .notAllowed, "The policy allows \(allowed) and nothing else\(brings).",
        expected: policy.allowed.joined(separator: ", "), found: own, remedy: .allow)
    }
  }

  /// Checks that neither the user nor the host has anything against this plugin, or this version of it.
  mutating func checkIdentity() {
    if let plugin = identity, let reason = host.switches.reason(against: plugin.id) {
      refuse(
        .switchedOff, reason.message, expected: "no \(plugin.id)", found: plugin.title,
        remedy: reason.remedy)
    }
    checkVersion(of: identity, at: paths, called: "It")
  }

  /// Checks that a plugin, or one that comes along, has a version that the host accepts.
  mutating func checkVersion(of plugin: PluginIdentity?, at paths: [String], called title: String) {
    for (name, wanted) in policy.versions.sorted(by: { $0.key < $1.key })
    where PluginIdentity.isPlugin(plugin, at: paths, called: name) {
      guard let range = VersionRange(wanted) else {
        refuse(
          .otherVersion, "The policy's versions of \(name), '\(wanted)', cannot be read.",
          expected: wanted, found: plugin?.version, remedy: .writeVersions)
        continue
      }
      if let version = plugin.flatMap({ Version($0.version) }), range.contains(version) { continue }
      let found = plugin.map { "version \($0.version) of \($0.id)" } ?? "of no version"
      refuse(
        .otherVersion, "\(title) is \(found), and the host asks for \(wanted).", expected: wanted,
        found: plugin?.version, remedy: .installVersion)
    }
  }

  /// Checks that others cannot put libraries where a file looks for them.
  mutating func checkSearchPaths(of library: Library, called name: String? = nil) {
    let title = name ?? library.title
    let paths =
      library.isProgram
      ? host.search.environment.map { ("LD_LIBRARY_PATH has the loader look", $0) } : []
    let own = library.loading.isInherited || !library.isProgram ? library.loading.searchPaths : []
    remarks += (paths.map(\.1) + own).filter(library.dependsOnProcessor).map {
      "on some processors dlopen looks in \($0), too"
    }
    guard policy.checksSearchPaths else { return }
    let folders = (paths + own.map { ("\(title) looks", $0) }).lazy.compactMap { [policy] in
      searchPathRefusal(of: library.expanded($1), "\($0) for libraries in", $1, policy)
    }
    let files = library.companions.lazy.map(\.text).filter { $0.utf8.contains(UInt8(ascii: "/")) }
      .compactMap { [policy] in
        searchPathRefusal(
          of: library.expanded($0).folder, "\(title) needs the library", $0, policy)
      }
    refusals += Array(folders.prefix(mostSearchPaths)) + files.prefix(mostSearchPaths)
  }

  /// Checks that the loader searches for no file while it opens the judged files: it might find another one.
  mutating func checkNames(in libraries: LibrarySet, _ closure: LoadClosure) {
    for library in libraries.companions {
      for (name, _) in library.companions where library.expanded(name) != name {
        refuse(
          .notLoadable,
          "\(library.title) needs \(name), and the loader replaces what begins with $: $ORIGIN by another folder than that "
            + "of the judged file.", expected: "a name", found: name, remedy: .linkWithSoname)
      }
    }
    for (library, name) in libraries.misnamed {
      let soname = library.linkage.name.map { "the soname \($0)" } ?? "no soname"
      refuse(
        .notLoadable,
        "\(library.path) has \(soname) and is needed as \(name), so the loader would look for it again after it was "
          + "judged.", expected: name, found: soname, remedy: .linkSoname(name))
    }
    for member in closure.brought {
      for (name, place) in member.needed where place == nil && !libraries.lacks(name) {
        refuse(
          .notLoadable,
          "\(member.path) gets \(name) if that is there, so the loader would look for it again after it was judged.",
          expected: name, found: "no such file", remedy: .linkWithoutAuxiliary(name))
      }
    }
    if let (first, second) = closure.cycle {
      refuse(
        .notLoadable,
        "\(first.path) and \(second.path) need each other, so the loader would look for the second again after it was "
          + "judged.", expected: "no cycle", found: second.path, remedy: .linkIntoOne)
    }
  }

  /// Checks that a file is the one that its names mean, and stays as it is.
  mutating func checkContents(of library: Library) {
    let names =
      library.companions.map(\.text) + library.loading.searchPaths
      + [library.linkage.name].compactMap(\.self)
    if let name = names.first(where: { $0.contains("\u{fffd}") }) {
      refuse(
        .notLoadable,
        "\(library.title) has a library name or a search path that is not UTF-8, so the loader may find another file "
          + "than the judged one: \(name).", expected: "UTF-8", found: name, remedy: .linkInUTF8)
    }
    if policy.opensJudgedFiles, isOpenForWriting(library.file.descriptor) {
      refuse(
        .changed, "\(library.title) is open for writing, so it may change after it was judged.",
        remedy: .lookLater)
    }
  }

  /// Checks that code stays code: nothing runs on the stack, or writes into functions.
  mutating func checkHardening(of library: Library) {
    let loading = library.loading
    let reason = host.keepsCode ? ", and the kernel forbids that (PR_SET_MDWE)" : ""
    if !policy.admitsExecutableStacks || host.keepsCode, loading.runsStack ?? true {
      let found = loading.runsStack == nil ? "it does not say (no PT_GNU_STACK)" : "it asks for one"
      refuse(
        .executableStack,
        "\(library.title) makes the stack of the whole host executable\(reason): \(found).",
        expected: "a stack that is not executable", found: found, remedy: .linkNoexecstack)
    }
    if !policy.admitsTextRelocations || host.keepsCode, loading.relocatesCode {
      refuse(
        .textRelocations,
        "\(library.title) makes its code writable while the loader changes it (DT_TEXTREL)\(reason).",
        expected: "no DT_TEXTREL", found: "DT_TEXTREL", remedy: .compilePIC)
    }
  }

  /// Checks that a file runs nothing but the announcement of its entries when it is loaded.
  ///
  /// An audit, not a wall: the file itself chooses the names. Code without a name, as in a stripped file, is refused.
  mutating func checkStartup(of library: Library) throws(ImageError) {
    // The system answers for the code that its libraries run.
    guard policy.startup == .anchor, !library.isSystem else { return }
    let (steps, problems) = try library.image.startup()
    if let problem = problems.first { throw problem }
    let forbidden = steps.filter { step in
      switch step.kind {
      // The loader ignores audit libraries of a plugin; other libraries that come along are judged as files.
      case .needed, .filter, .audit, .threadLocal, .loadMethod, .finiArray, .finaliser: false
      case .resolver, .exportedResolver: true
      case .preinit, .initialiser, .initArray:
        !step.isOfCompiler && !usualAtStartup.contains(step.name ?? "")
      }
    }
    let names = forbidden.map { step in
      step.name ?? step.address.map { "a function without a name at \($0.hexadecimal)" } ?? "?"
    }
    guard !names.isEmpty else { return }
    refuse(
      .runsAtStartup,
      "\(library.title) runs \(names.shown(most: 3)) by \(names.count > 1 ? "themselves" : "itself") when it is "
        + "loaded, before anybody asks for it; the policy lets a plugin run nothing but what announces its entries.",
      expected: "nothing but the anchor", found: names.joined(separator: ", "),
      remedy: forbidden.allSatisfy { $0.name == nil } ? .keepNames : .startInSetUp)
  }
}

/// The most search paths to report of one file; a path may have more folders than anybody reads.
private let mostSearchPaths = 16

/// Functions that our headers, the compilers and Swift's runtime have every library run.
private let usualAtStartup: Set<String> = [
  "beehive_image_up", "_ZN20beehive_image_anchorILi0EE2upEv", "frame_dummy", "__do_init",
  "_ZL23swift_image_constructorv",
]

/// Returns the reason that others may decide which libraries are in a folder of a search path; nil if they may not.
private func searchPathRefusal(
  of folder: String, _ wants: String, _ written: String, _ policy: PluginPolicy
) -> PluginRefusal? {
  let shown = "\(wants) \(written.isEmpty ? "an empty path" : written)"
  // A path that begins with $ORIGIN is as absolute as the path of the file.
  let isFromOrigin = ["$ORIGIN/", "${ORIGIN}"].contains { "\(written)/".hasPrefix($0) }
  guard folder.isAbsolute || isFromOrigin else {
    return PluginRefusal(
      .unsafeSearchPath, "\(shown), which depends on the folder that the host is started in.",
      expected: "an absolute path, or $ORIGIN", found: written,
      remedy: wants.hasPrefix("LD_LIBRARY_PATH") ? .writeAbsolutePath : .linkAbsolutePath)
  }
  guard !folder.unicodeScalars.contains("\u{fffd}") else {
    return PluginRefusal(
      .unsafeSearchPath, "\(shown), which is not UTF-8.", expected: "UTF-8", found: written,
      remedy: .linkPathInUTF8)
  }
  guard policy.checksOwners else { return nil }
  let walks = ([folder] + processorFolders(in: folder)).map { FolderWalk(to: $0) }
  if walks.contains(where: \.isOfProcess) {
    return PluginRefusal(
      .unsafeSearchPath, "\(shown), which leads elsewhere in each process.",
      expected: "a folder", found: written, remedy: .writeTarget)
  }
  guard let reason = walks.lazy.compactMap({ $0.refusals.first }).first else { return nil }
  return PluginRefusal(
    .unsafeSearchPath, "\(shown). \(reason.message)", expected: reason.expected,
    found: reason.found, remedy: reason.advice)
}
