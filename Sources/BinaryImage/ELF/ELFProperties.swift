internal import CElf

/// What a file needs of the processor. libelf hands out the note, and has no call for the properties in it.
extension ELFFile {
  /// The level of x86-64 that a segment of properties asks for; 0 for any: `GNU_PROPERTY_X86_ISA_1_NEEDED`.
  func processorLevel(in segment: ELFSegment) throws(ImageError) -> Int {
    let notes = try notes(in: segment.extent, alignment: segment.alignment)
    let (bytes, word) = (notes.bytes, header.wordSize)
    func number(_ place: Int) -> UInt32? { bytes.span.integer(at: place, order: header.order) }
    var level = 0
    for note in notes.list where note.owner == .gnu && note.type == UInt32(NT_GNU_PROPERTY_TYPE_0) {
      // Each has a type, a size and a value, padded to a word.
      var place = note.descriptor.lowerBound
      while place < note.descriptor.upperBound, let type = number(place),
        let size = number(place + 4), let value = number(place + 8)
      {
        // A bit for each level, the highest counts.
        if type == UInt32(GNU_PROPERTY_X86_ISA_1_NEEDED) { level = 32 - value.leadingZeroBitCount }
        place += 8 + (Int(size) + word - 1) / word * word
      }
    }
    return level
  }
}
