internal import CImageList

/// What one walk of the loader's list copied, as the C side left it.
@safe struct LoaderCopies: ~Copyable {
  // Sound: owns its memory until deinit; every piece in it lies inside its bytes.
  private var copies = unsafe image_copies()
  /// Where each locator's ranges begin among the copied ones.
  private var firstRanges: [Int] = []

  /// Walks the loader's list; nil where memory runs out.
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

  /// What became of the image of locator `index`; nil if its file is another one than was believed.
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
        identity: identity, mapped: locator.mapped, evidence: locator.evidence,
        isRelocated: copy.relocated, place: copy.place, contents: contents))
  }

  /// The sections and texts of locator `index`, whose ranges are all readable; nil where memory runs out.
  /// After that nothing else is read where there is only one locator.
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

  /// The bytes of a piece, valid as long as the copies are.
  private func bytes(_ piece: image_piece) -> UnsafeBufferPointer<UInt8> {
    unsafe UnsafeBufferPointer(start: copies.bytes + piece.offset, count: piece.size)
  }
}
