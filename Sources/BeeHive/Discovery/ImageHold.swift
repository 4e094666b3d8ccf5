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
  private var entries: [UInt64: (entry: RegisteredEntry, number: Int)] = [:]
  private var count = 0
  /// Changes whenever everything is taken back: what was made before must not be handed out after it.
  private(set) var turn = 0

  /// Something of the entry has been handed out, unless everything was taken back since `turn`; returns
  /// whether it was.
  mutating func add(_ entry: RegisteredEntry, at turn: Int) -> Bool {
    guard turn == self.turn, !entry.isWithdrawn else { return false }
    if entries[entry.order] == nil {
      count += 1
      entries[entry.order] = (entry, count)
    }
    return true
  }

  func contains(_ entry: RegisteredEntry) -> Bool { entries[entry.order] != nil }

  mutating func remove(_ entry: RegisteredEntry) { entries[entry.order] = nil }

  /// Takes everything back. Returns the entries, the last to be handed out first.
  mutating func removeAll() -> [RegisteredEntry] {
    turn += 1
    defer { entries = [:] }
    return entries.values.sorted { $0.number > $1.number }.map(\.entry)
  }
}
