import BinaryImage
import ObjectFiles
import TestSupport
import Testing

/// What a reader learns of a file: the texts of its entries, or that it has a problem.
enum FileAnswer: Equatable {
  case texts([String])
  case refused(ImageError.Code)
  /// A slot without a pointer, which is an entry that is refused.
  case null

  static let names = ["BeehiveMods", "BeehiveServices", "BeehiveRecords"]

  /// How many entries there are where nothing else is said; nil where a problem is.
  var count: Int? {
    if case .texts(let texts) = self { texts.count } else { nil }
  }

  /// Reads all that a file offers but the symbol `_other`, and asks whether that is all.
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

  /// A file of three entries, made with the header, so that a linked one has a note.
  static func build(_ name: String, _ arguments: [String]) throws -> String {
    try Fixture.compile(
      Fixture.noted("damaged"), as: name + arguments.joined(),
      ["-fPIC", "-I", Repository.headers]
        + (arguments == ["-c"] ? [] : ["-nostdlib", "-Wl,--build-id"]) + arguments)
  }
}
