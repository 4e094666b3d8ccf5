internal import BinaryImage
internal import Registration

/// Entries that the files were said to have.
enum RequiredEntries {
  /// What `--require` names and no file registers.
  static func findings(in survey: Survey, _ requirements: [Requirement]) -> [Finding] {
    let isLinked = survey.images.contains(where: \.isLoadable)
    let declared = Dictionary(grouping: survey.declared) {
      Requirement(kind: $0.record.kind, name: $0.record.name)
    }
    return requirements.compactMap { required in
      let found = declared[required] ?? []
      // Before anything is linked, objects are all there is.
      if found.contains(where: { !isLinked || $0.file != .object }) { return nil }
      guard let object = found.first else {
        let others = declared.keys.lazy.filter { $0.kind == required.kind }.map(\.name)
        return Finding(
          required.code, .error, Place(path: "(all files)"),
          "no file has the required \(required.kind) \(required.name)"
            + near(required.name, in: others),
          remedy: "add the file that has it, or correct the name")
      }
      return Finding(
        required.code, .error, object.place,
        "the required \(required.kind) \(required.name) is here, and in no file that was linked",
        remedy:
          "link this object; its archive between -Wl,--whole-archive and -Wl,--no-whole-archive")
    }
  }
}

extension Requirement {
  fileprivate var code: Finding.Code {
    Finding.Code(rawValue: "missing-\(kind)") ?? .missingService
  }
}
