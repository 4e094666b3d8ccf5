package import BinaryImage
internal import LibC

/// The states of entries in the Hive of another process.
///
/// C: the state record of `CSupport/RecordLayout.md`.
package struct EntryStates: Sendable {
  /// The state of one entry, the stable code of what keeps it from being bound, and the reason with remedy.
  package typealias Entry = (state: State, code: String?, reason: String?)

  /// The states of an entry, in the order of their numbers in the record, from 1.
  package enum State: String, Sendable, CaseIterable {
    /// Something can make it. The code of a module, if there is one, says how far it is.
    case bound
    /// Well formed and known by name, but nothing can make it yet, or nothing has needed it.
    case accepted
    /// Malformed, a duplicate, or named after a type that cannot serve.
    case rejected
    /// Removed by the process.
    case withdrawn
  }

  /// The states by the bias of the image, the number of the section and the index of the entry.
  var entries: [UInt64: [UInt16: [UInt32: Entry]]] = [:]
  /// The biases of the images that the Hive has taken in.
  var images: Set<UInt64> = []
  /// Whether the process had no memory for some of the states.
  var isIncomplete = false

  /// The state of the entry at `index` of a section; nil if the process does not say.
  package subscript(
    index: Int, in section: String, of image: RemoteImage, isModule isModule: Bool
  ) -> Entry? {
    guard let section = SectionNote.names.firstIndex(of: section), images.contains(image.bias),
      let index = UInt32(exactly: index)
    else { return nil }
    let entry = entries[image.bias]?[UInt16(section)]?[index]
    if let entry, entry.state != .accepted || entry.code != nil { return entry }
    if isIncomplete, entry == nil { return nil }
    // The image was taken in and the entry has no reason or no cell, so nothing has needed it.
    return (.accepted, nil, isModule ? "no start has come to it yet" : "it was not asked for yet")
  }
}

/// The state record of a process that goes on meanwhile.
///
/// Bytes that are copied between two reads of the same even sequence number are of one moment. Nothing else is trusted:
/// sizes are bounded before anything is allocated.
extension RemoteImage {
  /// More cells, longer cells, and more bytes of reasons than any process has.
  private static let (mostCells, mostCellSize, mostText) = (1 << 18, 256, 1 << 24)

  /// Whether this image has a runtime, used or not.
  package var carriesRuntime: Bool { (try? stateRecord()) ?? nil != nil }

  /// Returns the states of all entries of the process that the runtime in this image keeps. Returns nil if the image
  /// has no runtime, an older one, or one that was not used yet.
  ///
  /// Throws if the record is malformed, or changes all the time.
  package func entryStates() throws(ImageError) -> EntryStates? {
    guard let address = try stateRecord() else { return nil }
    for attempt in 0..<20 {
      // The record was changing.
      if attempt > 0 { usleep(2000) }
      let head = try bytes(at: address, count: 32)
      let (size, sequence) = (number(head.span, at: 0), number(head.span, at: 8))
      if size == 0, sequence == 0 { return nil }
      guard sequence % 2 == 0 else { continue }
      let copy = Result { () throws(ImageError) in try entryStates(head.span) }
      // A copy that was made while the record changed may say anything.
      if try bytes(at: address, count: 32) == head { return try copy.get() }
    }
    throw mapping.error(
      .unreadable,
      "The states of the entries in its Hive changed during each reading; try again.")
  }

  /// Reads the cells. The head has its size, version, sequence number and flags. Then follow the size of a cell, the
  /// number of cells, and their address.
  private func entryStates(_ head: Span<UInt8>) throws(ImageError) -> EntryStates {
    let version = number(head, at: 4)
    try mapping.check(
      version == 1, .unsupported,
      "Its state record is of version \(version); use a newer section-dump.")
    let (size, count) = (Int(number(head, at: 16)), Int(number(head, at: 20)))
    try mapping.check(
      number(head, at: 0) >= head.count && count <= Self.mostCells
        && (32...Self.mostCellSize).contains(size), .malformed,
      "Its state record claims \(count) cells of \(size) bytes.")
    let cells = try bytes(at: address(head, at: 24), count: count * size)
    var states = EntryStates()
    states.isIncomplete = number(head, at: 12) & 1 != 0
    var textLeft = Self.mostText
    for start in stride(from: 0, to: cells.count, by: size) {
      try read(cells.span.extracting(start..<start + size), into: &states, &textLeft)
    }
    return states
  }

  private func read(
    _ cell: Span<UInt8>, into states: inout EntryStates, _ textLeft: inout Int
  ) throws(ImageError) {
    let bias = address(cell, at: 0)
    let section: UInt16 = cell.integer(at: 28, order: identity.byteOrder) ?? 0
    let state: UInt16 = cell.integer(at: 30, order: identity.byteOrder) ?? 0
    // 0 is an empty cell, and 5 an image that was taken in. The numbers between them are states of entries.
    switch Int(state) {
    case 0: break
    case 1...EntryStates.State.allCases.count:
      let (code, reason) = try reason(
        at: address(cell, at: 8), size: number(cell, at: 16), &textLeft)
      states.entries[bias, default: [:]][section, default: [:]][number(cell, at: 20)] = (
        EntryStates.State.allCases[Int(state) - 1], code, reason
      )
    case 5: states.images.insert(bias)
    default:
      throw mapping.error(.malformed, "Its state record has a cell of the unknown state \(state).")
    }
  }

  /// Reads the code and the sentence, each with its NUL. Longer texts are cut off.
  private func reason(
    at address: UInt64, size: UInt32, _ left: inout Int
  ) throws(ImageError) -> (String?, String?) {
    guard address != 0 else { return (nil, nil) }
    let count = min(Int(size), 4096)
    left -= count
    try mapping.check(
      left >= 0, .malformed, "The reasons in its state record exceed \(Self.mostText >> 20) MiB.")
    let texts = try bytes(at: address, count: count)
      .split(separator: 0, maxSplits: 1, omittingEmptySubsequences: false)
    let sentence = texts.count > 1 ? texts[1].prefix { $0 != 0 } : []
    return (String(decoding: texts[0], as: UTF8.self), String(decoding: sentence, as: UTF8.self))
  }

  private func number(_ bytes: Span<UInt8>, at offset: Int) -> UInt32 {
    bytes.integer(at: offset, order: identity.byteOrder) ?? 0
  }

  private func address(_ bytes: Span<UInt8>, at offset: Int) -> UInt64 {
    bytes.integer(at: offset, order: identity.byteOrder) ?? 0
  }
}
