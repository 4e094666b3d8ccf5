/// The entries that are made, in order of registration. Lives under the Hive's lock.
///
/// `remove` drops the table's reference at once. The caller releases the last one with no lock held, since that
/// may destroy an instance of the user's.
struct EntriesInOrder {
  /// Each entry knows its place; the empty ones are closed when they are half of all.
  private var places: [RegisteredEntry?] = []
  private var emptyCount = 0
  private var lastOrder: UInt64 = 0
  /// Whether an entry was made after others that had come later.
  private var isDisordered = false

  /// Every entry.
  var all: [RegisteredEntry] {
    mutating get {
      if isDisordered { close() }
      return places.compactMap(\.self)
    }
  }

  /// Takes in an entry that has just been made.
  mutating func append(_ entry: RegisteredEntry) {
    if entry.order < lastOrder { isDisordered = true } else { lastOrder = entry.order }
    entry.place = places.count
    places.append(entry)
  }

  /// Takes out an entry that is there.
  mutating func remove(_ entry: RegisteredEntry) {
    places[entry.place] = nil
    emptyCount += 1
    if emptyCount > 64, emptyCount * 2 > places.count { close() }
  }

  /// Closes the empty places, and restores the order. In the array that is there: a new one would have room
  /// for nothing more, and the next entry would move all of them.
  private mutating func close() {
    places.removeAll { $0 == nil }
    emptyCount = 0
    // None is empty any more.
    if isDisordered { places.sort { ($0?.order ?? 0) < ($1?.order ?? 0) } }
    isDisordered = false
    for (place, entry) in places.enumerated() { entry?.place = place }
  }
}
