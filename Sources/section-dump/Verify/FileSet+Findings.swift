internal import BinaryImage
internal import Registration
internal import SwiftContracts

extension FileSet {
  /// The conflicts among the entries of each platform, in the order of the files.
  var contradictions: [Contradictions] {
    declared.groups(by: \.platform).map { Contradictions(among: $0) }
  }

  /// Returns all findings on a file set whose types were read. `verify` lists them, and `graph` shows them.
  func findings(with contradictions: [Contradictions]) -> [Finding] {
    var all = findings + contradictions.flatMap(\.findings)
    var counts: [Place: Int] = [:]
    for finding in idleAttributes { all.add(finding, &counts) }
    for finding in typeFindings { all.add(finding, &counts) }
    return all + sharedTypes + contractFindings + neverLinked + doubleRuntimes
  }

  /// The images that a process may load, grouped by platform.
  var loadable: [[FileSetImage]] { images.filter(\.isLoadable).groups(by: \.platform) }

  /// The findings on attributes without effect: they are misspelled, or only other kinds of entries have them.
  var idleAttributes: some Sequence<Finding> {
    declared.lazy.flatMap { entry in
      let record = entry.record
      let near = record.attributes.nearMisses(of: record.kind).map { field, meant in
        Finding(
          .nearAttribute, .warning, entry.place,
          "\(record.title) has the attribute \(field), which no Hive knows; did you mean \(meant)?",
          remedy: .rename(to: meant))
      }
      return near
        + record.attributes.idle(of: record.kind).map { field, owner in
          Finding(
            .idleAttribute, .warning, entry.place,
            "\(record.title) has the attribute \(field), which only a \(owner) uses",
            remedy: .give(to: owner))
        }
    }
  }

  /// The findings on entries whose Swift types no file has, or whose types cannot serve.
  ///
  /// An entry with an accessor or a C structure brings what it needs. A host may still bind the name in code, so these
  /// findings are warnings.
  var typeFindings: some Sequence<Finding> {
    var known: [ImageIdentity: KnownTypes] = [:]
    for image in images { known[image.platform, default: KnownTypes()].add(image) }
    return declared.lazy.flatMap { known[$0.platform, default: KnownTypes()].findings(on: $0) }
  }

  /// The findings on archive members whose entries are in no linked file, if the set has linked files.
  ///
  /// A linker takes only members that something refers to, and nothing refers to entries.
  var neverLinked: [Finding] {
    let executables = Dictionary(
      grouping: images.filter { $0.kind == .executable && $0.isRead }, by: \.platform)
    let linked = Dictionary(grouping: images.filter(\.isLoadable), by: \.platform)
      .mapValues { Set($0.flatMap { $0.records.map(\.contents) }) }
    return images.compactMap { image in
      // Slices are named after their machines.
      guard image.kind == .object,
        let member = image.place.container.last, member != image.platform.machine,
        !image.records.isEmpty, self.linked.contains(image.platform),
        !image.records.contains(where: {
          linked[image.platform]?.contains($0.contents) == true
        })
      else { return nil }
      let count = image.records.count
      let entries = count == 1 ? "its entry is" : "none of its \(count) entries is"
      // Without an executable in the set, another executable may have the entries.
      let others = executables[image.platform]
      let all =
        others.map { $0.count == 1 ? $0[0].place.file : "any of the \($0.count) executables" }
        ?? "any library"
      return Finding(
        .neverLinked, others == nil ? .warning : .error, image.place,
        "the member was never linked: \(entries) \(count == 1 ? "not " : "")in \(all)",
        remedy: .linkWhole(in: image.platform.format))
    }
  }

  /// Returns a finding for each entry that `--require` names and no file registers.
  func missing(_ requirements: [(kind: RecordKind, name: String)]) -> [Finding] {
    requirements.compactMap { kind, name in
      let others = declared.filter { $0.record.kind == kind }
      let found = others.filter { $0.record.name == name }
      // Before anything is linked, there are only objects.
      if found.contains(where: { linked.isEmpty || $0.file != .object }) { return nil }
      let code = Finding.Code(rawValue: "missing-\(kind)") ?? .missingService
      guard let object = found.first else {
        let other = declared.first { $0.record.name == name }
        let more = other.map { "; a \($0.record.kind) of that name is in \($0.place.file)" }
        return Finding(
          code, .error, .allFiles,
          "no file has the required \(kind) \(name)"
            + (more ?? near(name, in: Set(others.map(\.record.name)))), remedy: .addFile)
      }
      return Finding(
        code, .error, object.place,
        "the required \(kind) \(name) is in this object, but in no linked file",
        remedy: .linkObject)
    }
  }

  /// Returns findings on libraries that should have entries and have none, and on sets without any file.
  ///
  /// With `areRequired`, every named library should have entries, and some file must. Reading no file at all is always
  /// a finding: a gate over nothing lets everything pass.
  func withoutEntries(areRequired: Bool) -> [Finding] {
    let findings = images.compactMap { Self.finding(on: $0, isRequired: areRequired) }
    let isNothing = read == 0 && problems.isEmpty
    guard findings.isEmpty, declared.isEmpty, areRequired || isNothing else {
      return findings
    }
    return [
      Finding(
        .withoutEntries, areRequired ? .error : .warning, .allFiles,
        isNothing ? "no object file is among them" : "no file has an entry",
        remedy: .nameFiles)
    ]
  }

  private static func finding(on image: FileSetImage, isRequired: Bool) -> Finding? {
    guard image.isBare else { return nil }
    let isNamedLibrary = image.isNamed && image.isLoadable && image.kind != .executable
    let why: String
    if image.isAnnotated {
      why = ": annotations were linked into it, and a linker has dropped the entries"
    } else if isNamedLibrary, let hive = image.hive {
      why = ", though it needs \(hive)"
    } else if isNamedLibrary, isRequired {
      why = ""
    } else {
      return nil
    }
    return Finding(
      .withoutEntries,
      isRequired ? .error : image.isAnnotated ? .warning : .remark, image.place,
      "it has no entries\(why)",
      remedy: .linkEntries)
  }

  /// Returns the entry section that a name resembles despite other words or signs in it: `Beehive_Modules`.
  private static func meant(by name: String) -> String? {
    let letters = name.lowercased().filter(\.isLetter)
    guard letters.hasPrefix("beehive"), letters.utf8.count >= 10 else { return nil }
    return SectionNote.names.first { meant in
      meant.lowercased().utf8.dropFirst(7).starts(with: letters.utf8.dropFirst(7).prefix(3))
    }
  }

  /// Finds sections whose names resemble those of entry sections. They differ in case and at most one letter, or begin
  /// alike. Their authors meant entry sections, but no reader knows these.
  static func lookAlikes(in image: any FileImage, at place: Place) throws(ImageError) -> [Finding] {
    var seen: Set<String> = []
    return try image.allSections().filter { $0.size > 0 }.map(\.name).compactMap { name in
      // Most names are shorter or longer, so they cost no more than this check.
      guard (10...24).contains(name.utf8.count), !SectionNote.names.contains(name),
        let meant = nearest(to: name, in: SectionNote.names, atMost: 1).first
          ?? Self.meant(by: name), seen.insert(name).inserted
      else { return nil }
      return Finding(
        .lookAlikeSection, .error, place.at(section: name),
        "the section \(name) is not read; entries are in \(meant)",
        remedy: .renameSection(to: meant))
    }
  }
}

extension FileSet {
  /// The findings on files that were built against other contracts than a library of the set has.
  var contractFindings: [Finding] {
    loadable.flatMap { images in
      let libraries = images.filter { !$0.contracts.contracts.isEmpty }
      return images.flatMap { plugin in
        libraries.filter { $0.place != plugin.place }.flatMap(plugin.drift)
      }
    }
  }
}

extension FileSetImage {
  /// Returns findings on expected contracts that differ from a library's, or that cannot be compared with them.
  fileprivate func drift(from library: FileSetImage) -> [Finding] {
    // Protocols that are there twice have findings of their own.
    let drifts = ContractDrift.all(of: expectations, against: library.contracts)
      .filter { $0.subject != .ownCopy }
    func finding(
      _ code: Finding.Code, _ level: Finding.Level, _ drift: ContractDrift, _ more: String = ""
    ) -> Finding {
      Finding(
        code, level, place, drift.message(against: library.place.file) + more,
        remedy: drift.remedy, others: [library.place])
    }
    let seen = drifts.filter { $0.expected != nil }.map { finding(.contractDrift, .error, $0) }
    let unseen = drifts.filter { $0.expected == nil }
    guard let first = unseen.first else { return seen }
    let others = unseen.count > 1 ? "; the same holds for \(unseen.count - 1) more" : ""
    return seen + [finding(.contractNotVisible, .remark, first, others)]
  }
}

extension Record {
  /// The entry without its location and encoding.
  fileprivate var contents: Record {
    Record(
      kind: kind, name: name, implementation: implementation, attributes: attributes,
      encoding: .inline,
      origin: Origin(image: "", section: "", index: 0, address: VirtualAddress(rawValue: 0)))
  }
}

extension FileSet {
  /// The findings on files that would bring two runtimes into one process.
  var doubleRuntimes: [Finding] {
    loadable.flatMap { images in
      let libraries = images.filter { $0.kind != .executable }
      let executables = images.filter { $0.kind == .executable }
      // Libraries that need another Hive library than an executable or an earlier library does.
      let hives = libraries.enumerated().compactMap { index, library -> Finding? in
        let others = executables + libraries[..<index]
        guard let own = library.hive,
          let other = others.first(where: { $0.hive ?? own != own }), let needed = other.hive
        else { return nil }
        return Finding(
          code: ImageError.Code.secondRuntime.rawValue, level: .warning, place: library.place,
          message: "it needs \(own), and \(other.place.file) needs \(needed): two runtimes, and "
            + "neither has the entries of the other",
          remedy: .shareRuntime, others: [other.place])
      }
      guard let library = libraries.first(where: \.needsSwift) else { return hives }
      return hives
        + executables.filter(\.holdsSwift).map { executable in
          Finding(
            .staticSwiftRuntime, .error, executable.place,
            "Swift's runtime is linked into it, and \(library.place.file) needs libswiftCore.so: a process "
              + "with both may crash",
            remedy: .shareSwift, others: [library.place])
        }
    }
  }
}
