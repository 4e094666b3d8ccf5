internal import BinaryImage

/// The texts of a section that holds texts, each ended by NUL: `.comment`, `.modinfo`, `.dynstr`.
struct SectionTexts {
  /// A text as long as this is surely none by chance.
  private static let shortest = 4

  private let found: SlotSection
  private var image: any FileImage { found.image }
  private let size: UInt64

  /// The texts of a section; nil where it holds something else, or that cannot be told.
  ///
  /// It holds texts where its header says so, or where all of its bytes are letters and NULs. A
  /// section that something relocates holds pointers.
  init?(of found: SlotSection) {
    guard let size = found.size, size > 0 else { return nil }
    (self.found, self.size) = (found, size)
    let section = found.section
    let saysSo =
      section.type == "STRTAB" || section.type == "cstring_literals"
      || (section.flags.contains("S") && section.entrySize <= 1 && section.segment == nil)
    // A table of names has no pointers, and looking for some takes longer than to read it.
    if section.type == "STRTAB" { return }
    guard saysSo || looksLikeTexts, !holdsPointers(areLetters: saysSo) else { return nil }
  }

  private var looksLikeTexts: Bool {
    var (longest, length) = (0, 0)
    var window = SectionWindow(found.section, size: size, of: image)
    var position: UInt64 = 0
    while position < size {
      guard let bytes = window.load(1, at: position) else { return false }
      let span = bytes.span
      for index in span.indices {
        let byte = span[index]
        guard byte >= 0x20 && byte != 0x7f || byte == 0 || byte == 0x09 || byte == 0x0a else {
          return false
        }
        length = byte == 0 ? 0 : length + 1
        longest = max(longest, length)
      }
      position += UInt64(span.count)
    }
    return longest >= Self.shortest
  }

  /// Whether a word is relocated, or is an address of an image that is never moved; true where
  /// that cannot be told. Words are no addresses where the header says that they are letters.
  private func holdsPointers(areLetters: Bool) -> Bool {
    let section = found.section
    if areLetters, section.segment != nil { return false }
    do throws(ImageError) {
      let next = try image.nextRelocated(from: 0, in: section)
      guard next ?? 0 == 0 else { return true }
      guard next == 0 || (!areLetters && image.identity.kind == .executable) else { return false }
      // Where only a look at the word tells, each is looked at.
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
    } catch {
      return true
    }
  }

  /// Hands over each text that is not empty, with its number and its place; one of more than 64 KiB in parts.
  func forEach(_ body: (_ index: Int, _ position: UInt64, Span<UInt8>) -> Void) -> ImageError? {
    var window = SectionWindow(found.section, size: size, of: image)
    var (index, position) = (found.firstIndex, 0 as UInt64)
    while position < size {
      let most = min(SectionWindow.piece, size - position)
      guard let bytes = window.load(most, at: position)?.prefix(Int(most)) else { break }
      let span = bytes.span
      var start = 0
      while start < span.count {
        guard span[start] != 0 else {
          start += 1
          continue
        }
        let length = span.textLength(from: start) ?? span.count - start
        // What does not end in these bytes is read with those that follow.
        guard start == 0 || start + length < span.count || position + most == size else { break }
        body(index, position + UInt64(start), span.extracting(start..<start + length))
        index += 1
        start += length
      }
      position += UInt64(start)
    }
    return window.failure
  }
}
