internal import BinaryImage
internal import Registration

/// What an image declares, on its way into an `EntryTable`.
struct ArrivingEntries {
  /// All as they were read.
  let records: LoadedRecords
  /// Where the image begins in the order of registration; its entries keep their own.
  let firstOrder: UInt64
  /// Those that are not plain, malformed ones last.
  let made: [RegisteredEntry]
  /// How many are plain.
  let plainCount: Int

  /// How many entries there are.
  var count: Int { plainCount + made.count }

  /// Makes what is not plain: asks accessors, so no lock is held.
  init(_ records: LoadedRecords, binding: Binding) {
    self.records = records
    let views = records.views
    let first = Hive.nextOrder(count: views.count + records.rejections.count)
    firstOrder = first
    let checked = views.enumerated().compactMap { position, view in
      view.isPlain || view.kind.isThirdParty
        ? nil
        : RegisteredEntry(view, of: records, order: first + UInt64(position), binding: binding)
    }
    let rejected = records.rejections.enumerated().map { number, rejection in
      RegisteredEntry(rejection, order: first + UInt64(views.count + number), in: records.image)
    }
    made = checked + rejected
    plainCount = views.count { $0.isPlain }
  }

  /// Every entry, in order. Those that are plain are made for the caller alone.
  var all: [RegisteredEntry] {
    let plain = records.views.enumerated().compactMap { position, view in
      view.isPlain
        ? RegisteredEntry(
          view, of: records, order: firstOrder + UInt64(position), binding: .nothing) : nil
    }
    return (plain + made).sorted { $0.order < $1.order }
  }
}
