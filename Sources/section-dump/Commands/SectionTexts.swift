internal import BinaryImage
internal import LibC

/// The texts of a section that holds texts, each ended by NUL: `.comment`, `.modinfo`, `.dynstr`.
extension SlotSection {
  /// The least length of a text that is surely no accident.
  private static var shortest: Int { 4 }

  /// Whether to show the section as the texts that it holds.
  ///
  /// It holds texts if its header says so, or if all of its bytes are letters and NULs. A section with relocations
  /// holds pointers.
  var showsTexts: Bool {
    guard !slots.showsBytes, slots.stride == nil, let size, size > 0 else { return false }
    // A table of names has no pointers, and looking for them takes longer than reading it.
    if section.type == "STRTAB" { return true }
    let saysSo =
      section.type == "cstring_literals"
      || (section.flags.contains("S") && section.entrySize <= 1 && section.segment == nil)
    return (saysSo || looksLikeTexts(size))
      && (try? holdsPointers(size, areLetters: saysSo)) == false
  }

  private func looksLikeTexts(_ size: UInt64) -> Bool {
    var isLong = false
    var window = SectionWindow(section, size: size, of: image)
    var position: UInt64 = 0
    while position < size {
      guard let bytes = window.load(1, at: position),
        bytes.allSatisfy({ $0 == 0 || $0.isOfText })
      else { return false }
      isLong = isLong || bytes.split(separator: 0).contains { $0.count >= Self.shortest }
      position += UInt64(bytes.count)
    }
    return isLong
  }

  /// Returns whether a word is relocated, or is an address of an image that never moves. If the header says that the
  /// section has letters, its words are not addresses.
  private func holdsPointers(_ size: UInt64, areLetters: Bool) throws(ImageError) -> Bool {
    if areLetters, section.segment != nil { return false }
    let next = try image.nextRelocated(from: 0, in: section)
    guard next ?? 0 == 0 else { return true }
    guard next == 0 || (!areLetters && image.identity.kind == .executable) else { return false }
    // If only the words themselves can tell, each of them is read.
    let word = UInt64(image.pointerSize)
    var position: UInt64 = 0
    while size - position >= word {
      let pointer = try image.pointer(at: position, in: section)
      position += word
      if pointer.target == .null || pointer.resolution == .number { continue }
      guard pointer.resolution == .absolute, try image.memory(at: pointer.target) == .outside
      else { return true }
    }
    return false
  }

  /// Hands over each text that is not empty, with its number and its offset. A text of more than 4 MiB comes in parts,
  /// and all parts but the last go on.
  func forEachText(
    _ body: (_ index: Int, _ position: UInt64, Span<UInt8>, _ goesOn: Bool) -> Void
  ) {
    guard let size else { return }
    var window = SectionWindow(section, size: size, of: image)
    var (index, position) = (firstIndex, 0 as UInt64)
    while position < size {
      let most = min(SectionWindow.most, size - position)
      guard let bytes = window.load(most, at: position)?.prefix(Int(most)) else { break }
      let span = bytes.span
      var start = 0
      while start < span.count {
        guard span[start] != 0 else {
          start += 1
          continue
        }
        let length = span.textLength(from: start) ?? span.count - start
        // A text that does not end in these bytes is read again with the bytes after them.
        let goesOn = start + length == span.count && position + most < size
        guard start == 0 || !goesOn else { break }
        body(index, position + UInt64(start), span.extracting(start..<start + length), goesOn)
        index += 1
        start += length
      }
      position += UInt64(start)
    }
    if let failure = window.failure { found.problems.append(failure) }
  }
}

extension UInt8 {
  /// Whether a text may have this byte. The only control bytes in texts are tabs and line feeds.
  var isOfText: Bool { self >= 0x20 && self != 0x7f || self == 0x09 || self == 0x0a }
}

/// A reader of a section in pieces, from start to end: first 64 KiB, then 1 MiB, then 4 MiB.
struct SectionWindow {
  /// The largest piece.
  static let most: UInt64 = 1 << 22
  let section: Section
  /// The number of its bytes in the file.
  let size: UInt64
  private let image: any FileImage
  private var bytes: [UInt8] = []
  private var start: UInt64 = 0
  private var piece: UInt64 = 1 << 16
  /// The reason that bytes cannot be read.
  private(set) var failure: ImageError?

  init(_ section: Section, size: UInt64, of image: any FileImage) {
    (self.section, self.size, self.image) = (section, size, image)
  }

  /// Returns the bytes at hand from `position` on, at least `count`. Returns nil, with the reason in `failure`, if they
  /// cannot be read.
  mutating func load(_ count: UInt64, at position: UInt64) -> ArraySlice<UInt8>? {
    if position < start || position - start + count > UInt64(bytes.count) {
      do throws(ImageError) {
        let most = min(max(piece, count), size - position)
        piece = min(piece * 16, Self.most)
        bytes = try image.bytes(of: section, at: position, count: Int(most))
        start = position
      } catch {
        failure = error
        return nil
      }
    }
    return bytes[Int(position - start)...]
  }

  /// Returns how many bytes after the `width` bytes at `position` repeat them. Looks only at bytes before `end` that
  /// are at hand.
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
