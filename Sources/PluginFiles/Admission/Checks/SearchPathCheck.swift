internal import BinaryImage

/// Whether a file looks for libraries only where no one else can put some.
enum SearchPathCheck {
  static func refusals(
    of library: Library, as title: String, _ policy: PluginPolicy
  ) -> [PluginRefusal] {
    let paths = zip(library.loading.searchPaths, library.searchFolders)
    let wanted = library.linkage.needed.filter { $0.contains("/") }
      .map { ($0, library.expanded($0).folder) }
    let folders = paths.lazy.compactMap {
      refusal(of: $1, title, "looks for libraries in", $0, policy)
    }
    let files = wanted.lazy.compactMap { refusal(of: $1, title, "needs the library", $0, policy) }
    return Array(folders.prefix(most)) + files.prefix(most)
  }

  /// The most that are told of one file; a path may have more folders than anybody reads.
  private static let most = 16

  private static func refusal(
    of folder: String, _ title: String, _ wants: String, _ written: String, _ policy: PluginPolicy
  ) -> PluginRefusal? {
    let shown = "\(title.capitalizedFirst) \(wants) \(written.isEmpty ? "an empty path" : written)"
    // What begins with $ORIGIN is as absolute as the path of the file.
    let isFromOrigin = ["$ORIGIN/", "${ORIGIN}"].contains { "\(written)/".hasPrefix($0) }
    guard folder.hasPrefix("/") || isFromOrigin else {
      return PluginRefusal(
        .unsafeSearchPath,
        "\(shown), which depends on the folder that the host is started in.",
        expected: "an absolute path, or $ORIGIN", found: written,
        remedy: "Link it with -Wl,-rpath,'$ORIGIN', or with an absolute path.")
    }
    guard policy.checksOwners,
      let reason = OwnershipCheck().refusal(ofFolder: folder, title)
    else { return nil }
    return PluginRefusal(
      .unsafeSearchPath,
      "\(shown). \(reason.message)",
      expected: reason.expected, found: reason.found, remedy: reason.remedy)
  }
}
