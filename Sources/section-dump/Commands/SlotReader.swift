internal import BinaryImage

/// A reader of the words of one section and their meanings, in order.
struct SlotReader {
  private let image: any FileImage
  private let texts: SlotTexts
  private let word: UInt64
  private let order: ImageIdentity.ByteOrder
  /// Whether a word without a relocation may be an address.
  private let mayBeFixed: Bool
  /// Whether relocations may write less than a word.
  private let isObject: Bool
  private var window: SectionWindow
  /// The position of the next relocated word, or nil inside if there is none; nil before the first search.
  private var next: Result<UInt64?, ImageError>?
  /// The end of what a relocation writes that begins inside of a word.
  private var rewrittenEnd: UInt64 = 0
  private var section: Section { window.section }

  /// The reason that words cannot be read.
  var failure: ImageError? { window.failure }

  /// Prepares for a section with `size` bytes in the file.
  init(_ known: SlotSection, size: UInt64) {
    (image, texts) = (known.image, known.texts)
    let identity = image.identity
    (word, order) = (UInt64(identity.bits / 8), identity.byteOrder)
    mayBeFixed = [.executable, .core].contains(identity.kind)
    isObject = identity.kind == .object
    window = SectionWindow(known.section, size: size, of: image)
  }

  /// Returns how many bytes after a word without relocation repeat it, like `SectionWindow`.
  mutating func plainRepetition(at position: UInt64) -> UInt64 {
    guard case .success(let place)? = next else { return 0 }
    return window.repetition(of: word, at: position, before: place ?? window.size)
  }

  /// Returns the rest of a section after its last whole word.
  mutating func remainder(_ index: Int, at position: UInt64, size: UInt64) -> PointerSlot {
    var slot = PointerSlot(index, at: position, of: section)
    slot.raw = window.load(size, at: position).map { order.number(of: $0.prefix(Int(size))) }
    (slot.kind, slot.resolution) = (.number, .number)
    slot.note = "\(Int(size).counted("byte")) behind the last whole word"
    return slot
  }

  /// Returns the slot at a position; the section has the whole word.
  mutating func slot(_ index: Int, at position: UInt64) -> PointerSlot {
    var slot = PointerSlot(index, at: position, of: section)
    guard let bytes = window.load(word, at: position),
      let raw = bytes.span.word(at: 0, bits: Int(word) * 8, order: order)
    else { return slot }
    slot.raw = raw
    do throws(ImageError) {
      if try isRelocated(position) || (raw != 0 && mayBeFixed) {
        try resolve(&slot)
      } else if let place = try next?.get(), place - position < word {
        (slot.kind, slot.note) = (
          .unresolved, "a relocation writes it from byte \(place - position) on"
        )
        if !isObject { rewrittenEnd = place + word }
      } else if position < rewrittenEnd {
        (slot.kind, slot.note) = (.unresolved, "a relocation of the word before writes its start")
      } else if raw != 0 {
        (slot.kind, slot.resolution) = (.number, .number)
      }
    } catch {
      (slot.kind, slot.note) = (.unresolved, error.message)
      slot.failures = [error]
    }
    return slot
  }

  private mutating func isRelocated(_ position: UInt64) throws(ImageError) -> Bool {
    if let next {
      let place = try next.get() ?? .max
      if place >= position { return place == position }
    }
    let found = Result { () throws(ImageError) in
      try image.nextRelocated(from: position, in: section)
    }
    next = found
    return try found.get() == position
  }

  private mutating func resolve(_ slot: inout PointerSlot) throws(ImageError) {
    let pointer = try image.pointer(at: slot.position, in: section)
    slot.resolution = pointer.resolution
    show(pointer.symbol, of: &slot)
    switch pointer.target {
    case .null: return
    case .imported(let name, let addend):
      (slot.kind, slot.addend) = (.imported, addend)
      show(name, of: &slot)
      return
    case .unresolvable(let why):
      let isNumber = pointer.resolution == .number
      (slot.kind, slot.note) = (isNumber ? .number : .unresolved, isNumber ? nil : why)
      return
    case .foreign(let address): slot.target = UInt64(address.rawValue)
    case .address(let address): slot.target = address.rawValue
    case .section(let index, let offset):
      slot.target = offset
      if slot.symbol == nil { slot.symbol = try texts.section(index)?.name }
    }
    slot.kind = .pointer
    switch try image.memory(at: pointer.target) {
    case .code: slot.kind = .code
    case .zeros:
      slot.note = "the file has no bytes there: it is zeroed memory, or where a section ends"
    case .data: readText(of: pointer, into: &slot)
    case .outside where pointer.resolution == .absolute:
      (slot.kind, slot.resolution, slot.target) = (.number, .number, nil)
    // Not a pointer of the program: a function descriptor's word, a page of a global offset table, or a weak symbol
    // that nothing defines. The reader of entries reports an entry that leads nowhere.
    case .outside:
      let place = String(decoding: ByteSink.bytes(slot.writeDestination), as: UTF8.self)
      slot.note =
        "no image is at \(place): the word is no pointer, or a weak symbol that is not defined"
    }
  }

  private func show(_ symbol: String?, of slot: inout PointerSlot) {
    guard let symbol else { return }
    do throws(ImageError) {
      slot.symbol = try texts.name(symbol)
    } catch {
      leaveOut(error, of: &slot)
    }
  }

  private func readText(of pointer: PointerValue, into slot: inout PointerSlot) {
    do throws(ImageError) {
      slot.text = try texts.text(at: pointer.target)
    } catch  where error.code == .unterminated {
      slot.note = "no text: no NUL within \(texts.longest) bytes or before the mapping ends"
    } catch  where error.code == .noContents {
      slot.note = "no text: a relocation writes there"
    } catch  where error.code == .tooLarge {
      leaveOut(error, of: &slot)
    } catch {
      slot.failures = [error]
    }
  }

  private func leaveOut(_ error: ImageError, of slot: inout PointerSlot) {
    (slot.note, slot.failures) = ("left out", [error])
  }
}
