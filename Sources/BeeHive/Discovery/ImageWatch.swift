internal import BinaryImage
internal import CBeeHive
internal import CImageEvents

/// Which images a Hive has yet to take in: the loader's list, and what announced itself.
///
/// Lives under a lock of its own, which is held while the loader's list is walked and files without a
/// note are read, but never across `dlopen`, a constructor, an accessor or any other foreign code.
/// An image stays on the list of unmerged ones until a thread has merged it: a second thread that
/// comes meanwhile takes it in as well rather than wait, because the first may be waiting for a
/// constructor that the second is in.
struct ImageWatch: ~Copyable {
  private var list = ImageList()
  private var unmerged: Set<MappedImage.ID> = []
  private var announced: Set<RuntimeAddress> = []
  /// Images that have announced themselves: what takes such a one's place, built of the same parts,
  /// announces itself too.
  private var announcing: Set<MappedImage.ID> = []
  /// How many looks there were that copied images.
  private var looks = 0

  /// An image as it was at one look.
  struct Snapshot: Sendable {
    let image: LoadedImage
    /// The number of the look: of two snapshots of one image the later one holds.
    let look: Int
    /// Whether what was taken in at an earlier look may be of another image, which stood in the same
    /// place and looks the same in the list.
    let mayBeAnother: Bool
    /// Whether the image announces that it comes and goes.
    let announces: Bool
  }

  /// What one look at the loader's list found.
  struct Found: Sendable {
    /// Images to take in, in the loader's order; then those to compare with what is known of them.
    /// Another may stand in the place of such a one: it has announced itself there, or something was
    /// unmapped and images that announce nothing may be new.
    var images: [Snapshot] = []
    /// Images whose sections cannot be found, and why.
    var failures: [(id: MappedImage.ID, error: ImageError)] = []
    /// Images that were read and have something wrong with them as a whole.
    var remarks: [(id: MappedImage.ID, error: ImageError)] = []
    /// Images that are gone.
    var removed: [MappedImage.ID] = []
    /// Those of `images` that may not be relocated yet.
    var unsettled: [LoadedImage] = []
  }

  /// Whether the loader has mapped or unmapped anything since the last look.
  var isStale: Bool {
    guard unmerged.isEmpty, let now = ImageList.probe() else { return true }
    return now != list.counters
  }

  /// Walks the loader's list. `isSuspect` says which known images may really go.
  mutating func look(isSuspect: (MappedImage.ID) -> Bool) throws(ImageError) -> Found {
    takeAnnouncements()
    let changes = try list.update()
    var found = Found(removed: changes.removed)
    for position in changes.added { unmerged.insert(list.id(at: position)) }
    unmerged.subtract(changes.removed)
    announcing.subtract(changes.removed)
    let suspects = suspects(mayBeSilent: changes.mayHideReplacements, isSuspect: isSuspect)
    // Another thread may be taking in what it has copied of an image that is gone by now.
    copy(unmerged.sorted(), into: &found, mayBeOthers: changes.mayHideReplacements)
    for case .image(let image) in list.copy(suspects) {
      let isAnnounced = image.mapped.header.map { announced.contains($0) } ?? false
      found.images.append(
        Snapshot(
          image: image, look: looks, mayBeAnother: true,
          announces: isAnnounced || announcing.contains(image.mapped.id)))
    }
    return found
  }

  /// The positions of merged images that may be others than before.
  private borrowing func suspects(
    mayBeSilent: Bool, isSuspect: (MappedImage.ID) -> Bool
  ) -> [Int] {
    // Usually what has announced itself is what is new.
    let new = unmerged.compactMap { list.position(of: $0).flatMap { list.header(at: $0) } }
    guard mayBeSilent || !announced.isSubset(of: new) else { return [] }
    return (0..<list.count).filter { position in
      let id = list.id(at: position)
      let isAnnounced = list.header(at: position).map { announced.contains($0) } ?? false
      guard isAnnounced || (mayBeSilent && !announcing.contains(id)) else { return false }
      return !unmerged.contains(id) && isSuspect(id)
    }
  }

  /// Copies images again that were not relocated at the first look.
  mutating func lookAgain(at ids: [MappedImage.ID]) -> Found {
    var found = Found()
    copy(ids, into: &found, mayBeOthers: true)
    found.unsettled = []
    return found
  }

  /// These images have been merged.
  mutating func merged(_ ids: some Sequence<MappedImage.ID>) {
    for id in ids { unmerged.remove(id) }
    if unmerged.isEmpty { announced.removeAll() }
  }

  private mutating func copy(
    _ ids: [MappedImage.ID], into found: inout Found, mayBeOthers: Bool
  ) {
    looks += 1
    let positions = ids.compactMap { list.position(of: $0) }
    // Asked before anything is copied: what is relocated afterwards may have been copied too soon.
    let relocated = positions.map { list.isRelocated($0) }
    for (index, copy) in list.copy(positions).enumerated() {
      let mapped = list[positions[index]]
      if mapped.carriesRuntime, mapped.bias != ImageList.home {
        found.remarks.append((mapped.id, .secondRuntime(in: mapped)))
      }
      switch copy {
      case .image(let image):
        // What has called the hook from its constructor is relocated.
        let isAnnounced = mapped.header.map { announced.contains($0) } ?? false
        if isAnnounced { announcing.insert(mapped.id) }
        found.images.append(
          Snapshot(
            image: image, look: looks, mayBeAnother: mayBeOthers,
            announces: announcing.contains(mapped.id)))
        if !relocated[index], !isAnnounced, !image.isSettled { found.unsettled.append(image) }
      case .failed(let error): found.failures.append((mapped.id, error))
      // It stays unmerged: the next look finds it gone from the list, or finds one in its place that
      // the list cannot tell from it.
      case .gone: break
      }
    }
  }

  private mutating func takeAnnouncements() {
    let capacity = 64
    var arrivals = unsafe [image_arrival](repeating: image_arrival(), count: capacity)
    while true {
      let count = unsafe image_events_take(&arrivals, capacity)
      for index in 0..<count {
        let header = unsafe UInt(bitPattern: arrivals[index].header)
        announced.insert(RuntimeAddress(rawValue: header))
      }
      if count < capacity { return }
    }
  }
}

extension ImageError {
  /// An image that has a runtime in it which is not this one.
  fileprivate static func secondRuntime(in image: MappedImage) -> ImageError {
    ImageError(
      .secondRuntime, image: image.name,
      message: "A second BeeHive runtime is in this image. What its code registers or resolves is "
        + "not in this Hive; link it against the one libBeeHive.so instead.")
  }
}
