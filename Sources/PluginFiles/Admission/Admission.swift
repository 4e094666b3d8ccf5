internal import BinaryImage
internal import Registration

/// The judgement of files that a host may load: of each file by itself, then of all together.
package struct Admission {
  /// A check of an open file in addition to all others. It throws the reason to refuse the file.
  package typealias Verification = (_ descriptor: Int32, _ path: String) throws -> Void

  /// Returns the reason that the host has against a plugin at these paths, before any check; nil if it has none.
  package typealias Refusal = (_ plugin: PluginManifest, _ paths: [String]) -> PluginRefusal?

  /// The facts about a file that was read, and is closed by now. Checks add what they find.
  struct Judged {
    let path: String
    /// The process that is to load it, and the policy of that process.
    let host: AdmissionHost
    let policy: PluginPolicy
    /// Further paths of the file, in the folders that were searched.
    let otherPaths: [String]
    /// All its paths, first the one that is judged.
    var paths: [String] { [path] + otherPaths }
    /// The patterns of the policy's lists that match a name, of the plugin or of a library that it brings along.
    var matched: Set<String> = []
    /// Nil if it cannot be read.
    var manifest: PluginManifest?
    var refusals: [PluginRefusal] = []
    var remarks: [String] = []
    /// The parts of it that stay when it is unloaded.
    var remains: [String] = []
    /// The bytes of static thread storage that its libraries want.
    var threadBytes: [FileStamp.FileNumber: UInt64] = [:]
    /// The files that the loader maps with it; nil if the machine is another, or all plugins are switched off.
    var closure: LoadClosure?
    /// The entries of libraries that come along.
    var brings: [(library: FileStamp.FileNumber, records: [Record])] = []
    /// The files that it alone brings along, by each of their names.
    var brought: [(name: LoadClosure.Name, member: LoadClosure.Member)] {
      closure.map { $0.brought.flatMap { member in member.names.map { ($0, member) } } } ?? []
    }
    /// Whether it was judged with the others already, and a lower version of it was tried afterwards.
    var isSettled = false
    /// The identity; nil if the file states none.
    var identity: PluginIdentity? { manifest?.plugin }
    /// Whether the process has its entries.
    var isRunning: Bool {
      host.plugins.contains { $0.runs && $0.stamp.number == manifest?.stamp.number }
    }
    /// Its well-formed entries, and the others.
    var records: [Record] { manifest?.records ?? [] }
    var rejections: [Rejection] { manifest?.rejections ?? [] }

    mutating func refuse(
      _ code: PluginRefusal.Code, _ message: String, expected: String? = nil, found: String? = nil,
      remedy: Remedy, cause: String? = nil
    ) {
      refusals.append(
        PluginRefusal(
          code, message, expected: expected, found: found, remedy: remedy, cause: cause))
    }

    /// Refuses with a message that has no capital letter and no full stop yet.
    mutating func refuse(
      _ code: PluginRefusal.Code, saying message: String, expected: String? = nil,
      found: String? = nil, remedy: Remedy
    ) {
      let end = message.last.map { "?.!".contains($0) } == true ? "" : "."
      refuse(code, message.capitalizedFirst + end, expected: expected, found: found, remedy: remedy)
    }

    /// Refuses the file because an entry would be rejected, or notes a remark if the policy admits that.
    mutating func tell(_ message: String, remedy: Remedy? = nil) {
      if policy.admitsRejectedEntries {
        remarks.append(message + (remedy.map { "; \($0)" } ?? ""))
      } else {
        refuse(.rejectedEntry, saying: message, remedy: remedy ?? .correctEntry)
      }
    }
  }

  private let host: AdmissionHost
  private let policy: PluginPolicy
  private let verification: Verification?
  private let refusal: Refusal
  /// The number of files that may stay open; one closure may exceed it.
  private var keptFiles: Int
  private var judged: [Judged] = []

  /// Prepares to judge files.
  ///
  /// - Parameters:
  ///   - host: The process that they are to be loaded into.
  ///   - policy: The conditions for them.
  ///   - verification: Called with the plugin's files in the loader's order, if nothing else refuses the plugin.
  ///   - refusal: Called for each file, and for each plugin that comes along.
  ///   - keptFiles: The number of files that may stay open for loading the plugins.
  package init(
    to host: AdmissionHost, under policy: PluginPolicy, verification: Verification? = nil,
    refusal: @escaping Refusal = { _, _ in nil }, keptFiles: Int = 0
  ) {
    (self.host, self.policy, self.verification) = (host, policy, verification)
    (self.refusal, self.keptFiles) = (refusal, keptFiles)
  }

  /// Judges a file of a catalogue. Of several files of one name, in different folders, the first admitted one counts.
  ///
  /// - Parameter candidate: The file.
  /// - Returns: Whether it is a plugin, or is named like one; a folder may hold everything else.
  @discardableResult
  package mutating func add(_ candidate: PluginCatalogue.Candidate) -> Bool {
    let paths = [candidate.path] + candidate.otherPaths
    var first: Judged?
    // Another path may lead through safer folders. Of many paths, the first are tried.
    for path in paths.prefix(8) {
      let others = paths.filter { !$0.utf8.elementsEqual(path.utf8) }
      var new = Judged(path: path, host: host, policy: policy, otherPaths: others)
      do throws(ImageError) {
        _ = try candidate.found.get()
        // Looked at after it was opened, which never blocks: every check reads this descriptor.
        let file = try OpenedFile(path: path, wasMapped: true)
        let manifest = try PluginManifest(of: file)
        let library = try Library(of: file)
        new.manifest = manifest
        // Another file than the one that was found has another stamp, and perhaps another state.
        if candidate.stamp?.isSameFile(as: file.stamp) == false {
          new.refusals.append(.replaced("It"))
        } else {
          judge(library, refusal(manifest, paths), &new)
        }
      } catch {
        guard candidate.stamp != nil, error.code != .noEntries,
          error.code != .notAnObject || path.isLibraryName
        else { return false }
        new.refusals.append(PluginRefusal(error))
      }
      if new.refusals.isEmpty, let refused = first {
        new.remarks.append(
          "\(refused.path) leads to it too; that path is refused [\(refused.refusals[0].code)]")
        first = new
      }
      first = first ?? new
      if new.refusals.isEmpty { break }
    }
    judged += [first].compactMap { $0 }
    keptFiles -= first?.closure?.brought.count ?? 0
    return true
  }

  /// Judges a file by itself.
  private mutating func judge(_ library: Library, _ reason: PluginRefusal?, _ new: inout Judged) {
    if let reason = policy.switchedOff {
      new.refuse(
        .switchedOff, "Plugins are switched off: \(reason).", expected: "no plugin",
        remedy: .switchOnAll)
    } else if let reason {
      new.refusals.append(reason)
    } else {
      do throws(ImageError) {
        try check(library, &new)
        try library.file.checkUnchanged()
      } catch { new.refusals.append(PluginRefusal(error)) }
    }
  }

  /// Finds the faults of a file by itself. The faults that explain most come first.
  func check(_ own: Library, _ new: inout Judged) throws(ImageError) {
    new.checkLists(of: own)
    new.checkIdentity()
    let fits = new.checkMachine(of: own)
    if policy.checksOwners { new.refusals += ownerRefusals(of: own.file, as: "The file") }
    // A file for another machine brings other libraries, and defines other symbols.
    guard fits else { return }
    let libraries = host.libraries.loading(own, host.search)
    guard new.checkSize(of: libraries) else { return }
    let closure = LoadClosure(of: libraries)
    new.closure = keptFiles > 0 ? closure : closure.closed
    let companions = libraries.companions
    for library in companions {
      if library !== own {
        new.checkLists(of: library, neededAs: libraries.names(of: library))
        new.checkConventions(of: library)
        new.checkRuntime(of: library)
        if policy.checksOwners {
          new.refusals += ownerRefusals(of: library.file, as: library.title)
        }
      }
      new.checkSearchPaths(of: library)
      new.checkContents(of: library)
      // The host's libraries are not opened again.
      if library.isProgram || !libraries.hosts(library) { try new.checkOpening(of: library) }
      new.checkHardening(of: library)
      try new.checkStartup(of: library)
    }
    if policy.opensJudgedFiles { new.checkNames(in: libraries, closure) }
    new.remarks += libraries.rivals.map { "on some processors dlopen takes \($0)" }
    if policy.checksSearchPaths, policy.checksOwners, new.refusals.isEmpty {
      new.refusals += libraries.passedOver.compactMap(passedRefusal)
    }
    // The loader searches the folders of the program and of the environment for every file.
    if let program = host.libraries.members.first,
      companions.count > 1 || !libraries.missing.isEmpty
    {
      new.checkSearchPaths(of: program, called: "The host")
    }
    // Other contracts have other symbols: the cause comes first.
    if !new.refusals.contains(where: { $0.code == PluginRefusal.Code.ownRuntime.rawValue }) {
      try new.checkContracts(of: own, new.records, with: companions)
    }
    try new.checkSymbols(of: own, in: libraries)
    var (records, rejections) = (new.records, new.rejections.map { ("an entry", $0) })
    // Libraries of the system and of Swift's toolchain declare nothing, but other files may have the latter's names.
    for library in companions where library !== own && !library.isSystem {
      // Without section headers nothing finds entries, unless a note tells where they are.
      guard library.image.hasSectionTable || library.linkage.noteVersion != nil else { continue }
      let scan = try library.scan.get()
      if library.isOfToolchain, scan.records.isEmpty, scan.rejections.isEmpty { continue }
      let plugin = PluginIdentity(of: scan.records)
      if let plugin, let reason = host.switches.reason(against: plugin.id) {
        new.refuse(
          .switchedOff, "\(library.title) is \(plugin.title). \(reason.message)",
          expected: "no \(plugin.id)", found: plugin.title, remedy: reason.remedy)
      }
      let paths = [library.path, library.path.resolved] + libraries.names(of: library)
      new.checkVersion(of: plugin, at: paths, called: library.title)
      if !scan.records.isEmpty, let reason = refusal(try PluginManifest(of: library.file), paths) {
        new.refusals.append(reason)
      }
      new.checkToolkit(of: library, scan.rejections)
      try new.checkContracts(of: library, scan.records, with: companions)
      records += scan.records
      new.brings.append((library.file.stamp.number, scan.records))
      rejections += scan.rejections.map { ("an entry of \(library.path.fileName)", $0) }
    }
    new.checkTypes(of: records, with: companions)
    for (entry, rejection) in rejections {
      let message = "\(entry) will be rejected: \(rejection) [\(rejection.reason.rawValue)]"
      if rejection.kind == .plugin {
        // Nobody can switch off a plugin without an id, or ask for its version.
        new.refuse(.rejectedEntry, saying: message, remedy: rejection.reason.remedy)
      } else {
        new.tell(message)
      }
    }
    for library in companions where library !== own { try library.file.checkUnchanged() }
    if new.refusals.isEmpty { verify(closure, &new) }
    new.noteRemains(of: own)
  }

  /// Lets the host verify the plugin, and each file of its closure that the host does not have.
  private func verify(_ closure: LoadClosure, _ new: inout Judged) {
    guard let verification else { return }
    for member in closure.members where member.requester == nil || !member.isMapped {
      do {
        try verification(member.descriptor, member.path)
      } catch {
        let title = member.requester == nil ? "it" : "\(member.path), which it brings along"
        new.refuse(
          .signature, saying: "the host's own verification refuses \(title): \(error)",
          remedy: .sign)
      }
    }
  }

  /// Returns whether a pattern of the policy's lists matches a name of a plugin, or of a library that it brings along.
  package func matches(_ pattern: String) -> Bool {
    judged.contains { $0.matched.contains(pattern) }
  }

  /// Judges all files together. If the highest version of a plugin does not fit the others, tries the next one.
  package func report() -> AdmissionReport {
    // Chosen files that were refused together with the others: they hide nothing any more.
    var lost: [Int: Judged] = [:]
    while true {
      var files = judged
      for (file, verdict) in lost { files[file] = verdict }
      let chosen = files.chooseVersions()
      let shown = hideNamesakes(&files).union(chosen)
      files = judgedInOrder(files, JointAdmission(of: files, host.modules))
      var joint = JointAdmission(of: files, host.modules)
      for (file, verdict) in lost { joint.files[file] = verdict }
      let more = shown.filter { !joint.files[$0].refusals.isEmpty && lost[$0] == nil }
      guard !more.isEmpty else { return AdmissionReport(on: host, joint) }
      for file in more {
        lost[file] = joint.files[file]
        lost[file]?.isSettled = true
      }
    }
  }

  /// Refuses each sound file with the name of an earlier sound file. Notes earlier refused files of that name.
  ///
  /// - Returns: The files that hide others.
  private func hideNamesakes(_ files: inout [Judged]) -> Set<Int> {
    // By bytes: to a file system, texts that Swift takes for equal are two names.
    let namesakes = Dictionary(grouping: files.indices) { Array(files[$0].path.fileName.utf8) }
    var shown: Set<Int> = []
    for group in namesakes.values where group.count > 1 {
      let sound = group.filter { files[$0].refusals.isEmpty }
      let running = sound.first { files[$0].isRunning }
      guard let meant = running ?? sound.first else { continue }
      let first = files[meant].path
      let reason = running == nil ? "is in a folder that comes first" : "runs"
      for refused in group where refused < meant && !sound.contains(refused) {
        let code = files[refused].refusals[0].code
        files[meant].remarks.append(
          "\(files[refused].path) has the same name and comes first; it is refused [\(code)]")
      }
      for later in sound where later != meant {
        files[later].refuse(
          .shadowed, "\(first) has the same name, and \(reason).", found: first,
          remedy: .removeOne, cause: first)
        shown.insert(meant)
      }
    }
    return shown
  }

  /// Judges plugins again that get libraries of earlier plugins instead of their own: the loader goes by names.
  private func judgedInOrder(_ judged: [Judged], _ joint: JointAdmission) -> [Judged] {
    var files = judged
    var residents: [[UInt8]: (member: LoadClosure.Member, owner: String)] = [:]
    var refused: Set<Int> = []
    for file in joint.order where refused.isDisjoint(with: joint.needs[file]) {
      let brought = files[file].brought
      let instead = brought.compactMap { name, own -> String? in
        guard name.isNeeded, let (other, owner) = residents[Array(name.text.utf8)],
          !other.stamp.isSameFile(as: own.stamp)
        else { return nil }
        return
          "it gets the \(name.text) of \(owner), which loads before it: \(other.path) and not \(own.path)"
      }
      if !instead.isEmpty {
        files[file].remarks += instead
        judge(&files[file], instead, beside: residents.mapValues(\.member))
      }
      guard files[file].refusals.isEmpty else {
        refused.insert(file)
        continue
      }
      let path = files[file].path.fileName
      residents.merge(
        files[file].brought.map { (Array($0.name.text.utf8), ($0.member, path)) }
      ) { first, _ in first }
    }
    return files
  }

  /// Judges the symbols of a file that gets other libraries than its own.
  private func judge(
    _ file: inout Judged, _ instead: [String], beside others: [[UInt8]: LoadClosure.Member]
  ) {
    do throws(ImageError) {
      let own = try Library(of: OpenedFile(path: file.path, wasMapped: true))
      let libraries = host.libraries.loading(own, host.search, beside: others.mapValues(\.path))
      let start = file.refusals.count
      let closure = LoadClosure(of: libraries)
      // The files were opened again, and must be the files that were judged before.
      let known = Set((file.closure?.members ?? []).map(\.stamp) + others.values.map(\.stamp))
      guard closure.members.allSatisfy({ $0.isMapped || known.contains($0.stamp) }) else {
        return file.refusals.append(.replaced("It, or a library that comes along,"))
      }
      file.closure = keptFiles > 0 ? closure : closure.closed
      if file.checkSize(of: libraries) { try file.checkSymbols(of: own, in: libraries) }
      for index in file.refusals.indices[start...] {
        file.refusals[index].message += " For \(instead.joined(separator: "; "))."
        file.refusals[index].advice = .linkOneLibrary
      }
    } catch { file.refusals.append(PluginRefusal(error)) }
  }
}

extension PluginRefusal {
  /// Makes the refusal of a file that cannot be read.
  init(_ error: ImageError) {
    (code, message) = (error.code.rawValue, error.message)
    (expected, found, cause) = (nil, nil, nil)
    advice = error.remedy
  }
}
