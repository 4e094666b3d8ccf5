internal import BinaryImage
internal import Registration

/// Whether the Swift types that a plugin's entries name are in it, in what it brings along, or in the host.
///
/// Another plugin may have them, and code may bind the names: nothing is refused.
enum TypeCheck {
  static func remarks(
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
}
