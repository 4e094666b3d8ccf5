internal import BinaryImage
internal import LibC

/// Reads the words of one section, and what they mean, in their order.
struct SlotReader {
  private static let chunk: UInt64 = 1 << 16

  private let section: Section
  private let size: UInt64
  private let image: any FileImage
  private let word: UInt64
  /// Whether a word without a relocation may be an address.
  private let mayBeFixed: Bool
  private var names: [Int: String]?
  /// How many bytes of texts may still be shown.
  private var room: Int
  private var bytes: [UInt8] = []
  private var start: UInt64 = 0
  /// The next word that something relocates, or why that is not known; nil until it is asked for.
  private var next: Result<UInt64?, ImageError>?
  /// Why the words cannot be read.
  private(set) var failure: ImageError?

  init(_ section: Section, size: UInt64, of image: any FileImage, room: Int) {
    (self.section, self.size, self.image, self.room) = (section, size, image, room)
    word = UInt64(image.pointerSize)
    mayBeFixed = [.executable, .core].contains(image.identity.kind)
  }

  /// Up to 64 KiB of the section from `position` on, at least `count` bytes of them; nil, with the
  /// reason in `failure`, where they cannot be read.
  mutating func load(_ count: UInt64, at position: UInt64) -> ArraySlice<UInt8>? {
    if position < start || position - start + count > UInt64(bytes.count) {
      do throws(ImageError) {
        let most = min(max(Self.chunk, count), size - position)
        bytes = try image.bytes(of: section, at: position, count: Int(most))
        start = position
      } catch {
        failure = error
        return nil
      }
    }
    return bytes[Int(position - start)...]
  }

  /// How many bytes behind the `width` at a place say the same over and over; those before `end`
  /// that are at hand, and no more.
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

  /// The same of a word that nothing relocates.
  mutating func plainRepetition(at position: UInt64) -> UInt64 {
    guard case .success(let relocated) = next else { return 0 }
    return repetition(of: word, at: position, before: relocated ?? size)
  }

  /// What is left of a section behind its last whole word.
  mutating func remainder(_ index: Int, at position: UInt64, size: UInt64) -> PointerSlot {
    var slot = PointerSlot(index, at: position, of: section)
    slot.raw = number(at: position, size: size)
    (slot.kind, slot.resolution) = (.number, .number)
    slot.note = "\(Int(size).counted("byte")) behind the last whole word"
    return slot
  }

  /// So many bytes as a number of the file's byte order.
  private mutating func number(at position: UInt64, size: UInt64) -> UInt64? {
    load(size, at: position).map { image.identity.byteOrder.number(of: $0.prefix(Int(size))) }
  }

  /// The slot at a place that the section has whole.
  mutating func slot(_ index: Int, at position: UInt64) -> PointerSlot {
    var slot = PointerSlot(index, at: position, of: section)
    guard let raw = number(at: position, size: word) else { return slot }
    slot.raw = raw
    do throws(ImageError) {
      if try isRelocated(position) || (raw != 0 && mayBeFixed) {
        try resolve(&slot)
      } else if raw != 0 {
        (slot.kind, slot.resolution) = (.number, .number)
      }
    } catch {
      (slot.kind, slot.note) = (.unresolved, error.message)
      slot.failure = error
    }
    return slot
  }

  private mutating func isRelocated(_ position: UInt64) throws(ImageError) -> Bool {
    if let known = next, try known.get().map({ $0 >= position }) ?? true {
      return try known.get() == position
    }
    let (image, section) = (image, section)
    let found = Result { () throws(ImageError) in
      try image.nextRelocated(from: position, in: section)
    }
    next = found
    return try found.get() == position
  }

  private mutating func resolve(_ slot: inout PointerSlot) throws(ImageError) {
    let pointer = try image.pointer(at: slot.position, in: section)
    (slot.resolution, slot.symbol) = (pointer.resolution, pointer.symbol)
    switch pointer.target {
    case .null: return
    case .imported(let name, let addend):
      (slot.kind, slot.symbol, slot.addend) = (.imported, name, addend)
      return
    case .unresolvable(let why):
      let isNumber = pointer.resolution == .number
      (slot.kind, slot.note) = (isNumber ? .number : .unresolved, isNumber ? nil : why)
      return
    case .foreign(let address): slot.target = UInt64(address.rawValue)
    case .address(let address): slot.target = address.rawValue
    case .section(let index, let offset):
      slot.target = offset
      if names == nil {
        names = Dictionary(try image.allSections().map { ($0.index, $0.name) }) { _, last in last }
      }
      if slot.symbol == nil { slot.symbol = names?[index] }
    }
    slot.kind = .pointer
    switch try image.memory(at: pointer.target) {
    case .code: slot.kind = .code
    case .zeros:
      slot.note = "the file has no bytes there: it is zeroed memory, or where a section ends"
    case .data: try readText(of: pointer, into: &slot)
    case .outside where pointer.resolution == .absolute:
      (slot.kind, slot.resolution, slot.target) = (.number, .number, nil)
    case .outside:
      slot.failure = image.error(
        .outOfImage, "It leads out of the image, to \(slot.destination).")
    }
  }

  private mutating func readText(
    of pointer: PointerValue, into slot: inout PointerSlot
  ) throws(ImageError) {
    guard room > 0 else {
      slot.failure = image.error(
        .tooLarge, "The texts make more than --max-bytes allows; this one is not shown.")
      return
    }
    do throws(ImageError) {
      let text = try image.withText(at: pointer.target, limit: PointerSlots.textLimit) {
        String(decoding: $0)
      }
      room -= text.utf8.count + 1
      slot.string = text
    } catch  where error.code == .unterminated {
      slot.note =
        "no text: no NUL within \(PointerSlots.textLimit) bytes or before the mapping ends"
    } catch {
      slot.failure = error
    }
  }
}
