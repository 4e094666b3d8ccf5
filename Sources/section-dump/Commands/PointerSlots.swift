internal import BinaryImage

/// The options of a command that shows sections slot by slot, up to `--max-bytes`.
struct PointerSlots {
  /// Whether to show bytes instead of the texts that the slots lead to or that the section holds.
  var showsBytes = false
  let maxBytes: Int
  /// Whether texts are shown whole.
  var showsWholeTexts = false
  /// The size of each element of a table of structures, in bytes; nil if every word is a slot.
  var stride: UInt64?
  /// The offsets of the pointers in an element.
  var places: [UInt64] = [0]

  /// Returns the listing of the wanted sections of each image.
  func listing(_ wanted: Wanted) -> ImageListing<SlotSection> {
    ImageListing(
      key: "sections", emptyNote: "no section \(wanted.text.escaped)", wanted: wanted,
      read: sections)
  }

  /// Finds the sections. Sections that are too large, or that the file ends in, are problems.
  private func sections(
    of image: any FileImage, _ found: ReadImage, _ wanted: inout Wanted
  ) throws(ImageError) -> [SlotSection] {
    let sections = try wanted.sections(of: image)
    if sections.isEmpty { return [] }
    let word = UInt64(image.pointerSize)
    if let stride, let place = places.first(where: { $0 > stride || stride - $0 < word }) {
      throw image.file.error(
        .unsupported,
        "At byte \(place) of an element of \(stride) bytes there is no room for a pointer of \(word) bytes: use "
          + (stride < word
            ? "a larger --stride." : "--at 0 to \(stride - word), or a larger --stride."))
    }
    var readable: [SlotSection] = []
    let texts = SlotTexts(of: image, showsWhole: showsWholeTexts, maxBytes: maxBytes)
    var (index, room) = (0, UInt64(maxBytes))
    // The sections of a file have no more bytes than the file, except for compressed sections.
    var unshared = image.part.size
    var inflatable = max(1 << 16, 16 * min(unshared, 1 << 40))
    for section in sections {
      if section.name != readable.last?.section.name { index = 0 }
      do throws(ImageError) {
        let stored = try image.stored(of: section)
        let size = stored?.size ?? 0
        if let shortage = stored?.shortage { found.problems.append(shortage) }
        let offset = image.file.place(of: section)
        try image.file.check(
          size <= room, .tooLarge,
          "The section is not shown, because the limit for this file is \(maxBytes) bytes; "
            + "--max-bytes allows more.", section: section.name, at: offset)
        try image.file.check(
          size <= (section.isCompressed ? inflatable : unshared), .malformed,
          section.isCompressed
            ? "The section is not shown: the compressed sections hold more than 16 times the file."
            : "The section is not shown: it shares its bytes with sections that are shown.",
          section: section.name, at: offset)
        if section.isCompressed { inflatable -= size } else { unshared -= size }
        room -= size
        readable.append(
          SlotSection(
            section: section, firstIndex: index, size: stored?.size, image: image, found: found,
            texts: texts, slots: self))
        index += Int(size / (stride ?? word))
      } catch {
        found.problems.append(error)
      }
    }
    return readable
  }
}

/// A section that is read slot by slot, and the size that can be read.
struct SlotSection {
  let section: Section
  /// The index of its first slot.
  let firstIndex: Int
  /// The number of its bytes in the file; nil for memory that starts as zeros.
  let size: UInt64?
  let image: any FileImage
  /// The image, which takes the problems of the section.
  let found: ReadImage
  /// The texts that the slots of the image lead to.
  let texts: SlotTexts
  let slots: PointerSlots

  /// Hands over each slot in turn, and equal slots in a row as one. Damage joins the problems.
  func forEachSlot(_ body: (PointerSlot) -> Void) {
    guard let size else { return }
    var log = ProblemLog(section: section)
    let stride = slots.stride ?? UInt64(image.pointerSize)
    var reader = SlotReader(self, size: size)
    var (pending, element): ([PointerSlot], [PointerSlot]) = ([], [])
    func finish() {
      for slot in pending {
        for failure in slot.failures { log.add(failure, slot) }
        body(slot)
      }
    }
    var position: UInt64 = 0
    var index = firstIndex
    while size - position >= stride {
      element.removeAll(keepingCapacity: true)
      for place in slots.places { element.append(reader.slot(index, at: position + place)) }
      // A word that could not be read is no slot.
      if reader.failure != nil { break }
      if pending.count == element.count, zip(pending, element).allSatisfy({ $0.isRepeated(by: $1) })
      {
        for slot in pending.indices { pending[slot].repeats += 1 }
      } else {
        finish()
        swap(&pending, &element)
      }
      index += 1
      position += stride
      guard slots.stride == nil, [.null, .number].contains(pending[0].kind) else { continue }
      let more = reader.plainRepetition(at: position - stride)
      pending[0].repeats += Int(more / stride)
      index += Int(more / stride)
      position += more
    }
    finish()
    let rest = (size - position) % stride
    if let failure = reader.failure {
      log.add(failure)
    } else if rest > 0, slots.stride != nil || section.entrySize == stride {
      // A section that claims to be an array has whole elements. Other data may have any size.
      let (what, advice) =
        slots.stride == nil
        ? ("pointer", "")
        : (
          "element of \(stride) bytes",
          " The section has \(size) bytes; name a --stride that divides it."
        )
      let message = "\(Int(rest).counted("byte")) left after the last whole \(what).\(advice)"
      log.add(image.file.error(.malformed, message, at: image.file.place(of: section)))
    } else if rest > 0 {
      body(reader.remainder(index, at: position, size: rest))
    }
    found.problems += log.problems
  }
}

/// The problems of one section: each cause once, and no more than a person reads.
private struct ProblemLog {
  private static let limit = 1000

  let section: Section
  private var listed: [(problem: ImageError, count: Int)] = []
  private var places: [String: Int] = [:]
  private var more = 0

  init(section: Section) { self.section = section }

  mutating func add(_ error: ImageError, _ slot: PointerSlot? = nil) {
    let count = slot?.repeats ?? 1
    let key = "\(error.code.rawValue) \(error.message)"
    if let known = places[key] {
      listed[known].count += count
    } else if listed.count < Self.limit {
      var problem = error
      problem.section = section.name
      if let slot {
        (problem.index, problem.offset) = (slot.index, slot.offset.map(FileOffset.init))
      }
      places[key] = listed.count
      listed.append((problem, count))
    } else {
      more += 1
    }
  }

  var problems: [ImageError] {
    var all = listed.map { problem, count in
      var problem = problem
      if count > 1 { problem.message += " The same holds for \(count - 1) more behind it." }
      return problem
    }
    if more > 0 {
      all.append(
        ImageError(
          .malformed, image: "", section: section.name, offset: section.offset,
          message: "\(more) more of its words are damaged; the first \(Self.limit) are listed."))
    }
    return all
  }
}
