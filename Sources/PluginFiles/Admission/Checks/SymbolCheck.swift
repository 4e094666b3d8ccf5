internal import BinaryImage

/// Whether the loader would find every library and symbol that a file needs, as `ldd -r` tells by running it.
struct SymbolCheck {
  /// What the plugin brings along: libraries that the host does not have.
  let companions: [Library]
  let refusals: [PluginRefusal]

  init(of candidate: AdmissionCandidate, for host: AdmissionHost) throws(ImageError) {
    var libraries = host.libraries
    let start = libraries.members.count
    let missingBefore = libraries.missing.count
    libraries.add(candidate.library)
    libraries.addNeeded(from: start, host.search)
    companions = Array(libraries.members[(start + 1)...])
    var refusals: [PluginRefusal] = []
    let missing = libraries.missing[missingBefore...]
    for (name, requester, obstacle) in missing {
      let who = requester === candidate.library ? "It" : requester.path.fileName
      refusals.append(
        PluginRefusal(
          .missingLibrary,
          "\(who) needs the library \(name), "
            + (obstacle.map { "and the loader stops at \($0)" }
              ?? "which is nowhere where the loader looks."),
          expected: name, found: obstacle?.image ?? "no such file",
          remedy: obstacle == nil
            ? "Install it, or put it beside the plugin and link that with -Wl,-rpath,'$ORIGIN'."
            : "Remove that file, or put the library in its place."))
    }
    // What is in a library that is missing or cannot be read is not known to be undefined.
    if missing.isEmpty, host.problems.isEmpty {
      for library in libraries.members[start...] {
        let undefined = try Self.undefined(in: library, among: libraries)
        guard !undefined.isEmpty else { continue }
        let names = undefined.map(\.title)
        let who = library === candidate.library ? "It" : library.path.fileName
        refusals.append(
          PluginRefusal(
            .undefinedSymbol,
            "\(who) needs \(names.count == 1 ? "the symbol" : "the symbols") \(names.shown(most: 3)), which neither "
              + "the host nor a library that comes along defines.",
            expected: names.joined(separator: ", "), found: "no definition",
            remedy:
              "Link it with the library that defines \(names.count == 1 ? "it" : "them"), or build it against the host's version."
          )
        )
      }
    }
    self.refusals = refusals
  }

  private static func undefined(
    in library: Library, among libraries: LibrarySet
  ) throws(ImageError) -> [BoundSymbol] {
    var undefined: [BoundSymbol] = []
    for wanted in try library.bindings.get().wanted() where !wanted.isWeak {
      if try !libraries.define(wanted) { undefined.append(wanted) }
    }
    return undefined
  }
}
