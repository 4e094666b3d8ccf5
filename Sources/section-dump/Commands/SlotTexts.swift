internal import BinaryImage

/// A text that a slot leads to, or that a section holds.
struct SlotText {
  /// The bytes to show.
  var bytes: [UInt8]
  /// The number of bytes of the whole text.
  var size: Int

  /// Returns the text with at most `limit` bytes and no part of a character.
  func cut(to limit: Int) -> SlotText {
    guard bytes.count > limit else { return self }
    var end = limit
    while end > max(0, limit - 3), bytes[end] & 0xc0 == 0x80 { end -= 1 }
    if bytes[end] & 0xc0 == 0x80 { end = limit }
    return SlotText(bytes: Array(bytes[..<end]), size: size)
  }

  /// Writes the bytes to show, and the size of the text if that is more.
  func write(to sink: ByteSink) {
    sink.write(bytes.span, as: .cell)
    guard size > bytes.count else { return }
    sink.write(word: "… (")
    sink.write(decimal: size)
    sink.write(word: " bytes)")
  }
}

/// The texts that the slots of a file lead to, read in proportion to the file.
///
/// All slots of a file may lead to one text that is most of the file, or to different parts of it. So one limit bounds
/// the shown part of a text, and another the read parts of all texts. Recent texts and their parts are not read again.
final class SlotTexts {
  /// The number of bytes of a text to show.
  static let shown = 256
  /// The number of bytes of texts to read for each byte of the file.
  private static let share: UInt64 = 8
  private static let mostKept = 16

  private let image: any FileImage
  private let showsWhole: Bool
  /// The most bytes of a text. Longer data without NUL is not a text.
  var longest: Int { showsWhole ? 1 << 20 : 1 << 16 }
  /// The number of bytes that may still be read; if texts are shown whole, that may still be shown.
  private var room: Int
  /// The texts that were read last, with their starts: in a section of an object, else at an address.
  private var kept: [(section: Int?, start: UInt64, bytes: [UInt8])] = []
  /// All sections of an object by their numbers, once slots have led to one of them.
  private var sections: [Int: Section]?

  /// Prepares for the texts of `image`. If they are shown whole, they have at most `maxBytes` together.
  init(of image: any FileImage, showsWhole: Bool, maxBytes: Int) {
    (self.image, self.showsWhole) = (image, showsWhole)
    room = showsWhole ? maxBytes : Int(Self.share * min(image.part.size, 1 << 40))
  }

  /// Returns the part of the text at `target` to show.
  ///
  /// Throws `tooLarge` if no more texts are read.
  func text(at target: PointerValue.Target) throws(ImageError) -> SlotText {
    let known = keptText(at: target)
    let text = if let known { known } else { try readText(at: target) }
    guard showsWhole else { return text.cut(to: Self.shown) }
    try checkRoom()
    room -= text.size + 1
    return text
  }

  /// Returns the name of a symbol. Throws `tooLarge` if it is long and there is no room.
  func name(_ name: String) throws(ImageError) -> String {
    guard name.utf8.count > Self.shown else { return name }
    try checkRoom()
    room -= name.utf8.count
    return name
  }

  /// Returns a section of an object.
  func section(_ index: Int) throws(ImageError) -> Section? {
    if let sections { return sections[index] }
    let all = Dictionary(try image.allSections().map { ($0.index, $0) }) { _, last in last }
    sections = all
    return all[index]
  }

  private func checkRoom() throws(ImageError) {
    guard room <= 0 else { return }
    throw image.file.error(
      .tooLarge,
      showsWhole
        ? "The texts make more than --max-bytes allows; this one is left out."
        : "The texts make more than \(Self.share) times the file; this one is left out. --whole-texts shows them all."
    )
  }

  private func readText(at target: PointerValue.Target) throws(ImageError) -> SlotText {
    try checkRoom()
    do throws(ImageError) {
      let bytes = try image.withText(at: target, limit: longest) { [UInt8](copying: $0) }
      // A short text is not worth keeping.
      if bytes.count > 64, let (section, start) = Self.place(of: target) {
        if kept.count == Self.mostKept { kept.removeFirst() }
        kept.append((section, start, bytes))
      }
      if !showsWhole { room -= bytes.count + 1 }
      return SlotText(bytes: bytes, size: bytes.count)
    } catch {
      if error.code == .unterminated { room -= try searched(from: target) }
      throw error
    }
  }

  /// Returns the number of bytes that were read in search of the end of a text.
  private func searched(from target: PointerValue.Target) throws(ImageError) -> Int {
    guard case .section(let index, let offset) = target, let section = try section(index) else {
      return longest
    }
    return min(longest, Int(clamping: section.size.subtractingReportingOverflow(offset).0))
  }

  private func keptText(at target: PointerValue.Target) -> SlotText? {
    guard let (section, offset) = Self.place(of: target) else { return nil }
    for text in kept where text.section == section && offset >= text.start {
      let start = offset - text.start
      guard start <= text.bytes.count else { continue }
      let rest = text.bytes[Int(start)...]
      return SlotText(
        bytes: Array(showsWhole ? rest : rest.prefix(Self.shown + 1)), size: rest.count)
    }
    return nil
  }

  private static func place(of target: PointerValue.Target) -> (section: Int?, offset: UInt64)? {
    switch target {
    case .address(let address): (nil, address.rawValue)
    case .section(let index, let offset): (index, offset)
    case .null, .imported, .foreign, .unresolvable: nil
    }
  }
}

extension [UInt8] {
  /// Copies bytes.
  init(copying bytes: Span<UInt8>) {
    // Sound: the buffer is only used inside the call.
    self = unsafe bytes.withUnsafeBufferPointer { unsafe Array($0) }
  }
}
