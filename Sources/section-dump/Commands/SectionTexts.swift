internal import BinaryImage

/// The texts of a section that holds texts, each ended by NUL: `.comment`, `.modinfo`, `.dynstr`.
struct SectionTexts {
  /// A text as long as this is surely none by chance.
  private static let shortest = 4

  private let found: SlotSection
  private let image: any FileImage
  private let size: UInt64

  /// The texts of a section; nil where it holds something else, or that cannot be told.
  ///
  /// It holds texts where its header says so, or where all of its bytes are letters and NULs. A
  /// section that something relocates holds pointers.
  init?(of found: SlotSection, in image: any FileImage) {
    guard let size = found.size, size > 0 else { return nil }
    (self.found, self.image, self.size) = (found, image, size)
    let section = found.section
    let saysSo =
      section.type == "STRTAB" || section.type == "cstring_literals"
      || (section.flags.contains("S") && section.entrySize <= 1 && section.segment == nil)
    guard saysSo || looksLikeTexts, !holdsPointers(areLetters: saysSo) else { return nil }
  }

  private var looksLikeTexts: Bool {
    var (longest, length) = (0, 0)
    var reader = SlotReader(found.section, size: size, of: image, room: 0)
    var position: UInt64 = 0
    while position < size {
      guard var bytes = reader.load(1, at: position) else { return false }
      if bytes.first == 0 {
        let more = reader.repetition(of: 1, at: position, before: size)
        position += more
        bytes = bytes.dropFirst(Int(more))
      }
      for byte in bytes {
        guard byte >= 0x20 && byte != 0x7f || byte == 0 || byte == 0x09 || byte == 0x0a else {
          return false
        }
        length = byte == 0 ? 0 : length + 1
        longest = max(longest, length)
      }
      position += UInt64(bytes.count)
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

  /// Each text that is not empty; one of more than 64 KiB in parts.
  func forEach(_ body: (PointerSlot) -> Void) -> ImageError? {
    let section = found.section
    var reader = SlotReader(section, size: size, of: image, room: 0)
    var (index, position) = (found.firstIndex, 0 as UInt64)
    while position < size {
      let most = min(UInt64(PointerSlots.textLimit), size - position)
      // What is at hand is enough where the text ends in it.
      var bytes = reader.load(1, at: position)?.prefix(Int(most))
      if let some = bytes, some.count < most, !some.contains(0) {
        bytes = reader.load(most, at: position)?.prefix(Int(most))
      }
      guard let text = bytes?.prefix(while: { $0 != 0 }) else { return reader.failure }
      if !text.isEmpty {
        var slot = PointerSlot(index, at: position, of: section)
        (slot.kind, slot.string) = (.text, String(decoding: text, as: UTF8.self))
        body(slot)
        index += 1
      }
      position += UInt64(text.count)
      // The NUL, and those that fill up to the next text.
      while position < size, let next = reader.load(1, at: position)?.first, next == 0 {
        position += 1 + reader.repetition(of: 1, at: position, before: size)
      }
    }
    return reader.failure
  }
}
