internal import BinaryImage

/// What keeps one image mapped while something of it is in use. Lives under the Hive's lock.
///
/// A call uses it while it runs. An entry keeps it from the first time that something of it was handed
/// out, or its module was made, until the entry leaves, the module ends or the Hive stops.
final class ImageHold: @unchecked Sendable {
  // Sound: the variables are read and written under the lock of the Hive; the rest is immutable.

  let image: MappedImage.ID
  let reference: ImageReference
  /// How many calls are under way.
  var callCount = 0
  /// The entries that keep it, by their order.
  var keepers: Set<UInt64> = []

  init(_ image: MappedImage.ID, _ reference: ImageReference) {
    self.image = image
    self.reference = reference
  }

  var isIdle: Bool { callCount == 0 && keepers.isEmpty }
}

/// The entries of C that something was handed out of. Lives under the Hive's lock.
struct HandedOut {
  private struct Element {
    let entry: RegisteredEntry
    let number: Int
    /// What its factory made, and how often each was handed out and not given back.
    var objects: [RuntimeAddress: Int] = [:]

    mutating func add(_ object: RuntimeAddress?) {
      if let object { objects[object, default: 0] += 1 }
    }
  }

  private var entries: [UInt64: Element] = [:]
  private var count = 0
  /// Changes whenever everything is taken back: what was made before must not be handed out after it.
  private(set) var turn = 0

  /// Something of the entry has been handed out, unless everything was taken back since `turn`; returns
  /// whether it was.
  mutating func add(_ entry: RegisteredEntry, _ object: RuntimeAddress?, at turn: Int) -> Bool {
    guard turn == self.turn, !entry.isWithdrawn else { return false }
    count += 1
    entries[entry.order, default: Element(entry: entry, number: count)].add(object)
    return true
  }

  func contains(_ entry: RegisteredEntry) -> Bool { entries[entry.order] != nil }

  /// An object has come back; returns how often it is still out, nil where the entry did not hand it out.
  mutating func giveBack(_ object: RuntimeAddress, to entry: RegisteredEntry) -> Int? {
    guard let count = entries[entry.order]?.objects[object] else { return nil }
    entries[entry.order]?.objects[object] = count > 1 ? count - 1 : nil
    if entries[entry.order]?.objects.isEmpty == true { remove(entry) }
    return count - 1
  }

  mutating func remove(_ entry: RegisteredEntry) { entries[entry.order] = nil }

  /// The entries, the last to be handed out first; what was made until now is handed out no more.
  mutating func beginTakingBack() -> [RegisteredEntry] {
    turn += 1
    return entries.values.sorted { $0.number > $1.number }.map(\.entry)
  }
}
