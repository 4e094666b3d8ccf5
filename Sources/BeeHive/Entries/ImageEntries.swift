internal import BinaryImage
internal import Registration

/// What an image declares, on its way into an `EntryTable`.
struct ImageEntries {
  /// The plain ones, and all as they were read.
  let outline: Outline
  /// Where the image begins in the order of registration; its entries keep their own.
  let firstOrder: UInt64
  /// All others, malformed ones last.
  let made: [RegisteredEntry]

  /// Makes what is not plain: asks accessors, so no lock is held.
  init(_ outline: Outline, binding: Binding) {
    self.outline = outline
    let others = outline.others
    firstOrder = Hive.nextOrder(count: outline.count + others.rejections.count)
    var made: [RegisteredEntry] = []
    made.reserveCapacity(others.records.count + others.rejections.count)
    for (record, position) in zip(others.records, outline.otherPositions)
    where !record.kind.isThirdParty {
      made.append(
        RegisteredEntry(
          record, order: firstOrder + UInt64(position), in: outline.image, binding: binding))
    }
    for (number, rejection) in others.rejections.enumerated() {
      let order = firstOrder + UInt64(outline.count + number)
      made.append(RegisteredEntry(rejection, order: order, in: outline.image))
    }
    self.made = made
  }

  /// How many entries there are.
  var count: Int { outline.plain.count + made.count }

  /// Every entry, in order. Those that are plain are made for the caller alone.
  var all: [RegisteredEntry] {
    let plain = outline.plain.map { RegisteredEntry($0, of: outline, firstOrder: firstOrder) }
    return (plain + made).sorted { $0.order < $1.order }
  }
}
