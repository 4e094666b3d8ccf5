internal import LibC

/// Whether a policy's lists admit a file of this name.
enum ListCheck {
  static func refusal(of candidate: AdmissionCandidate, _ policy: PluginPolicy) -> PluginRefusal? {
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
    return nil
  }
}

extension String {
  /// Whether a shell's pattern matches it.
  package func isMatched(by pattern: String) -> Bool { unsafe fnmatch(pattern, self, 0) == 0 }
}
