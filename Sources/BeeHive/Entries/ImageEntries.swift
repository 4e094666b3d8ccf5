internal import BinaryImage
internal import Registration

/// What an image declares, on its way into an `EntryTable`.
struct ImageEntries {
  /// All as they were read.
  let outline: Outline
  /// Where the image begins in the order of registration; its entries keep their own.
  let firstOrder: UInt64
  /// Those that are not plain, malformed ones last.
  let made: [RegisteredEntry]
  /// How many entries there are.
  let count: Int

  /// Makes what is not plain: asks accessors, so no lock is held.
  init(_ outline: Outline, binding: Binding) {
    self.outline = outline
    let views = outline.views
    let first = Hive.nextOrder(count: views.count + outline.rejections.count)
    firstOrder = first
    let checked = views.enumerated().compactMap { position, view in
      view.isPlain || view.kind.isThirdParty
        ? nil
        : RegisteredEntry(view, of: outline, order: first + UInt64(position), binding: binding)
    }
    let rejected = outline.rejections.enumerated().map { number, rejection in
      RegisteredEntry(rejection, order: first + UInt64(views.count + number), in: outline.image)
    }
    made = checked + rejected
    count = views.count { $0.isPlain } + made.count
  }

  /// Every entry, in order. Those that are plain are made for the caller alone.
  var all: [RegisteredEntry] {
    let plain = outline.views.enumerated().compactMap { position, view in
      view.isPlain
        ? RegisteredEntry(
          view, of: outline, order: firstOrder + UInt64(position), binding: .nothing) : nil
    }
    return (plain + made).sorted { $0.order < $1.order }
  }
}
