internal import BinaryImage
internal import Registration

// Whether a plugin would load, and fit what is loaded: machine, libraries, symbols, types, contracts.

/// The version of the note that this toolkit reads: `BEEHIVE_IMAGE_VERSION`.
private let readNoteVersion = 1

/// Why a file is not made for processes like the host's, or by a toolkit that this one can read.
func machineRefusals(of candidate: AdmissionCandidate, for host: AdmissionHost) -> [PluginRefusal] {
  let (own, its) = (host.identity, candidate.manifest.identity)
  guard its.isFor(own) else {
    return [
      PluginRefusal(
        .wrongMachine,
        "It is made for \(its.machineTitle), and the host for \(own.machineTitle).",
        expected: own.machineTitle, found: its.machineTitle,
        remedy: "Build it for \(own.machineTitle), or take it out of the folder.")
    ]
  }
  return conventionRefusals(of: candidate.library, as: "it", host) + toolkitRefusals(candidate)
}

/// Why a library follows other conventions than the host.
func conventionRefusals(
  of library: Library, as title: String, _ host: AdmissionHost
) -> [PluginRefusal] {
  guard let program = host.libraries.members.first?.image.abi else { return [] }
  let its = library.image.abi
  // Libraries of any system may say that they follow System V.
  let isForeign = its.system != 0 && its.system != program.system
  let callsOtherwise = its.calls != program.calls
  guard isForeign || callsOtherwise else { return [] }
  func text(_ abi: (system: UInt8, calls: UInt32?)) -> String {
    callsOtherwise ? "e_flags \(UInt64(abi.calls ?? 0).hexadecimal)" : "EI_OSABI \(abi.system)"
  }
  return [
    PluginRefusal(
      .wrongABI,
      "\(title.capitalizedFirst) follows other conventions than the host: \(text(its)) in place of "
        + "\(text(program)).",
      expected: text(program), found: text(its),
      remedy: "Build it with the compiler and the options that the host was built with.")
  ]
}

/// Why what comes along would be a second runtime.
func secondRuntimeRefusal(of library: Library, _ host: AdmissionHost) -> PluginRefusal? {
  guard library.linkage.carriesRuntime,
    let first = host.libraries.members.first(where: \.linkage.carriesRuntime)
  else { return nil }
  return PluginRefusal(
    .ownRuntime,
    "It brings along \(library.path), a second runtime beside the host's \(first.path): what one of them "
      + "registers, the other does not have.",
    expected: first.path, found: library.path,
    remedy: "Link the plugin and the host with the same libBeeHive.so.")
}

private func toolkitRefusals(_ candidate: AdmissionCandidate) -> [PluginRefusal] {
  var refusals: [PluginRefusal] = []
  let linkage = candidate.manifest.linkage
  func add(_ found: String) {
    refusals.append(
      PluginRefusal(
        .toolkitVersion,
        "It was built with a newer toolkit: \(found), and this one reads version 1.",
        expected: "version 1", found: found,
        remedy: "Build it with the toolkit of the host, or update the host."))
  }
  if let version = linkage.noteVersion, version != readNoteVersion {
    add("its note has version \(version)")
  } else if candidate.manifest.rejections.contains(where: { $0.reason == .unknownVersion }) {
    add("an entry has a later version")
  }
  if linkage.carriesRuntime {
    refusals.append(
      PluginRefusal(
        .ownRuntime, "It has a copy of the runtime linked into it, and the host has its own.",
        expected: "libBeeHive.so as a library", found: "a copy of it in the file",
        remedy: "Link it with libBeeHive.so, or in C with the header alone."))
  }
  return refusals
}

/// Why the loader does not open a file by name at all, whatever else it asks for.
func openingRefusal(
  of library: Library, as title: String
) throws(ImageError) -> PluginRefusal? {
  guard let obstacle = try library.image.obstacle() else { return nil }
  return PluginRefusal(
    .notLoadable, "\(title.capitalizedFirst) is not opened by the loader: \(obstacle).",
    expected: "a library for dlopen", found: obstacle,
    remedy:
      "Link it anew with -shared, without -z nodlopen, -z max-page-size and --pack-dyn-relocs.")
}

/// What glibc has kept for the static thread storage of all that is opened later, since 2.32.
private let keptThreadBytes: UInt64 = 1664

/// What may keep the loader from opening a file, depending on what the host has opened before.
func openingRemarks(on library: Library, as title: String) -> [String] {
  var remarks: [String] = []
  if library.loading.hasSmallAlignment {
    remarks.append(
      "\(title) has segments that are aligned to no page: loaders before glibc 2.35 refuse it; link it without "
        + "-z max-page-size")
  }
  let level = library.loading.processorLevel
  if level > 1 {
    remarks.append(
      "\(title) needs a processor of level x86-64-v\(level): on any other dlopen refuses it")
  }
  let size = library.loading.staticThreadBytes
  if size > keptThreadBytes {
    remarks.append(
      "\(title) wants \(size) bytes of static thread storage, of which glibc keeps \(keptThreadBytes): dlopen "
        + "refuses it unless the host is started with more, by GLIBC_TUNABLES=glibc.rtld.optional_static_tls=; "
        + "build it without -ftls-model=initial-exec")
  } else if size > 0 {
    remarks.append(
      "\(title) wants \(size) bytes of static thread storage, of which little is left once the host runs: dlopen "
        + "may refuse it; build it without -ftls-model=initial-exec")
  }
  return remarks
}

/// Whether the loader would find every library and symbol that a file needs, as `ldd -r` tells by running it.
struct SymbolCheck {
  /// What the plugin brings along: libraries that the host does not have.
  let companions: [Library]
  /// What becomes known to the loader with it.
  let brought: [BroughtName]
  let refusals: [PluginRefusal]

  /// Checks a plugin; `residents` are the paths of files that earlier plugins have brought, by their names.
  init(
    of candidate: AdmissionCandidate, for host: AdmissionHost,
    beside residents: [[UInt8]: String] = [:]
  ) throws(ImageError) {
    var libraries = host.libraries
    libraries.residents = residents
    let known = libraries.names.count
    let start = libraries.members.count
    let missingBefore = libraries.missing.count
    libraries.add(candidate.library)
    libraries.addNeeded(from: start, host.search)
    companions = libraries.members[(start + 1)...].filter { !$0.isResident }
    let members = libraries.members
    brought = libraries.names[known...].filter { !members[$0.position].isResident }.map { name in
      let file = members[name.position].file
      return BroughtName(
        name: name.text, isNeeded: name.isAsked, path: file.path, stamp: file.stamp)
    }
    func title(_ library: Library) -> String {
      library === candidate.library ? "It" : library.path.fileName
    }
    let missing = libraries.missing[missingBefore...]
    var refusals = missing.map { $0.refusal(of: title($0.requester)) }
    // What is in a library that is missing or cannot be read is not known to be undefined.
    if missing.isEmpty, host.problems.isEmpty {
      for library in members[start...] where !library.isResident {
        refusals += try Self.refusals(of: library, as: title(library), among: libraries)
      }
    }
    self.refusals = refusals
  }

  private static func refusals(
    of library: Library, as title: String, among libraries: LibrarySet
  ) throws(ImageError) -> [PluginRefusal] {
    var (undefined, refusals): ([String], [PluginRefusal]) = ([], [])
    let bindings = try library.bindings.get()
    var missing: [String: Library] = [:]
    for needed in bindings.neededVersions {
      guard let other = libraries.member(named: needed.library) else {
        refusals.append(
          PluginRefusal(
            .notLoadable,
            "\(title) needs versions of symbols of \(needed.library), and not the library itself: the loader ends the "
              + "whole process there.",
            expected: needed.library, found: "no such library",
            remedy: "Link it with \(needed.library) again; a tool has taken that out."))
        return refusals
      }
      if !needed.isWeak, try other.bindings.get().lacks(version: needed.name) {
        missing[needed.name] = other
      }
    }
    for wanted in try bindings.wanted() {
      guard let definer = try libraries.first(defining: wanted) else {
        if !wanted.isWeak {
          undefined.append(wanted.title)
          // The symbol says it better.
          if let version = wanted.version { missing[version] = nil }
        }
        continue
      }
      if try definer.lacksVersions(of: wanted), refusals.isEmpty {
        refusals.append(
          PluginRefusal(
            .notLoadable,
            "\(title) needs \(wanted.title) of \(definer.path.fileName), which has no versions of symbols: the loader "
              + "ends the whole process there.",
            expected: wanted.title, found: wanted.name,
            remedy:
              "Link it with the \(definer.path.fileName) that the host has, or install the other."))
      }
    }
    for (version, other) in missing.sorted(by: { $0.key < $1.key }) {
      refusals.append(
        PluginRefusal(
          .notLoadable,
          "\(title) needs the version \(version) of \(other.path.fileName), which has none of that name: the loader "
            + "refuses it, whether a symbol has that version or not.",
          expected: version, found: "other versions",
          remedy:
            "Link it with the \(other.path.fileName) that the host has, or install the other."))
    }
    guard !undefined.isEmpty else { return refusals }
    undefined.sort()
    let (symbols, them) = undefined.count == 1 ? ("the symbol", "it") : ("the symbols", "them")
    refusals.append(
      PluginRefusal(
        .undefinedSymbol,
        "\(title) needs \(symbols) \(undefined.shown(most: 3)), which neither the host nor a "
          + "library that comes along defines.",
        expected: undefined.joined(separator: ", "), found: "no definition",
        remedy:
          "Link it with the library that defines \(them), or build it against the host's version."))
    return refusals
  }
}

/// The Swift types that a plugin's entries name and that neither it, what it brings along, nor the host has.
///
/// Another plugin may have them, and code may bind the names: nothing is refused.
func typeRemarks(
  on candidate: AdmissionCandidate, for host: AdmissionHost, with companions: [Library]
) throws(ImageError) -> [String] {
  guard candidate.manifest.records.contains(where: { $0.neededType != nil }) else { return [] }
  let libraries = [candidate.library] + companions + host.libraries.members
  // What cannot be read may have them.
  guard host.problems.isEmpty, !libraries.contains(where: \.hidesSwift) else { return [] }
  return try candidate.library.records.get().compactMap { record in
    guard let type = record.neededType,
      !libraries.contains(where: { $0.types.isIncomplete || $0.types.has(type) })
    else { return nil }
    return
      "\(record.kind) \(record.name) needs the Swift type \(type), which neither it nor the host has"
  }
}

/// Why the contracts that a plugin was built against are not those of the host and of what the plugin brings along.
func judgeContracts(
  of candidate: AdmissionCandidate, for host: AdmissionHost, with companions: [Library],
  _ policy: PluginPolicy
) throws(ImageError) -> (refusals: [PluginRefusal], remarks: [String]) {
  let image = candidate.library.image
  let records = policy.tables.isEmpty ? [] : try candidate.library.records.get()
  var drifts = ContractDrift.all(of: records, in: image, asked: policy.tables)
    .map { ($0, "the host") }
  // A note finds its entries all the same; nothing finds its conformances.
  let isSeen = image.hasSectionTable
  let plugin = isSeen ? try ContractExpectations(of: image) : ContractExpectations()
  let symbols = Set(plugin.conformances.map(\.symbol)).map { BoundSymbol(name: $0) }
  for library in host.libraries.members + companions where library.linkage.hasSwiftSections {
    // Of the runtime's own protocols there is one version in a process, which symbols tell.
    let isAsked = try library.defines(anyOf: symbols)
    guard !library.path.fileName.hasPrefix("libswift"), isAsked || !plugin.ownProtocols.isEmpty
    else { continue }
    drifts += ContractDrift.all(of: plugin, against: try library.contracts.get())
      .map { ($0, library.path.fileName) }
  }
  // What is loaded counts, and not what took the name of its file since.
  for (name, ranges) in host.replaced {
    let library = ContractLibrary(loadedAs: name, at: ranges, for: plugin)
    drifts += ContractDrift.all(of: plugin, against: library)
      .map { ($0, "\(name.fileName) in memory") }
  }
  var found = sortedDrifts(drifts, policy)
  if candidate.library.hidesSwift {
    let message =
      "it has no section headers, so the contracts that it was built against are not known"
    if policy.unseenContracts == .refuse {
      found.refusals.append(
        PluginRefusal(
          .contractUnseen, "\(message.capitalizedFirst).",
          remedy: "Take the file as it was before its section headers were stripped."))
    } else {
      found.remarks.append(message)
    }
  }
  return found
}

/// What is refused, and what is only told.
private func sortedDrifts(
  _ drifts: [(ContractDrift, String)], _ policy: PluginPolicy
) -> (refusals: [PluginRefusal], remarks: [String]) {
  var (refusals, remarks): ([PluginRefusal], [String]) = ([], [])
  for (drift, library) in drifts {
    guard let message = drift.message(against: library) else { continue }
    let sentence = message.capitalizedFirst
    switch drift.verdict {
    case .fits: break
    case .drifted(let expected, let found):
      let isType = if case .conformance = drift.subject { true } else { false }
      refusals.append(
        PluginRefusal(
          .contractDrift,
          "\(isType ? "Its type \(message)" : sentence). Calls would reach the wrong functions.",
          expected: expected, found: found,
          remedy: drift.remedy.capitalizedFirst + "."))
    case .notVisible where policy.unseenContracts == .refuse:
      refusals.append(
        PluginRefusal(
          .contractUnseen, "\(sentence).", remedy: drift.remedy.capitalizedFirst + "."))
    case .notVisible: remarks.append(message)
    }
  }
  return (refusals, remarks)
}

extension ImageIdentity {
  /// `aarch64`; with what is unusual of it.
  var machineTitle: String {
    let isUsual = bits == 64 && byteOrder == .little
    return isUsual ? machine : "\(machine) (\(bits) bits, \(byteOrder.rawValue) endian)"
  }
}

extension LibrarySet.Missing {
  /// What is missing, in a sentence about who needs it.
  func message(of title: String) -> String {
    if isUnfound {
      return
        "\(title) needs the library \(name), which is not looked for any more: the libraries that it needs were "
        + "looked for in \(LibrarySearch.Lookups.most) places."
    }
    if let obstacle {
      return
        "\(title) needs the library \(name), and the first of that name cannot be read: \(obstacle)"
    }
    let start = "\(title) needs the library \(name), which is nowhere where the loader looks"
    return passed.map { "\(start), for it passes over \($0)" } ?? "\(start)."
  }

  fileprivate func refusal(of title: String) -> PluginRefusal {
    let remedy =
      if isUnfound {
        "Link it anew with a shorter search path: one folder is enough."
      } else if obstacle != nil {
        "Remove that file, or put the library in its place."
      } else if passed != nil {
        "Put a library in its place that the host can load."
      } else {
        "Install it, or put it beside the plugin and link that with -Wl,-rpath,'$ORIGIN'."
      }
    return PluginRefusal(
      .missingLibrary, message(of: title), expected: name,
      found: (obstacle ?? passed)?.image ?? "no such file", remedy: remedy)
  }
}

extension Library {
  /// Whether a symbol was linked from this library when its symbols had versions, and they have none.
  fileprivate func lacksVersions(of wanted: BoundSymbol) throws(ImageError) -> Bool {
    guard let library = wanted.library, try !bindings.get().hasVersions else { return false }
    return library == linkage.name || library == path.fileName
  }
}

extension Library {
  fileprivate func defines(anyOf symbols: [BoundSymbol]) throws(ImageError) -> Bool {
    for symbol in symbols where try bindings.get().define(symbol) { return true }
    return false
  }
}
