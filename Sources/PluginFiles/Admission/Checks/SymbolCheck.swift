internal import BinaryImage

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
