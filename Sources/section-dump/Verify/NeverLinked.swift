internal import BinaryImage
internal import Registration

/// Members of archives whose entries are in no linked file, though linked files are beside them.
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
    let loadable = survey.images.filter(\.isLoadable)
    let platforms = Set(loadable.map(\.platform))
    let linked = Set(
      loadable.flatMap { image in image.records.map { Saying($0, of: image) } })
    return survey.images.compactMap { image in
      guard image.isMember, !image.records.isEmpty, platforms.contains(image.platform),
        !image.records.contains(where: { linked.contains(Saying($0, of: image)) })
      else { return nil }
      let count = image.records.count
      let entries = count == 1 ? "its entry is" : "none of its \(count) entries is"
      // Without an executable, one that is not given may have it.
      let others = executables[image.platform]
      let all =
        others.map { $0.count == 1 ? $0[0] : "any of the \($0.count) executables" } ?? "any library"
      return Finding(
        .neverLinked, others == nil ? .warning : .error, image.place,
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
