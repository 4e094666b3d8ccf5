internal import BinaryImage

/// Whether a file runs nothing by itself, when it is loaded, but what announces its entries.
///
/// An audit, no wall: names are what the file says. What has no name, as in a stripped file, is refused.
enum StartupCheck {
  /// What our headers, the compilers and Swift's runtime have every library run.
  private static let usual: Set<String> = [
    "beehive_image_up", "_ZN20beehive_image_anchorILi0EE2upEv", "frame_dummy",
    "_ZL23swift_image_constructorv",
  ]

  static func refusal(
    of library: Library, as title: String, _ policy: PluginPolicy
  ) throws(ImageError) -> PluginRefusal? {
    guard policy.startup == .anchor else { return nil }
    let (steps, problems) = try library.image.startup()
    if let problem = problems.first { throw problem }
    let further = steps.filter { step in
      switch step.kind {
      case .needed, .threadLocal, .finiArray, .finaliser: false
      case .audit, .filter, .resolver, .exportedResolver: true
      case .preinit, .initialiser, .initArray:
        !step.isOfCompiler && !usual.contains(step.name ?? "")
      }
    }
    guard !further.isEmpty else { return nil }
    let names = further.map { step in
      step.name ?? step.address.map { "a function without a name at \($0.hexadecimal)" } ?? "?"
    }
    let shown = names.shown(most: 3)
    let isPlural = names.count > 1
    return PluginRefusal(
      .runsAtStartup,
      "\(title.capitalizedFirst) runs \(shown) by \(isPlural ? "themselves" : "itself") when it is loaded, before "
        + "anybody asks for it; the policy lets a plugin run nothing but what announces its entries.",
      expected: "nothing but the anchor", found: names.joined(separator: ", "),
      remedy:
        "Do that in a module's setUp, or admit it: --startup anything. section-dump startup lists "
        + "everything that runs.")
  }
}

extension [String] {
  /// The first few, and how many more there are.
  package func shown(most: Int) -> String {
    let text = prefix(most).joined(separator: ", ")
    return count > most ? "\(text) and \(count - most) more" : text
  }
}
