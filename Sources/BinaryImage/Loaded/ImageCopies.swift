internal import CImageList

extension ImageList {
  /// The result of copying one image.
  package enum Copy: Sendable {
    /// It is as it was in the list.
    case image(LoadedImage)
    /// It has been unmapped since the list was updated.
    case gone
    /// Its sections cannot be found, for this reason; whether it declares anything is unknown.
    case failed(ImageError)
  }

  /// Copies the sections of the images at `positions`.
  ///
  /// Reads an image with a valid note only from memory. For any other image it opens the file, and trusts it only if it
  /// is the mapped file. An image whose note libelf did not read is an error, because its file would need libelf too.
  package borrowing func copy(_ positions: [Int]) -> [Copy] {
    var answers: [Copy] = []
    answers.reserveCapacity(positions.count)
    // A walk for each group, so that the contents of one group's files are freed before the next group.
    for start in stride(from: 0, to: positions.count, by: Self.groupSize) {
      copy(positions[start..<min(start + Self.groupSize, positions.count)], into: &answers)
    }
    return answers
  }

  private static var groupSize: Int { 32 }

  private borrowing func copy(_ positions: ArraySlice<Int>, into answers: inout [Copy]) {
    let kernel = KernelMappings()
    var locators: [SectionLocator] = []
    locators.reserveCapacity(positions.count)
    for position in positions {
      let mapped = self[position]
      let entry = entry(position)
      if mapped.role == .vdso {
        answers.append(.image(LoadedImage(unread: mapped, entry)))
      } else if mapped.note == .unread {
        answers.append(.failed(.unreadByLibelf(ImagePaths.displayName(of: mapped))))
      } else {
        locators.append(
          SectionLocator(
            answer: answers.count, position: position, mapped: mapped, entry: entry, in: kernel))
        answers.append(.gone)
      }
    }
    // One round for almost all; another for each path that leads to something else.
    while !locators.isEmpty {
      locators.removeAll { locator in
        guard let failure = locator.failure else { return false }
        answers[locator.answer] = .failed(failure)
        return true
      }
      guard var copies = LoaderCopies(of: locators, in: self) else {
        for locator in locators {
          answers[locator.answer] = .failed(locator.error(.unreadable, "No memory."))
        }
        break
      }
      var again: [SectionLocator] = []
      for (index, locator) in locators.enumerated() {
        if let answer = copies.answer(index, locator) {
          answers[locator.answer] = answer
        } else {
          locator.openAnotherFile()
          again.append(locator)
        }
      }
      locators = again
    }
  }
}

extension ImageError {
  /// Says that the walk could not read an image, because libelf opened nothing.
  fileprivate static func unreadByLibelf(_ image: String) -> ImageError {
    ImageError(
      .unreadable, image: image,
      message: "libelf did not open the copy of the image's headers and notes (elf_memory), so its "
        + "entries are missing. Check that libelf.so.1 is that of elfutils and that there is memory."
    )
  }
}

/// The copies of one walk of the loader's list, as the C side left them.
@safe struct LoaderCopies: ~Copyable {
  // Sound: owns its memory until deinit; every piece in it lies inside its bytes.
  private var copies = unsafe image_copies()
  /// The index of each locator's first range among the copied ones.
  private var firstRanges: [Int] = []

  /// Walks the loader's list; nil if memory runs out.
  init?(of locators: [SectionLocator], in list: borrowing ImageList) {
    var requests: [image_request] = []
    var wanted: [image_wanted] = []
    requests.reserveCapacity(locators.count)
    firstRanges.reserveCapacity(locators.count)
    for locator in locators {
      let ranges = locator.wanted
      firstRanges.append(wanted.count)
      requests.append(
        image_request(
          entry: locator.position, first_range: wanted.count, range_count: ranges.count))
      for range in ranges {
        wanted.append(
          image_wanted(
            range: image_range(start: range.start, stop: range.stop),
            holds_pointers: range.holdsPointers))
      }
    }
    guard unsafe list.copy(requests, wanted, into: &copies) else { return nil }
  }

  deinit {
    var copies = unsafe copies
    unsafe image_copies_free(&copies)
  }

  /// Returns the outcome for the image of locator `index`; nil if its file is not the trusted one.
  mutating func answer(_ index: Int, _ locator: SectionLocator) -> ImageList.Copy? {
    // Sound: there is one answer per request, and one range per wanted one.
    let copy = unsafe copies.images[index]
    guard copy.present else { return .gone }
    let header = unsafe bytes(copy.header)
    let programHeaders = unsafe bytes(copy.program_headers)
    guard unsafe locator.agrees(header: header.span, programHeaders: programHeaders.span)
    else { return nil }
    for number in locator.wanted.indices {
      guard unsafe copies.ranges[firstRanges[index] + number].readable else {
        return .failed(
          locator.error(
            .outOfImage, section: locator.wanted[number].name,
            "The section is not in readable file contents."))
      }
    }
    let identity = ImageIdentity(of: locator.mapped, name: locator.name)
    guard let contents = contents(index, locator) else {
      return .failed(locator.error(.unreadable, "No memory."))
    }
    return .image(
      LoadedImage(
        identity: identity, mapped: locator.mapped, isRelocated: copy.relocated, place: copy.place,
        contents: contents))
  }

  /// Returns the sections and texts of locator `index`, whose ranges are all readable; nil if memory runs out.
  /// With only one locator it takes the memory over, so nothing else may be read afterwards.
  private mutating func contents(_ index: Int, _ locator: SectionLocator) -> Contents? {
    guard !locator.wanted.isEmpty else { return Contents.none }
    let whole = unsafe copies.images[index].contents
    var parts: [Contents.Part] = []
    parts.reserveCapacity(locator.wanted.count)
    let ranges = firstRanges[index]..<firstRanges[index] + locator.wanted.count
    var texts: [image_text] = []
    texts.reserveCapacity(ranges.reduce(0) { unsafe $0 + copies.ranges[$1].text_count })
    for (number, wanted) in locator.wanted.enumerated() {
      let range = unsafe copies.ranges[firstRanges[index] + number]
      let section = Section(
        index: number, name: wanted.name,
        address: locator.mapped.bias.virtualAddress(of: RuntimeAddress(rawValue: wanted.start)),
        offset: nil, size: UInt64(range.bytes.size), flags: range.writable ? "WA" : "A")
      let firstText = texts.count
      // Sound: the texts of a range follow one another. Without any there may be no room at all.
      if range.text_count > 0 {
        unsafe texts.append(
          contentsOf: UnsafeBufferPointer(
            start: copies.texts + range.first_text, count: range.text_count))
      }
      parts.append(
        Contents.Part(
          section: section, bytes: whole.place(of: range.bytes), texts: firstText..<texts.count))
    }
    return unsafe Contents(
      parts: parts, texts: texts, hasRecords: !locator.wanted.allSatisfy(\.holdsPointers), whole,
      of: &copies, isOnlyOne: firstRanges.count == 1)
  }

  /// Returns the bytes of a piece, valid as long as the copies are.
  private func bytes(_ piece: image_piece) -> UnsafeBufferPointer<UInt8> {
    unsafe UnsafeBufferPointer(start: copies.bytes + piece.offset, count: piece.size)
  }
}

/// The copied sections of one image and the texts that their pointers lead to.
///
/// Shared by all copies of a `LoadedImage` and never changed.
@safe final class Contents: @unchecked Sendable {
  /// A section, its bytes, and the texts that its slots lead to if it holds pointers.
  struct Part: Sendable {
    let section: Section
    let bytes: Range<Int>
    let texts: Range<Int>
  }

  /// Sections in the order of `LoadedImage.sectionNames`, each ascending by address.
  let parts: [Part]
  /// The text that each slot leads to, in the order of the slots.
  let texts: [image_text]
  /// Whether every pointer leads into the image, and there are no typed records.
  let isSettled: Bool
  // Sound: the memory belongs to this object alone and is freed with it; the bytes lie inside it.
  private let memory: UnsafeMutablePointer<UInt8>?
  private let bytes: UnsafeBufferPointer<UInt8>
  /// The location of sections and texts, one after the other, in the copies of all images.
  private let piece: image_piece

  /// The contents of an image without sections.
  static let none = Contents()

  private init() {
    (parts, texts, isSettled, piece) = ([], [], true, image_piece())
    unsafe memory = nil
    unsafe bytes = UnsafeBufferPointer(start: nil, count: 0)
  }

  /// Copies the bytes of a piece. If it is the only piece, takes over the memory of `copies` instead. Nil if memory
  /// runs out.
  init?(
    parts: [Part], texts: [image_text], hasRecords: Bool, _ piece: image_piece,
    of copies: inout image_copies, isOnlyOne: Bool
  ) {
    guard let memory = unsafe image_copies_piece(&copies, piece, isOnlyOne) else { return nil }
    (self.parts, self.texts, self.piece) = (parts, texts, piece)
    isSettled = !hasRecords && texts.allSatisfy { $0.kind != IMAGE_TEXT_OUTSIDE }
    unsafe self.memory = memory
    let start = isOnlyOne ? piece.offset : 0
    unsafe bytes = UnsafeBufferPointer(start: memory + start, count: piece.size)
  }

  deinit { unsafe image_bytes_free(memory) }

  /// Lends some of the bytes for the call's duration.
  func withBytes<Result, Failure>(
    _ range: Range<Int>, _ body: (Span<UInt8>) throws(Failure) -> Result
  ) throws(Failure) -> Result { try body(unsafe bytes.span.extracting(range)) }

  /// Lends a text that was copied.
  func withText<Result>(_ text: image_text, _ body: (Span<UInt8>) -> Result) -> Result {
    withBytes(piece.place(of: image_piece(offset: text.offset, size: Int(text.size))), body)
  }
}

extension image_piece {
  /// Returns the range of a piece inside this one, which holds it; empty for an empty piece.
  func place(of piece: image_piece) -> Range<Int> {
    piece.size == 0 ? 0..<0 : piece.offset - offset..<piece.offset - offset + piece.size
  }
}

extension image_text {
  /// The status: that there is a text, or why there is none.
  var kind: image_text_status { image_text_status(status) }
}
