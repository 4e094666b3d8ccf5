internal import BinaryImage
internal import Registration
internal import SwiftContracts

// The checks that a plugin would load and fit the process: machine, libraries, symbols, types, contracts.

/// The version of the note that this toolkit reads: `BEEHIVE_IMAGE_VERSION`.
private let readNoteVersion = 1

/// The bytes that glibc, since 2.32, keeps for the static thread storage of files that are opened later.
let keptThreadBytes: UInt64 = 1664

extension Admission.Judged {
  /// Checks that a plugin is for processes like the host's, by a toolkit that this one reads. Returns whether it is.
  mutating func checkMachine(of library: Library) -> Bool {
    let start = refusals.count
    let identity = library.image.identity
    let (own, its) = (host.identity.machineTitle, identity.machineTitle)
    guard identity.isFor(host.identity) else {
      refuse(
        .wrongMachine, "It is made for \(its), and the host for \(own).", expected: own, found: its,
        remedy: .build(for: own))
      return false
    }
    checkConventions(of: library)
    checkToolkit(of: library, rejections)
    if library.linkage.carriesRuntime {
      refuse(
        .ownRuntime, "It has a copy of the runtime linked into it, and the host has its own.",
        expected: "libBeeHive.so as a library", found: "a copy of it in the file",
        remedy: .linkRuntime)
    }
    return refusals.count == start
  }

  /// Checks that this toolkit can read the entries of a library.
  mutating func checkToolkit(of library: Library, _ rejections: [Rejection]) {
    var newer = library.linkage.noteVersion.flatMap { version in
      version == readNoteVersion ? nil : "its note has version \(version)"
    }
    if newer == nil, rejections.contains(where: { $0.reason == .unknownVersion }) {
      newer = "an entry has a later version"
    }
    if let newer {
      refuse(
        .toolkitVersion,
        "\(library.title) was built with a newer toolkit: \(newer), and this one reads version 1.",
        expected: "version 1", found: newer, remedy: .updateHost)
    }
  }

  /// Checks that a library follows the conventions of the host.
  mutating func checkConventions(of library: Library) {
    guard let host = host.libraries.members.first else { return }
    let (program, its) = (host.image.abi, library.image.abi)
    let callsOtherwise = its.calls != program.calls
    guard library.isForeign(to: host) || callsOtherwise else { return }
    func text(_ abi: (system: UInt8, calls: UInt32?)) -> String {
      callsOtherwise ? "e_flags \(UInt64(abi.calls ?? 0).hexadecimal)" : "EI_OSABI \(abi.system)"
    }
    refuse(
      .wrongABI,
      "\(library.title) follows other conventions than the host: \(text(its)) in place of \(text(program)).",
      expected: text(program), found: text(its), remedy: .buildAsHost)
  }

  /// Checks that a library that comes along is no second runtime.
  mutating func checkRuntime(of library: Library) {
    guard library.linkage.carriesRuntime,
      let first = host.libraries.members.first(where: \.linkage.carriesRuntime)
    else { return }
    refuse(
      .ownRuntime,
      "It brings along \(library.path), a second runtime beside the host's \(first.path): what one of them "
        + "registers, the other does not have.", expected: first.path, found: library.path,
      remedy: .linkSameRuntime)
  }

  /// Checks that a plugin brings no more files and bytes than it may. Returns whether it is so.
  mutating func checkSize(of libraries: LibrarySet) -> Bool {
    guard libraries.isTooLarge else { return true }
    let sizes = [libraries.size, libraries.most].map { "\($0.files) files with \($0.bytes) bytes" }
    refuse(
      .tooLarge, "Loading it would map \(sizes[0]) or more, and a plugin may bring \(sizes[1]).",
      expected: sizes[1], found: sizes[0], remedy: .bringLess)
    return false
  }

  /// Checks that the loader opens a file by name, whatever it needs. Remarks depend on what the host has open.
  mutating func checkOpening(of library: Library) throws(ImageError) {
    if let obstacle = try library.image.obstacle() {
      refuse(
        .notLoadable, "\(library.title) is not opened by the loader: \(obstacle).",
        expected: "a library for dlopen", found: obstacle, remedy: .linkForLoader)
    }
    if library.expanded(library.path) != library.path {
      refuse(
        .notLoadable,
        "\(library.title) has a path with $ in it, and dlopen replaces what begins so: \(library.path).",
        expected: "a path without $ORIGIN, $LIB and $PLATFORM", found: library.path,
        remedy: .renamePath)
    }
    if library.file.isOnNoexecMount {
      refuse(
        .notLoadable,
        "\(library.title) is on a file system that is mounted noexec: the kernel maps no code from there.",
        expected: "a file system that may hold code", found: "noexec", remedy: .moveFromNoexec)
    }
    let title = library.title.lowercasedFirst
    if library.loading.hasSmallAlignment {
      remarks.append(
        "\(title) has segments that are aligned to no page: loaders before glibc 2.35 refuse it; link it without "
          + "-z max-page-size")
    }
    let (level, own) = (library.loading.processorLevel, LoaderFolders.processorLevel)
    let needed = "needs a processor of level x86-64-v\(level)"
    if own > 0, level > own {
      refuse(
        .notLoadable, "\(library.title) \(needed), and this one has v\(own).",
        expected: "v\(own)", found: "v\(level)", remedy: .buildForOlder)
    } else if level > 1 {
      remarks.append("\(title) \(needed): on any other dlopen refuses it")
    }
    if try library.image.wantsStaticThreads() { noteThreads(of: library) }
  }

  /// Notes that a library's thread-local data must be in the static room of each thread.
  private mutating func noteThreads(of library: Library) {
    let size = library.loading.threadBytes
    guard size > 0, threadBytes.updateValue(size, forKey: library.file.stamp.number) == nil else {
      return
    }
    let result =
      size > keptThreadBytes
      ? "and glibc keeps \(keptThreadBytes): dlopen may refuse it unless the host is started with more, by "
        + "GLIBC_TUNABLES=glibc.rtld.optional_static_tls=\(size)"
      : "and little is left once the host runs: dlopen may refuse it"
    remarks.append(
      "\(library.title.lowercasedFirst) wants \(size) bytes of static thread storage, \(result); build it without "
        + "-ftls-model=initial-exec")
  }

  /// Notes the parts of a plugin that stay when it is unloaded, and what a second build would share with this one.
  mutating func noteRemains(of library: Library) {
    // Unreadable tables are judged elsewhere. A table that the loader does without keeps no plugin out.
    let bindings = try? library.bindings.get()
    let imports = Set((try? bindings?.wanted())?.map(\.name) ?? [])
    let rests = [
      ("threads that it has started", ["pthread_create", "thrd_create"]),
      ("functions for the end of the process", ["__cxa_atexit", "atexit", "on_exit"]),
      ("functions for the end of threads", ["__cxa_thread_atexit_impl", "pthread_key_create"]),
      ("handlers of signals", ["sigaction", "signal"]),
    ]
    remains = ["its image"] + rests.filter { !imports.isDisjoint(with: $0.1) }.map(\.0)
    guard let unique = try? bindings?.unique(), !unique.isEmpty else { return }
    remarks.append(
      "a second build of it gets this one's \(unique.shown(most: 2)): a process has one "
        + "(STB_GNU_UNIQUE)")
  }

  /// Checks that the loader finds every library and symbol that a plugin needs, as `ldd -r` does by running it. The
  /// libraries are the host's, and those that come with the plugin.
  mutating func checkSymbols(of plugin: Library, in libraries: LibrarySet) throws(ImageError) {
    func title(_ library: Library) -> String { library === plugin ? "It" : library.path.fileName }
    if libraries.missing.count > Scan.mostRefused {
      remarks.append("of the libraries that are missing, the first are listed")
    }
    for missing in libraries.missing.prefix(Scan.mostRefused) {
      refuse(
        .missingLibrary,
        "\(title(missing.requester)) needs the library \(missing.name), \(missing.reason)",
        expected: missing.name, found: missing.file ?? "no such file", remedy: missing.remedy)
    }
    // A library that is missing or cannot be read may define the symbols.
    guard libraries.missing.isEmpty, host.problems.isEmpty, !libraries.needsUnread else { return }
    for library in libraries.companions {
      try checkSymbols(of: library, as: title(library), in: libraries)
    }
  }

  private mutating func checkSymbols(
    of library: Library, as title: String, in libraries: LibrarySet
  ) throws(ImageError) {
    let bindings = try library.bindings.get()
    var missing: [String: Library] = [:]
    for needed in bindings.neededVersions {
      // The loader knows no soname here that no file needs. It compares no versions of the kernel's library.
      if needed.library.hasPrefix("linux-vdso.so") { continue }
      guard let other = libraries.member(named: needed.library),
        libraries.members.contains(where: { $0.companions.map(\.text).has(needed.library) })
      else {
        return refuse(
          .notLoadable,
          "\(title) uses versions of symbols of \(needed.library), but no file links that library by this name: the "
            + "loader ends the whole process.", expected: needed.library,
          found: "no such library", remedy: .relink(with: needed.library))
      }
      if !needed.isWeak, try other.bindings.get().lacks(version: needed.name) {
        missing[needed.name] = other
      }
    }
    var undefined: [String] = []
    var isTold = false
    let order = (closure?.dependenciesFirst ?? []).map(\.member).filter { !$0.isMapped }.map(\.path)
    let later = Array(order.drop { ![$0].has(library.path) }.dropFirst())
    for wanted in try bindings.wanted() {
      guard let (definer, definition) = try libraries.first(defining: wanted) else {
        if !wanted.isWeak {
          undefined.append(wanted.title)
          // The missing symbol explains more than its version.
          if let version = wanted.version { missing[version] = nil }
        }
        continue
      }
      if policy.opensJudgedFiles, !isTold, later.has(definer.path) {
        isTold = true
        refuse(
          .notLoadable,
          "\(title) needs \(wanted.title) of \(definer.path.fileName), which is opened after it.",
          expected: wanted.title, found: "no definition yet", remedy: .linkIntoOne)
      }
      if definition.kind == .threadLocal, libraries.companions.contains(where: { $0 === definer }),
        try library.image.wantsStaticThreads()
      {
        noteThreads(of: definer)
      }
      if let kind = wanted.kind, let other = definition.kind, kind != other {
        refuse(
          .contractDrift,
          "\(title) needs \(wanted.name) as \(kind.rawValue), and in \(definer.path.fileName) it is "
            + "\(other.rawValue): the loader compares names alone.", expected: kind.rawValue,
          found: other.rawValue, remedy: .buildWithItsHeader)
      }
      guard !isTold, try definer.lacksVersions(of: wanted, in: libraries) else { continue }
      isTold = true
      refuse(
        .notLoadable,
        "\(title) needs \(wanted.title) of \(definer.path.fileName), but that file has no symbol versions: the "
          + "loader ends the whole process.", expected: wanted.title, found: wanted.name,
        remedy: .linkHosts(definer.path.fileName))
    }
    for (version, other) in missing.sorted(by: { $0.key < $1.key }) {
      refuse(
        .notLoadable,
        "\(title) needs the version \(version) of \(other.path.fileName), but that file does not have this version: "
          + "the loader refuses that, even if no symbol has the version.", expected: version,
        found: "other versions", remedy: .linkHosts(other.path.fileName))
    }
    guard !undefined.isEmpty else { return }
    undefined.sort()
    let symbols = undefined.count == 1 ? "the symbol" : "the symbols"
    let isHidden = host.libraries.members.first?.image.hides(undefined) == true
    refuse(
      .undefinedSymbol,
      "\(title) needs \(symbols) \(undefined.shown(most: 3)), which neither the host nor a "
        + "library that comes along defines.", expected: undefined.joined(separator: ", "),
      found: "no definition", remedy: isHidden ? .exportSymbols : .define(undefined.count))
  }

  /// Remarks on Swift types that a plugin's entries need, but neither it, its libraries nor the host has.
  ///
  /// Nothing is refused, because another plugin may have them, and code may bind the names.
  mutating func checkTypes(of records: [Record], with companions: [Library]) {
    let records = records.filter { $0.neededType != nil }
    guard !records.isEmpty else { return }
    let libraries = companions + host.libraries.members
    // An image that cannot be read may have them.
    guard host.problems.isEmpty, host.replaced.isEmpty, !libraries.contains(where: \.hidesSwift)
    else { return }
    for record in records {
      guard let type = record.neededType,
        !libraries.contains(where: { $0.types.isIncomplete || $0.types.has(type) })
      else { continue }
      remarks.append(
        "\(record.kind) \(record.name) needs the Swift type \(type), which neither it nor the host has"
      )
    }
  }

  /// Checks that a plugin, or a library that comes along, was built against the contracts of the host and the others.
  mutating func checkContracts(
    of own: Library, _ records: [Record], with companions: [Library]
  ) throws(ImageError) {
    let asked = policy.tables.map { ($0.service, $0.size, $0.version) }
    tell(ContractDrift.all(of: records, in: own.image, asked: asked), "the host", of: own)
    // Without section headers, a note leads to the entries, but nothing leads to the conformances.
    let expected =
      own.image.hasSectionTable ? try ContractExpectations(of: own.image) : ContractExpectations()
    let symbols = Set(expected.conformances.map(\.symbol)).map { BoundSymbol(name: $0) }
    // A plugin's own declarations are compared with the others once, not from both sides.
    let others = host.libraries.members + companions.filter { $0 !== own && $0.requester != nil }
    for library in others where library.linkage.hasSwiftSections {
      // A process has one version of the runtime's own protocols, which symbols check.
      let isAsked = try library.defines(anyOf: symbols)
      guard !library.path.fileName.hasPrefix("libswift"), isAsked || !expected.ownProtocols.isEmpty
      else { continue }
      let drifts = ContractDrift.all(of: expected, against: try library.contracts.get())
      tell(drifts, library.path.fileName, of: own)
    }
    // The loaded library counts, not the file that has taken its name since.
    for (name, ranges) in host.replaced {
      let library = ContractLibrary(loadedAs: name, at: ranges, for: expected)
      tell(ContractDrift.all(of: expected, against: library), "\(name.fileName) in memory", of: own)
    }
    guard own.hidesSwift else { return }
    tellUnseen(
      "\(own.prefix)it has no section headers, so the contracts that it was built against are not known",
      remedy: .unstripped)
  }

  /// Reports drifts from the contracts of a library.
  private mutating func tell(_ drifts: [ContractDrift], _ library: String, of own: Library) {
    for drift in drifts {
      let message = drift.message(against: library)
      guard let expected = drift.expected else {
        tellUnseen(own.prefix + message, remedy: drift.remedy)
        continue
      }
      let isType = drift.subject != .ownCopy && drift.subject != .table
      refuse(
        .contractDrift,
        saying:
          "\(own.prefix)\(isType ? "its type " : "")\(message). Calls would reach the wrong functions",
        expected: expected, found: drift.found, remedy: drift.remedy)
    }
  }

  private mutating func tellUnseen(_ message: String, remedy: Remedy) {
    guard policy.unseenContracts == .refuse else { return remarks.append(message) }
    refuse(.contractUnseen, saying: message, remedy: remedy)
  }
}

extension Library {
  /// Returns whether a symbol was linked from this library when its symbols had versions, but now they have none.
  fileprivate func lacksVersions(
    of wanted: BoundSymbol, in libraries: LibrarySet
  ) throws(ImageError) -> Bool {
    guard let library = wanted.library, try !bindings.get().hasVersions else { return false }
    return [linkage.name, path.fileName].contains(library)
      || libraries.member(named: library) === self
  }

  fileprivate func defines(anyOf symbols: [BoundSymbol]) throws(ImageError) -> Bool {
    for symbol in symbols where try bindings.get().definition(of: symbol) != nil { return true }
    return false
  }
}
