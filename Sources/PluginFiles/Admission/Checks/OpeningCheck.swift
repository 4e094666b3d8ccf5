internal import BinaryImage

/// Whether the loader opens a file by name at all, whatever else it asks for.
enum OpeningCheck {
  static func refusal(
    of library: Library, as title: String
  ) throws(ImageError) -> PluginRefusal? {
    guard let obstacle = try library.image.obstacle() else { return nil }
    return PluginRefusal(
      .notLoadable, "\(title.capitalizedFirst) is not opened by the loader: \(obstacle).",
      expected: "a library for dlopen", found: obstacle,
      remedy:
        "Link it anew with -shared, without -z nodlopen, -z max-page-size and --pack-dyn-relocs.")
  }

  /// What glibc has kept for the static thread storage of all that is opened later, since 2.32.
  private static let keptThreadBytes: UInt64 = 1664

  /// What may keep the loader from opening a file, depending on what the host has opened before.
  static func remarks(on library: Library, as title: String) -> [String] {
    var remarks: [String] = []
    if library.loading.hasSmallAlignment {
      remarks.append(
        "\(title) has segments that are aligned to no page: loaders before glibc 2.35 refuse it; link it without "
          + "-z max-page-size")
    }
    let level = library.loading.processorLevel
    if level > 1 {
      remarks.append(
        "\(title) needs a processor of level x86-64-v\(level): on any other dlopen refuses it")
    }
    let size = library.loading.staticThreadBytes
    if size > Self.keptThreadBytes {
      remarks.append(
        "\(title) wants \(size) bytes of static thread storage, of which glibc keeps \(Self.keptThreadBytes): dlopen "
          + "refuses it unless the host is started with more, by GLIBC_TUNABLES=glibc.rtld.optional_static_tls=; "
          + "build it without -ftls-model=initial-exec")
    } else if size > 0 {
      remarks.append(
        "\(title) wants \(size) bytes of static thread storage, of which little is left once the host runs: dlopen "
          + "may refuse it; build it without -ftls-model=initial-exec")
    }
    return remarks
  }
}
