internal import BinaryImage

/// Whether the loader opens a file by name at all, whatever else it asks for.
enum OpeningCheck {
  static func refusals(of library: Library, as title: String) -> [PluginRefusal] {
    guard let obstacle = library.loading.obstacle else { return [] }
    return [
      PluginRefusal(
        .notLoadable, "The loader does not open \(title): \(obstacle).",
        expected: "a library for dlopen", found: obstacle,
        remedy: "Link it anew with -shared, without -z nodlopen and --pack-dyn-relocs.")
    ]
  }
}
