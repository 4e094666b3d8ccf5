internal import BinaryImage

/// Libraries that were named, and that have no entries though something says that they should.
enum WithoutEntries {
  /// `areRequired` says that every library that was named should.
  static func findings(in survey: Survey, areRequired: Bool) -> [Finding] {
    survey.images.compactMap { image in
      let isLibrary = image.isLoadable && image.kind != .executable
      let isMeant = image.runtimes.isAnnotated || isLibrary && image.runtimes.hive != nil
      guard image.isNamed, image.isBare, isMeant || isLibrary && areRequired else { return nil }
      let why =
        image.runtimes.isAnnotated
        ? ": annotations were linked into it, and a linker has dropped the entries"
        : image.runtimes.hive.map { ", though it needs \($0)" } ?? ""
      return Finding(
        .withoutEntries, areRequired ? .error : .remark, image.place, "it has no entries\(why)",
        remedy:
          "link the target that declares them into it, with retain; name its objects or archives "
          + "too, to see what was dropped")
    }
  }
}
