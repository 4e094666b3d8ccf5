internal import BinaryImage
internal import Registration

/// Members of archives whose entries are in no linked file, though an executable is beside them.
///
/// A linker takes the members that something refers to, and nothing refers to entries.
enum NeverLinked {
  /// What an entry says, wherever it is.
  private struct Saying: Hashable {
    var platform: Survey.Platform
    var kind: RecordKind
    var name: String
    var implementation: String?
    var attributes: Attributes

    init(_ record: Record, of image: SurveyedImage) {
      (platform, kind, name) = (image.platform, record.kind, record.name)
      (implementation, attributes) = (record.implementation, record.attributes)
    }
  }

  static func findings(in survey: Survey) -> [Finding] {
    let executables = survey.executables
    guard !executables.isEmpty else { return [] }
    let linked = Set(
      survey.images.filter(\.isLoadable).flatMap { image in
        image.records.map { Saying($0, of: image) }
      })
    return survey.images.compactMap { image in
      guard image.isMember, !image.records.isEmpty, let others = executables[image.platform],
        !image.records.contains(where: { linked.contains(Saying($0, of: image)) })
      else { return nil }
      let count = image.records.count
      let entries = count == 1 ? "its entry is" : "none of its \(count) entries is"
      let all = others.count == 1 ? others[0] : "any of the \(others.count) executables"
      return Finding(
        .neverLinked, .error, image.place,
        "the member was never linked: \(entries) \(count == 1 ? "not " : "")in \(all)",
        remedy: image.platform.format == .elf
          ? "link the archive between -Wl,--whole-archive and -Wl,--no-whole-archive"
          : "link the archive with -Wl,-force_load")
    }
  }
}

extension SurveyedImage {
  /// Whether it is an object in an archive; slices are called after their machines.
  fileprivate var isMember: Bool {
    kind == .object && place.container.last.map { $0 != platform.machine } ?? false
  }
}
