internal import BinaryImage

/// A section that is read slot by slot, and how much of it can be.
struct SlotSection {
  var section: Section
  /// The index of its first slot.
  var firstIndex: Int
  /// The bytes that the file has of it; nil for memory that starts as zeros.
  var size: UInt64?
  let image: any FileImage
  /// The texts that the slots of the image lead to.
  let texts: SlotTexts
}

/// Reads sections of one name slot by slot, and no more of them than `--max-bytes` allows.
struct PointerSlots {
  /// The names; on Mach-O also `SEGMENT,section`.
  var wanted: Wanted
  let maxBytes: Int
  /// Whether texts are shown whole.
  var showsWholeTexts = false
  /// The bytes of each element of a table of structures; nil where every word is a slot.
  var stride: UInt64?
  /// The offsets of the pointers in an element.
  var places: [UInt64] = [0]

  /// The sections; larger ones are problems, and so are those that the file ends in.
  mutating func sections(of found: ReadFile) throws(ImageError) -> [SlotSection] {
    let image = found.image
    let sections = try wanted.sections(of: image)
    if sections.isEmpty { return [] }
    let word = UInt64(image.pointerSize)
    if let stride,
      let place = places.first(where: { $0 > stride || stride - $0 < word })
    {
      throw image.error(
        .unsupported,
        "At byte \(place) of an element of \(stride) bytes there is no room for a pointer of \(word) bytes: use "
          + (stride < word
            ? "a larger --stride." : "--at 0 to \(stride - word), or a larger --stride."))
    }
    var readable: [SlotSection] = []
    let texts = SlotTexts(of: image, showsWhole: showsWholeTexts, maxBytes: maxBytes)
    var (index, room) = (0, UInt64(maxBytes))
    // No file has more bytes for its sections than it has, but for those that it compresses.
    var unshared = image.part.size
    for section in sections {
      if section.name != readable.last?.section.name { index = 0 }
      var known = SlotSection(
        section: section, firstIndex: index, size: nil, image: image, texts: texts)
      do throws(ImageError) {
        if let stored = try image.stored(of: section) {
          if let shortage = stored.shortage { found.problems.append(shortage) }
          guard stored.size <= room else {
            throw image.error(
              .tooLarge,
              "It is not shown, since it makes more than \(maxBytes) bytes of this file; "
                + "--max-bytes allows more.", section: section)
          }
          if !section.isCompressed {
            guard stored.size <= unshared else {
              throw image.error(
                .malformed, "It is not shown, since it shares its bytes with others that are.",
                section: section)
            }
            unshared -= stored.size
          }
          known.size = stored.size
          room -= stored.size
          index += Int(stored.size / (stride ?? word))
        }
        readable.append(known)
      } catch {
        found.problems.append(error)
      }
    }
    return readable
  }

  /// Each slot in turn, equal ones that follow each other as one; what is damaged joins `problems`.
  func forEach(in known: SlotSection, of found: ReadImage, _ body: (PointerSlot) -> Void) {
    guard let size = known.size else { return }
    let (section, image) = (known.section, known.image)
    var log = ProblemLog(section: section)
    let stride = stride ?? UInt64(image.pointerSize)
    var reader = SlotReader(known, size: size)
    var (pending, element): ([PointerSlot], [PointerSlot]) = ([], [])
    func finish() {
      for index in pending.indices {
        for failure in pending[index].failures { log.add(failure, pending[index]) }
        body(pending[index])
      }
    }
    var position: UInt64 = 0
    var index = known.firstIndex
    while size - position >= stride {
      element.removeAll(keepingCapacity: true)
      for place in places { element.append(reader.slot(index, at: position + place)) }
      // What could not be read is no slot.
      if let failure = reader.failure {
        log.add(failure, nil)
        break
      }
      if pending.count == element.count, zip(pending, element).allSatisfy({ $0.isRepeated(by: $1) })
      {
        for slot in pending.indices { pending[slot].repeats += 1 }
      } else {
        finish()
        swap(&pending, &element)
      }
      index += 1
      position += stride
      guard self.stride == nil, [.null, .number].contains(pending[0].kind) else { continue }
      let more = reader.plainRepetition(at: position - stride)
      pending[0].repeats += Int(more / stride)
      index += Int(more / stride)
      position += more
    }
    finish()
    // Any data may have any size; what says that it is an array of pointers has a whole number.
    let rest = (size - position) % stride
    let isArray = self.stride != nil || section.entrySize == stride
    if rest > 0, reader.failure == nil {
      if isArray {
        let advice =
          self.stride == nil
          ? "" : " The section has \(size) bytes; name a --stride that divides it."
        let what = self.stride == nil ? "pointer" : "element of \(stride) bytes"
        log.add(
          image.error(
            .malformed, "\(Int(rest).counted("byte")) left after the last whole \(what).\(advice)",
            section: section), nil)
      } else {
        body(reader.remainder(index, at: position, size: rest))
      }
    }
    found.problems += log.problems
  }
}
