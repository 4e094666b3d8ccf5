internal import BinaryImage
internal import LibC

/// Whether a policy's lists admit a file: by name, and by digest or build-id.
enum ListCheck {
  static func refusals(
    of candidate: AdmissionCandidate, _ policy: PluginPolicy
  ) throws(ImageError) -> [PluginRefusal] {
    let name = candidate.name
    if let pattern = policy.denied.first(where: { name.isMatched(by: $0) }) {
      return [
        PluginRefusal(
          .denied, "The policy denies \(pattern).", expected: "no \(pattern)", found: name,
          remedy: "Take the name off the list of what is denied, or the file out of the folder.")
      ]
    }
    if !policy.allowed.isEmpty, !policy.allowed.contains(where: { name.isMatched(by: $0) }) {
      return [
        PluginRefusal(
          .notAllowed,
          "The policy allows \(policy.allowed.joined(separator: ", ")) and nothing else.",
          expected: policy.allowed.joined(separator: ", "), found: name,
          remedy: "Add the name to the list of what is allowed, or take the file out of the folder."
        )
      ]
    }
    guard !policy.pinned.isEmpty else { return [] }
    let digest = try SHA256.digest(of: candidate.library.file).hexadecimal
    let id = candidate.manifest.identity.id.hexadecimal
    let pinned = Set(policy.pinned.map { $0.lowercased() })
    guard !pinned.contains(digest), id.isEmpty || !pinned.contains(id) else { return [] }
    return [
      PluginRefusal(
        .notPinned,
        "The policy lists \(pinned.count == 1 ? "one digest or build-id" : "\(pinned.count) digests or build-ids"), "
          + "and the file has none of them: its SHA-256 is \(digest).",
        expected: "one of the list", found: digest,
        remedy: "Restore the file that was listed; if this one is meant, list its digest.")
    ]
  }
}

extension String {
  /// Whether a shell's pattern matches it.
  fileprivate func isMatched(by pattern: String) -> Bool { unsafe fnmatch(pattern, self, 0) == 0 }
}
