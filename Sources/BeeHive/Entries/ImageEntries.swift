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
    let viewCount = outline.views.count
    firstOrder = Hive.nextOrder(count: viewCount + outline.rejections.count)
    var made: [RegisteredEntry] = []
    var plainCount = 0
    for (position, view) in outline.views.enumerated() {
      if view.isPlain {
        plainCount += 1
      } else if !view.kind.isThirdParty {
        made.append(
          RegisteredEntry(
            view, of: outline, order: firstOrder + UInt64(position), binding: binding))
      }
    }
    for (number, rejection) in outline.rejections.enumerated() {
      let order = firstOrder + UInt64(viewCount + number)
      made.append(RegisteredEntry(rejection, order: order, in: outline.image))
    }
    self.made = made
    count = plainCount + made.count
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
