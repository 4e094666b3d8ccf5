internal import BinaryImage
internal import Registration

/// Sections whose names are nearly those that hold entries: their author meant those, and no reader
/// knows these.
enum LookAlikes {
  static func findings(in image: any FileImage, at place: Place) throws(ImageError) -> [Finding] {
    var seen: Set<String> = []
    return try image.allSections().filter { $0.size > 0 }.map(\.name).compactMap { name in
      guard let meant = meant(by: name), seen.insert(name).inserted else { return nil }
      return Finding(
        .lookAlikeSection, .error, place.at(section: name),
        "the section \(name) is not read; entries are in \(meant)",
        remedy: "call it \(meant), or declare its entries with BeeHive.h")
    }
  }

  /// The section that a name is not, but for the case of letters and one letter more, less or else.
  static func meant(by name: String) -> String? {
    // Most names are shorter or longer, and cost no more than this.
    guard (10...16).contains(name.utf8.count) else { return nil }
    return nearest(to: name, in: SectionNote.names, atMost: 1).first
  }
}
