internal import BinaryImage
internal import LibC

/// Keeps one image mapped while it is in use. Lives under the Hive's lock.
///
/// A call into the image uses it while the call runs. An entry uses it from the first time that one of its
/// services was handed out, or its module was made, until the entry is removed, the module ends or the Hive
/// stops.
final class ImageHold: @unchecked Sendable {
  // Sound: the variables are read and written under the lock of the Hive; the rest is immutable.

  let image: MappedImage.ID
  let reference: ImageReference
  /// The number of calls that are running.
  var callCount = 0
  /// The entries that keep it, by their order.
  var keepers: Set<UInt64> = []

  init(_ image: MappedImage.ID, _ reference: ImageReference) {
    self.image = image
    self.reference = reference
  }

  var isIdle: Bool { callCount == 0 && keepers.isEmpty }
}

/// One call of an image, from before its image is held until after that is let go.
///
/// Known by where the image is: a reference to one may turn out to be one to another, which has taken its place.
struct Visit: Equatable {
  let bias: LoadBias
  let thread = pthread_self()
}

/// The C entries whose services are in use. Lives under the Hive's lock.
struct HandedOut {
  private struct Element {
    let entry: RegisteredEntry
    let number: Int
    /// The objects its factory made, each with the number of times it was handed out and not given back.
    var objects: [RuntimeAddress: Int] = [:]

    mutating func add(_ object: RuntimeAddress?) {
      if let object { objects[object, default: 0] += 1 }
    }
  }

  private var entries: [UInt64: Element] = [:]
  private var count = 0
  /// Changes whenever everything is taken back: objects that were made before are not handed out afterwards.
  private(set) var turn = 0

  /// Records that a service of the entry is handed out. Returns false where everything was taken back since
  /// `turn`, or the entry was removed.
  mutating func add(_ entry: RegisteredEntry, _ object: RuntimeAddress?, at turn: Int) -> Bool {
    guard turn == self.turn, !entry.isWithdrawn else { return false }
    count += 1
    entries[entry.order, default: Element(entry: entry, number: count)].add(object)
    return true
  }

  func contains(_ entry: RegisteredEntry) -> Bool { entries[entry.order] != nil }

  /// Records that an object was given back. Returns how many times it is still handed out; nil where the
  /// entry did not hand it out.
  mutating func giveBack(_ object: RuntimeAddress, to entry: RegisteredEntry) -> Int? {
    guard let count = entries[entry.order]?.objects[object] else { return nil }
    entries[entry.order]?.objects[object] = count > 1 ? count - 1 : nil
    if entries[entry.order]?.objects.isEmpty == true { remove(entry) }
    return count - 1
  }

  mutating func remove(_ entry: RegisteredEntry) { entries[entry.order] = nil }

  /// Returns the entries, the one that was handed out last first. Objects made until now are not handed out
  /// any more.
  mutating func beginTakingBack() -> [RegisteredEntry] {
    turn += 1
    return entries.values.sorted { $0.number > $1.number }.map(\.entry)
  }
}
