internal import BinaryImage
internal import LibC

/// Reads a section from its start to its end, a piece of it at a time.
struct SectionWindow {
  /// The size of a piece.
  static let piece: UInt64 = 1 << 16

  let section: Section
  /// How many bytes of it the file has.
  let size: UInt64
  private let image: any FileImage
  private var bytes: [UInt8] = []
  private var start: UInt64 = 0
  /// Why bytes cannot be read.
  private(set) var failure: ImageError?

  init(_ section: Section, size: UInt64, of image: any FileImage) {
    (self.section, self.size, self.image) = (section, size, image)
  }

  /// Returns up to 64 KiB of the section from `position` on, at least `count` bytes of them; nil, with the
  /// reason in `failure`, if they cannot be read.
  mutating func load(_ count: UInt64, at position: UInt64) -> ArraySlice<UInt8>? {
    if position < start || position - start + count > UInt64(bytes.count) {
      do throws(ImageError) {
        let most = min(max(Self.piece, count), size - position)
        bytes = try image.bytes(of: section, at: position, count: Int(most))
        start = position
      } catch {
        failure = error
        return nil
      }
    }
    return bytes[Int(position - start)...]
  }

  /// Returns how many bytes after the `width` at a place repeat these; those before `end` that are at hand, and
  /// no more.
  mutating func repetition(of width: UInt64, at position: UInt64, before end: UInt64) -> UInt64 {
    guard end > position, let bytes = load(width, at: position) else { return 0 }
    let width = Int(width)
    var size = (min(bytes.count, Int(clamping: end - position)) - width) / width * width
    while size > 0 {
      let isSame = unsafe bytes.withUnsafeBytes { buffer in
        guard let start = buffer.baseAddress else { return false }
        // Sound: the buffer has at least `width + size` bytes, as was just counted.
        return unsafe memcmp(start, start + width, size) == 0
      }
      if isSame { return UInt64(size) }
      size = size / 16 / width * width
    }
    return 0
  }
}
