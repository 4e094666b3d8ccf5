internal import BinaryImage
internal import Registration

/// Sections whose names are nearly those that hold entries: their author meant those, and no reader
/// knows these.
enum LookAlikes {
  private static let known = [
    RecordScanner.modules, RecordScanner.services, RecordScanner.typedRecords,
  ].map { (name: $0, bytes: lowercased($0)) }

  static func findings(in image: any FileImage, at place: Place) throws(ImageError) -> [Finding] {
    var findings: [Finding] = []
    var seen: Set<String> = []
    for section in try image.allSections() where section.size > 0 {
      let name = section.name
      guard let meant = meant(by: name), seen.insert(name).inserted else { continue }
      var place = place
      place.section = name
      findings.append(
        Finding(
          .lookAlikeSection, .error, place,
          "the section \(name) is not read; entries stand in \(meant)",
          remedy: "call it \(meant), or declare its entries with BeeHive.h"))
    }
    return findings
  }

  /// The section that a name is not, but for the case of letters and one letter more, less or else.
  static func meant(by name: String) -> String? {
    // Most names are shorter or longer, and cost no more than this.
    guard (10...16).contains(name.utf8.count) else { return nil }
    let bytes = lowercased(name)
    let near = known.first { isNear(bytes, $0.bytes) }
    return near?.name == name ? nil : near?.name
  }

  /// Whether one change at most makes one of the other.
  private static func isNear(_ first: [UInt8], _ second: [UInt8]) -> Bool {
    guard abs(first.count - second.count) <= 1 else { return false }
    let prefix = zip(first, second).prefix { $0 == $1 }.count
    let rests = (first.dropFirst(prefix).reversed(), second.dropFirst(prefix).reversed())
    let suffix = zip(rests.0, rests.1).prefix { $0 == $1 }.count
    return max(first.count, second.count) - prefix - suffix <= 1
  }

  private static func lowercased(_ name: String) -> [UInt8] {
    name.utf8.map { (0x41...0x5a).contains($0) ? $0 | 0x20 : $0 }
  }
}
