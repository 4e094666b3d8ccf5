package import BinaryImage
internal import LibC

/// The states of entries in the Hive of another process.
///
/// C: the state record of `CSupport/RecordLayout.md`.
package struct EntryStates: Sendable {
  /// The state of one entry.
  package struct Entry: Hashable, Sendable {
    /// The state.
    package var state: State
    /// The stable code of what keeps it from being bound.
    package var code: String?
    /// The reason that it is not bound, with a remedy.
    package var reason: String?

    /// Of an image that was taken in, an entry that has no reason, or no cell: nothing has needed it.
    static func unmade(isModule: Bool) -> Self {
      let reason = isModule ? "no start has come to it yet" : "it was not asked for yet"
      return Self(state: .accepted, code: nil, reason: reason)
    }
  }

  /// The states of an entry, in the order of the numbers of the record, from 1.
  package enum State: String, Sendable, CaseIterable {
    /// Something can make it. A module with a code says by it how far it is.
    case bound
    /// Well formed and known by name, but nothing can make it yet, or nothing has needed it.
    case accepted
    /// Malformed, a duplicate, or named after a type that cannot serve.
    case rejected
    /// Taken out again by the process.
    case withdrawn
  }

  /// The location of an entry.
  struct Place: Hashable {
    var bias: UInt64
    var section: UInt16
    var index: UInt32
  }

  var entries: [Place: Entry] = [:]
  /// The biases of the images that were taken in.
  var images: Set<UInt64> = []
  /// Whether the process had no memory for some of it.
  var isIncomplete = false

  /// The state of the entry at `index` of a section; nil if the process does not say.
  package subscript(
    index: Int, in section: String, of image: RemoteImage, isModule isModule: Bool
  ) -> Entry? {
    let bias = image.headers.bias
    guard let section = SectionNote.names.firstIndex(of: section), images.contains(bias),
      let index = UInt32(exactly: index)
    else { return nil }
    let place = Place(bias: bias, section: UInt16(section), index: index)
    if let entry = entries[place], entry.state != .accepted || entry.code != nil { return entry }
    return isIncomplete && entries[place] == nil ? nil : .unmade(isModule: isModule)
  }
}

extension RemoteImage {
  /// Whether a runtime is in this image, used or not.
  package var carriesRuntime: Bool { (try? headers.stateRecord()) ?? nil != nil }

  /// Returns the states of all entries of the process that the runtime in this image keeps; nil if it has none, or
  /// an older one, or one that was not used yet.
  ///
  /// Throws if the record cannot be true, or changes all the time.
  package func entryStates() throws(ImageError) -> EntryStates? {
    guard let address = try headers.stateRecord() else { return nil }
    let reader = StateRecordReader(
      memory: memory, address: address, order: identity.byteOrder, mapping: mapping)
    return try reader.states()
  }
}

/// Reads the state record of a process that goes on meanwhile.
///
/// What is copied between two looks at an even, equal sequence number is of one moment. Nothing else
/// that is there is believed: sizes are bounded before anything is allocated.
struct StateRecordReader {
  let memory: any RemoteMemory
  let address: UInt64
  let order: ImageIdentity.ByteOrder
  let mapping: RemoteMapping

  /// The descriptor of the note: the runtime's version of it, its image's header, the record.
  static let noteType: UInt32 = 0x4245_4503
  private static let version: UInt32 = 1
  private static let (headSize, cellSize) = (32, 32)
  /// More cells, longer cells, and more bytes of reasons than any process has.
  private static let (mostCells, mostCellSize, mostText) = (1 << 18, 256, 1 << 24)
  /// The most bytes of one reason; each is a code and a sentence.
  private static let longestText = 4096
  /// How often the record is looked at while it changes, and how long is waited in between.
  private static let (tries, pause) = (20, UInt32(2000))

  /// The record's fields.
  private struct Head: Equatable {
    var size, version, sequence, flags, cellSize, cellCount: UInt32
    var cells: UInt64
  }

  /// What the record says; nil where no Hive has begun with it.
  func states() throws(ImageError) -> EntryStates? {
    for attempt in 0..<Self.tries {
      if attempt > 0 { usleep(Self.pause) }
      let before = try head()
      if before.size == 0, before.sequence == 0 { return nil }
      guard before.sequence % 2 == 0 else { continue }
      let copy = Result { () throws(ImageError) in try states(before) }
      // A copy that was made while the record changed may say anything.
      if try head() == before { return try copy.get() }
    }
    throw mapping.error(
      .unreadable,
      "What its Hive made of the entries changed each time it was looked at; try again.")
  }

  private func head() throws(ImageError) -> Head {
    let bytes = try bytes(at: address, count: Self.headSize)
    let span = bytes.span
    func word(_ offset: Int) -> UInt32 { span.integer(at: offset, order: order) ?? 0 }
    return Head(
      size: word(0), version: word(4), sequence: word(8), flags: word(12), cellSize: word(16),
      cellCount: word(20), cells: span.integer(at: 24, order: order) ?? 0)
  }

  private func states(_ head: Head) throws(ImageError) -> EntryStates {
    try mapping.check(
      head.version == Self.version, .unsupported,
      "Its state record is of version \(head.version); use a newer section-dump.")
    let (count, size) = (Int(head.cellCount), Int(head.cellSize))
    try mapping.check(
      head.size >= Self.headSize && count <= Self.mostCells
        && (Self.cellSize...Self.mostCellSize).contains(size), .malformed,
      "Its state record claims \(count) cells of \(size) bytes.")
    let cells = try bytes(at: head.cells, count: count * size)
    var states = EntryStates()
    states.isIncomplete = head.flags & 1 != 0
    var textLeft = Self.mostText
    for start in stride(from: 0, to: cells.count, by: size) {
      try read(cells.span.extracting(start..<start + size), into: &states, &textLeft)
    }
    return states
  }

  private func read(
    _ cell: Span<UInt8>, into states: inout EntryStates, _ textLeft: inout Int
  ) throws(ImageError) {
    let bias: UInt64 = cell.integer(at: 0, order: order) ?? 0
    let section: UInt16 = cell.integer(at: 28, order: order) ?? 0
    let number: UInt16 = cell.integer(at: 30, order: order) ?? 0
    // 0 is an empty cell, 5 an image that was taken in; between them are the states of entries.
    if number == 0 { return }
    guard number != 5 else {
      states.images.insert(bias)
      return
    }
    try mapping.check(
      Int(number) <= EntryStates.State.allCases.count, .malformed,
      "Its state record has a cell of the unknown state \(number).")
    let state = EntryStates.State.allCases[Int(number) - 1]
    let place = EntryStates.Place(
      bias: bias, section: section, index: cell.integer(at: 20, order: order) ?? 0)
    let (code, reason) = try reason(
      at: cell.integer(at: 8, order: order) ?? 0, size: cell.integer(at: 16, order: order) ?? 0,
      &textLeft)
    states.entries[place] = EntryStates.Entry(state: state, code: code, reason: reason)
  }

  /// Code and sentence, each with its NUL.
  private func reason(
    at address: UInt64, size: UInt32, _ left: inout Int
  ) throws(ImageError) -> (String?, String?) {
    guard address != 0 else { return (nil, nil) }
    let count = min(Int(size), Self.longestText)
    left -= count
    try mapping.check(
      left >= 0, .malformed, "The reasons in its state record exceed \(Self.mostText >> 20) MiB.")
    let texts = try bytes(at: address, count: count)
      .split(separator: 0, maxSplits: 1, omittingEmptySubsequences: false)
    let sentence = texts.count > 1 ? texts[1].prefix { $0 != 0 } : []
    return (String(decoding: texts[0], as: UTF8.self), String(decoding: sentence, as: UTF8.self))
  }

  private func bytes(at address: UInt64, count: Int) throws(ImageError) -> [UInt8] {
    let bytes = try memory.read(at: address, count: count)
    try mapping.check(
      bytes.count == count, .truncated,
      "Of \(count) bytes of its state record at \(address.hexadecimal), "
        + "\(bytes.count) are there.")
    return bytes
  }
}
