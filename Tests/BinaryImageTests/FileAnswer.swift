import BinaryImage
import ObjectFiles
import TestSupport
import Testing

/// A reader's answer for a file: the texts of its entries, or a problem.
enum FileAnswer: Equatable {
  case texts([String])
  case refused(ImageError.Code)
  /// A slot without a pointer: a rejected entry.
  case null

  static let names = ["BeehiveMods", "BeehiveServices", "BeehiveRecords"]

  /// The number of entries; nil if there is a problem.
  var count: Int? {
    if case .texts(let texts) = self { texts.count } else { nil }
  }

  /// Reads every entry of a file except pointers to the symbol `_other`, and checks that the file is complete.
  init(of path: String) {
    do throws(ImageError) {
      let image = try ImageFile.open(path)
      _ = image.identity
      var texts: [String] = []
      for name in Self.names {
        for section in try image.sections(named: name) {
          _ = try image.withBytes(of: section) { $0.count }
          for offset in stride(from: 0, to: min(section.size, 4096), by: image.pointerSize) {
            let pointer = try image.pointer(at: offset, in: section)
            if case .imported(symbol: "_other", addend: 0) = pointer.target { continue }
            guard pointer.target != .null else {
              self = .null
              return
            }
            texts.append(try image.text(at: pointer.target, limit: 4096))
          }
        }
      }
      _ = try? image.allSections()
      try image.checkExtents()
      self = .texts(texts)
    } catch {
      self = .refused(error.code)
    }
  }

  /// Builds a file of three entries with the header, so that a linked file has a note.
  static func build(_ name: String, _ arguments: [String]) throws -> String {
    try Fixture.compile(
      Fixture.noted("damaged"), as: name + arguments.joined(),
      ["-fPIC", "-I", Repository.headers]
        + (arguments == ["-c"] ? [] : ["-nostdlib", "-Wl,--build-id"]) + arguments)
  }
}
