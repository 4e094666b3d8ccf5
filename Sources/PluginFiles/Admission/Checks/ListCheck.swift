internal import BinaryImage
internal import LibC

/// Whether a policy's lists admit a file: by name, and by digest or build-id.
enum ListCheck {
  /// Larger than any plugin: a file that is mostly holes would be read for hours.
  private static let largestDigested: UInt64 = 1 << 30

  static func refusal(
    of candidate: AdmissionCandidate, _ policy: PluginPolicy
  ) throws(ImageError) -> PluginRefusal? {
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
    guard !policy.pinned.isEmpty else { return nil }
    let id = candidate.manifest.identity.id.hexadecimal
    let pinned = Set(policy.pinned.map { $0.lowercased() })
    guard id.isEmpty || !pinned.contains(id) else { return nil }
    let file = candidate.library.file
    guard file.size <= largestDigested else {
      throw file.error(.unsupported, "It has \(file.size) bytes, which is too large for a digest.")
    }
    let digest = try SHA256.digest(of: file).hexadecimal
    guard !pinned.contains(digest) else { return nil }
    return PluginRefusal(
      .notPinned,
      "The policy lists \(pinned.count == 1 ? "one digest or build-id" : "\(pinned.count) digests or build-ids"), "
        + "and the file has \(pinned.count == 1 ? "another" : "none of them"): its SHA-256 is \(digest).",
      expected: "one of the list", found: digest,
      remedy: "Restore the file that was listed; if this one is meant, list its digest.")
  }
}

extension String {
  /// Whether a shell's pattern matches it.
  package func isMatched(by pattern: String) -> Bool { unsafe fnmatch(pattern, self, 0) == 0 }
}
