internal import BinaryImage

/// Whether a file looks for libraries only where no one else can put some.
enum SearchPathCheck {
  static func refusals(of library: Library, as title: String) -> [PluginRefusal] {
    let paths = zip(library.loading.searchPaths, library.searchFolders)
    let wanted = library.linkage.needed.filter { $0.contains("/") }
      .map { ($0, library.expanded($0).folder) }
    return (Array(paths) + wanted).compactMap { written, folder in
      refusal(of: folder, written, library, title)
    }
  }

  private static func refusal(
    of folder: String, _ written: String, _ library: Library, _ title: String
  ) -> PluginRefusal? {
    let shown = written.isEmpty ? "an empty path" : written
    // What begins with $ORIGIN is as absolute as the path of the file.
    let isFromOrigin = ["$ORIGIN", "${ORIGIN}"].contains { written.hasPrefix($0) }
    guard folder.hasPrefix("/") || isFromOrigin else {
      return PluginRefusal(
        .unsafeSearchPath,
        "\(title.capitalizedFirst) looks for libraries in \(shown), which depends on the folder that the host is "
          + "started in.",
        expected: "an absolute path, or $ORIGIN", found: written,
        remedy: "Link it with -Wl,-rpath,'$ORIGIN', or with an absolute path.")
    }
    guard let reason = OwnershipCheck().refusal(ofFolder: folder, title) else { return nil }
    return PluginRefusal(
      .unsafeSearchPath,
      "\(title.capitalizedFirst) looks for libraries in \(shown). \(reason.message)",
      expected: reason.expected, found: reason.found, remedy: reason.remedy)
  }
}
