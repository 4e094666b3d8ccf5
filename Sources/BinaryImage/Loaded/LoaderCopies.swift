internal import CImageList

/// What one walk of the loader's list copied, as the C side left it.
@safe struct LoaderCopies: ~Copyable {
  // Sound: owns its memory until deinit; every piece in it lies inside its bytes.
  private var copies = unsafe image_copies()
  /// Where each plan's ranges begin among the copied ones.
  private var firstRanges: [Int] = []

  /// Walks the loader's list; nil where memory runs out.
  init?(of plans: [CopyPlan]) {
    var requests: [image_request] = []
    var wanted: [image_wanted] = []
    requests.reserveCapacity(plans.count)
    firstRanges.reserveCapacity(plans.count)
    for plan in plans {
      firstRanges.append(wanted.count)
      requests.append(
        image_request(
          bias: plan.entry.bias, header: plan.entry.header,
          program_headers: plan.entry.program_headers, first_range: wanted.count,
          range_count: plan.wanted.count))
      for range in plan.wanted {
        wanted.append(
          image_wanted(
            range: image_range(start: range.start, stop: range.stop),
            holds_pointers: range.name != SectionNote.names[2]))
      }
    }
    guard unsafe image_list_copy(requests, requests.count, wanted, wanted.count, &copies)
    else { return nil }
  }

  deinit {
    var copies = unsafe copies
    unsafe image_copies_free(&copies)
  }

  /// What became of the image of plan `index`; nil if its file is another one than was believed.
  func answer(_ index: Int, _ plan: CopyPlan) -> ImageList.Copy? {
    // Sound: there is one answer per request, and one range per wanted one.
    let copy = unsafe copies.images[index]
    guard copy.present else { return .gone }
    let header = unsafe bytes(copy.header)
    let programHeaders = unsafe bytes(copy.program_headers)
    guard unsafe plan.agrees(header: header.span, programHeaders: programHeaders.span)
    else { return nil }
    var contents = ContentsBuilder()
    for number in plan.wanted.indices {
      let range = unsafe copies.ranges[firstRanges[index] + number]
      guard range.readable else {
        return .failed(
          plan.error(
            .outOfImage, section: plan.wanted[number].name,
            "The section is not in readable file contents."))
      }
      append(range, plan.wanted[number], bias: plan.mapped.bias, to: &contents)
    }
    let identity = unsafe ImageIdentity(
      of: plan.mapped, header: header.span, programHeaders: programHeaders.span)
    return .image(
      LoadedImage(
        identity: identity, mapped: plan.mapped, evidence: plan.evidence,
        carriesSwift: copy.carries_swift, place: copy.place, contents: contents.finish()))
  }

  private func append(
    _ range: image_copied, _ wanted: CopyPlan.Wanted, bias: LoadBias,
    to contents: inout ContentsBuilder
  ) {
    contents.append(
      name: wanted.name,
      address: bias.virtualAddress(of: RuntimeAddress(rawValue: wanted.start)),
      flags: range.writable ? "WA" : "A", bytes: unsafe bytes(range.bytes).span)
    for number in 0..<range.text_count {
      // Sound: the texts of a range follow one another.
      let text = unsafe copies.texts[range.first_text + number]
      let piece = image_piece(offset: text.offset, size: Int(text.size))
      contents.append(text, bytes: unsafe bytes(piece).span)
    }
  }

  /// The bytes of a piece, valid as long as the copies are.
  private func bytes(_ piece: image_piece) -> UnsafeBufferPointer<UInt8> {
    unsafe UnsafeBufferPointer(start: copies.bytes + piece.offset, count: piece.size)
  }
}

/// Gathers what was copied of one image.
private struct ContentsBuilder {
  private var parts: [Contents.Part] = []
  private var bytes: [UInt8] = []
  private var texts: [Contents.Text] = []
  private var isSettled = true

  mutating func append(
    name: String, address: VirtualAddress, flags: String, bytes new: Span<UInt8>
  ) {
    let section = Section(
      index: parts.count, name: name, address: address, offset: nil, size: UInt64(new.count),
      flags: flags)
    parts.append(Contents.Part(section: section, bytes: append(new)))
    if name == SectionNote.names[2] { isSettled = false }
  }

  mutating func append(_ text: image_text, bytes new: Span<UInt8>) {
    let state: Contents.Text.State
    switch image_text_status(text.status) {
    case IMAGE_TEXT_COPIED: state = .copied(append(new))
    case IMAGE_TEXT_UNTERMINATED: state = .unterminated
    case IMAGE_TEXT_OVER_BUDGET: state = .overBudget
    default:
      state = .outside
      isSettled = false
    }
    texts.append(Contents.Text(address: text.address, state: state))
  }

  private mutating func append(_ new: Span<UInt8>) -> Range<Int> {
    let start = bytes.count
    // Sound: the buffer is only used inside the call.
    unsafe new.withUnsafeBufferPointer { unsafe bytes.append(contentsOf: $0) }
    return start..<bytes.count
  }

  func finish() -> Contents {
    parts.isEmpty
      ? .none : Contents(parts: parts, bytes: bytes, texts: texts, isSettled: isSettled)
  }
}
