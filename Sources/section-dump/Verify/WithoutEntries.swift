internal import BinaryImage

/// Libraries that have no entries though something says that they should, and sets of no file at all.
enum WithoutEntries {
  /// `areRequired` says that every library that was named should, and that some file must. That no file was
  /// read is told always: a gate over nothing lets everything pass.
  static func findings(in survey: Survey, areRequired: Bool) -> [Finding] {
    let findings = survey.images.compactMap { finding(on: $0, isRequired: areRequired) }
    let isNothing = survey.read == 0 && survey.problems.isEmpty
    guard findings.isEmpty, survey.declared.isEmpty, areRequired || isNothing else {
      return findings
    }
    return [
      Finding(
        .withoutEntries, areRequired ? .error : .warning, Place(path: "(all files)"),
        isNothing ? "no object file is among them" : "no file has an entry",
        remedy: "name the files that are to have some")
    ]
  }

  private static func finding(on image: SurveyedImage, isRequired: Bool) -> Finding? {
    guard image.isBare else { return nil }
    let isNamedLibrary = image.isNamed && image.isLoadable && image.kind != .executable
    let why: String
    if image.runtimes.isAnnotated {
      why = ": annotations were linked into it, and a linker has dropped the entries"
    } else if isNamedLibrary, let hive = image.runtimes.hive {
      why = ", though it needs \(hive)"
    } else if isNamedLibrary, isRequired {
      why = ""
    } else {
      return nil
    }
    return Finding(
      .withoutEntries,
      isRequired ? .error : image.runtimes.isAnnotated ? .warning : .remark, image.place,
      "it has no entries\(why)",
      remedy:
        "link the target that declares them into it, with retain; name its objects or archives "
        + "too, to see what was dropped")
  }
}
