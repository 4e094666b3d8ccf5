internal import BinaryImage
internal import PluginFiles
internal import Registration

extension EntryTrace.Stage {
  /// Finds the stage that loses a finding's entry; nil if the finding loses no entry.
  init?(of finding: Finding) {
    guard let code = Finding.Code(rawValue: finding.code) else {
      self = .rules
      return
    }
    switch code {
    case .duplicateModule, .duplicateService, .duplicateTarget, .duplicateRoute: self = .duplicates
    case .missingImplementation, .missingProtocol, .doesNotConform, .noInitializer, .contractDrift,
      .duplicateProtocol:
      self = .binding
    case .unmetRequirement, .scopedNeed: self = .requirements
    case .cycle: self = .start
    default: return nil
    }
  }

  /// Finds the stage of a host's refusal of a plugin.
  init(of refusal: PluginRefusal) {
    switch PluginRefusal.Code(rawValue: refusal.code) {
    case .superseded, .otherVersion, .shadowed, .switchedOff: self = .folder
    case .wrongMachine, .wrongABI, .notLoadable, .tooLarge, .missingLibrary, .undefinedSymbol:
      self = .loader
    case .rejectedEntry: self = .rules
    case .unmetRequirement: self = .requirements
    case .cycle: self = .start
    default: self = .admission
    }
  }
}

extension EntryTrace.Way {
  /// Marks the entry as lost because of a finding, at another location if the same is true there.
  fileprivate mutating func lose(
    _ stage: EntryTrace.Stage, to finding: Finding, at other: Place? = nil
  ) {
    let place = other ?? finding.place
    if place.isFile { file = place.path }
    add(
      stage, .lost, (place.isFile ? "\(place): " : "") + finding.message, code: finding.code,
      remedy: finding.remedy)
  }

  fileprivate mutating func lose(_ stage: EntryTrace.Stage, to refusal: PluginRefusal) {
    add(stage, .lost, refusal.message, code: refusal.code, remedy: refusal.advice)
  }
}

extension FileSet {
  /// A host and its verdict on files.
  typealias Verdict = (host: AdmissionHost, report: AdmissionReport)

  /// Follows an entry through the files. A host may have judged them.
  ///
  /// - Parameters:
  ///   - kind: The kind of the entry.
  ///   - name: Its name.
  ///   - verdict: The host, and its verdict.
  ///   - programs: The entries of other programs, which no host loads.
  ///   - folders: The directories that were named.
  /// - Returns: A way for each linked file with the entry. If there is none, the only way, up to linking.
  func trace(
    of kind: RecordKind, _ name: String, _ verdict: Verdict?, programs: [Declared] = [],
    in folders: [String] = []
  ) -> EntryTrace {
    let title = "\(kind) \(name)"
    let all = findings(with: contradictions)
    let found = declared(kind, name)
    let objects = found.filter { $0.file == .object }
    let copies = all.filter { finding in
      let original = finding.isCopy ? finding.others.first?.file : nil
      return objects.contains { $0.place.file == original }
    }
    let files =
      objects.map { ($0.place, $0.isMember) }
      + copies.map { ($0.place, !$0.place.container.isEmpty) }
    var start = EntryTrace.Way()
    for (stage, isMember) in [(EntryTrace.Stage.object, false), (.archive, true)] {
      let places = files.filter { $0.1 == isMember }.map(\.0)
      let more = places.count > 1 ? " and \(places.count - 1) more" : ""
      start.add(
        stage, places.isEmpty ? .unseen : .here,
        places.first.map { $0.description + more } ?? "no given file has it")
    }
    let linked = found.filter { $0.file != .object }
    let others = programs.filter { $0.record.kind == kind && $0.record.name == name }
      .map { $0.wayOfProgram(from: start) }
    if linked.isEmpty, others.isEmpty {
      return EntryTrace(of: title, [wayToLink(from: start, kind, name, found, all)])
    }
    let twins = all.filter(\.isCopy).flatMap { copy in
      linked.filter { $0.place.file == copy.others.first?.file }.map { entry in
        let place = copy.place.at(section: entry.place.section, index: entry.place.index)
        return way(of: entry, at: place, from: start, all, verdict, copy, in: folders)
      }
    }
    let ways = linked.map { way(of: $0, at: $0.place, from: start, all, verdict, in: folders) }
    return EntryTrace(of: title, ways + twins + others)
  }

  /// Returns the entries of a kind and a name in all files.
  func declared(_ kind: RecordKind, _ name: String) -> [Declared] {
    declared.filter { $0.record.kind == kind && $0.record.name == name }
  }

  /// Returns the way of an entry that no linked file has.
  private func wayToLink(
    from start: EntryTrace.Way, _ kind: RecordKind, _ name: String, _ found: [Declared],
    _ all: [Finding]
  ) -> EntryTrace.Way {
    var way = start
    let causes = lostInLink(kind, name, found, all)
    if let cause = causes.first, found.isEmpty, cause.code.hasPrefix("missing-") {
      way = EntryTrace.Way()
      way.add(.object, .lost, cause.message, code: cause.code, remedy: cause.remedy)
    } else if let cause = causes.first {
      way.lose(cause.entry == nil ? .linked : .rules, to: cause)
    } else {
      way.add(.linked, .unseen, "no linked file is given")
    }
    return way
  }

  /// Returns the findings that explain why no linked file has an entry, the likeliest first.
  private func lostInLink(
    _ kind: RecordKind, _ name: String, _ found: [Declared], _ all: [Finding]
  ) -> [Finding] {
    let bare = withoutEntries(areRequired: false).filter { $0.place.isFile }
    let hidden = all.filter { $0.code == Finding.Code.lookAlikeSection.rawValue }
    if found.isEmpty {
      // A damaged file may have had the entry.
      let refused = all.filter { $0.entry == "\(kind) \(name)" }
      let unread = all.filter { $0.problem != nil && ($0.entry ?? "\(kind) ") == "\(kind) " }
      return refused + hidden + bare + unread + missing([(kind, name)])
    }
    guard !linked.isEmpty else { return [] }
    let files = Set(found.map(\.place.file))
    let dropped = all.filter { finding in
      [.neverLinked, .notRetained].contains(Finding.Code(rawValue: finding.code))
        && files.contains(finding.place.file)
    }
    return hidden + dropped + bare + missing([(kind, name)])
  }

  /// Returns the way of an entry in a linked file, or in a copy of that file.
  private func way(
    of entry: Declared, at place: Place, from start: EntryTrace.Way, _ all: [Finding],
    _ verdict: Verdict?, _ copy: Finding? = nil, in folders: [String]
  ) -> EntryTrace.Way {
    var way = start
    let report = verdict?.report
    let plugin = report?.plugins.first { $0.paths.contains(place.path) }
    let isHost = place.path.resolved == report?.host.resolved
    way.add(.linked, .here, place.description)
    way.file = place.path
    let own = all.filter { finding in
      // The host may have modules that no file declares.
      if plugin != nil, finding.code == Finding.Code.unmetRequirement.rawValue { return false }
      let isCyclic =
        finding.code == Finding.Code.cycle.rawValue && finding.others.contains(entry.place)
      let drifts = finding.code == Finding.Code.contractDrift.rawValue
      return finding.level != .remark
        && (finding.place == entry.place || isCyclic
          || drifts && finding.place.file == entry.place.file)
    }
    /// Returns the rest of the sentence for a stage that does not lose the entry.
    func more(of stage: EntryTrace.Stage) -> String {
      if stage == .duplicates,
        all.contains(where: { $0.others.first?.file == place.file && $0.isCopy })
      {
        return " but those of its copies"
      }
      if stage == .folder {
        let outer = folders.first {
          "\(place.path.folder)/".hasPrefix("\($0)/") && $0 != place.path.folder
        }
        return " in \(place.path.folder)"
          + (outer.map { ", which a host of \($0) does not look into" } ?? "")
      }
      let others = own.filter { stage == .rules && EntryTrace.Stage(of: $0) == nil }
      return others.map { ", but \($0.message)" }.joined()
    }
    /// Returns whether the host loads a file. False without a host: then a file and its copies count once.
    func isLoaded(_ place: Place) -> Bool {
      report?.plugins.contains { $0.loads && $0.paths.contains(place.path) } ?? false
    }
    for stage in EntryTrace.Stage.allCases.drop(while: { $0 != .folder }) {
      let finding = own.first { EntryTrace.Stage(of: $0) == stage }
      let refusal = plugin?.refusals.first { EntryTrace.Stage(of: $0) == stage }
      let isHidden = place.path.fileName.utf8.first == UInt8(ascii: ".")
      if stage == .folder, report != nil, plugin == nil, isHidden {
        way.add(
          stage, .lost, "it is hidden, and no host looks at hidden files in a folder",
          remedy: .unhide)
      } else if let finding {
        way.lose(stage, to: finding, at: finding.place == entry.place ? place : nil)
      } else if stage == .duplicates, let copy, isLoaded(copy.others[0]), isLoaded(place) {
        way.lose(stage, to: copy)
      } else if let refusal {
        way.lose(stage, to: refusal)
      } else if stage == .process, let lack = verdict?.host.lackOfHive {
        way.add(stage, .unseen, lack)
      } else if stage == .process || stage == .start {
        way.add(stage, .unseen, "ask a process: section-dump live --pid N, or hive.why()")
      } else if ![.folder, .admission, .loader].contains(stage) || plugin != nil {
        way.add(stage, .here, stage.praise + more(of: stage))
      } else if isHost {
        way.add(stage, .here, "it is in the host itself")
      } else {
        way.add(stage, .unseen, report == nil ? "--host EXECUTABLE shows it" : "it is no plugin")
      }
    }
    return way
  }
}

extension FileSet.Declared {
  /// The way of an entry of a program, which no host loads.
  fileprivate func wayOfProgram(from start: EntryTrace.Way) -> EntryTrace.Way {
    var way = start
    way.add(.linked, .here, place.description)
    way.file = place.path
    let file = Result { () throws(ImageError) in
      try PluginManifest(of: OpenedFile(path: place.path))
    }
    if case .failure(let error) = file {
      way.add(.loader, .lost, error.message, code: error.code.rawValue, remedy: error.remedy)
    }
    return way
  }

  /// Whether it is in an archive. Slices are named after their machines.
  fileprivate var isMember: Bool { place.container.last.map { $0 != platform.machine } ?? false }
}
