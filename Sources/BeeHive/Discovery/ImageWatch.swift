internal import BinaryImage
internal import CBeeHive
internal import CImageEvents

/// Which images a Hive still has to merge: the loader's list, and the images that announced themselves.
///
/// Has a lock of its own. It is held while the loader's list is walked and files without a note are read,
/// never across `dlopen`, a constructor, an accessor or other foreign code. An image stays unmerged until a
/// thread has merged it. A second thread that finds it meanwhile merges it too and does not wait, because
/// the first one may be waiting for a constructor that the second one runs in.
struct ImageWatch: ~Copyable {
  private var list = ImageList()
  private var unmerged: Set<MappedImage.ID> = []
  /// Merged images in whose place another may be: not compared yet, or by a thread that is on its way.
  private var suspected: Set<MappedImage.ID> = []
  /// Images that were unmapped and whose entries may still be there: another thread has found that, and is on its way.
  private var leaving: Set<MappedImage.ID> = []
  private var announced: Set<RuntimeAddress> = []
  /// The images that have announced themselves. An image that replaces one of them, built from the same
  /// sources, announces itself too.
  private var announcing: Set<MappedImage.ID> = []
  /// The number of snapshots taken so far.
  private var looks = 0

  /// A copy of an image, and when it was made.
  struct Snapshot: Sendable {
    let image: LoadedImage
    /// The generation: of two snapshots of one image the later one is true.
    let look: Int
    /// Whether what was merged before may belong to another image, which was mapped at the same address
    /// and is listed in the same way.
    let mayBeAnother: Bool
    /// Whether the image announces that it is mapped and unmapped.
    let announces: Bool
  }

  /// What one walk of the loader's list found.
  struct Found: Sendable {
    /// Images to merge, in the loader's order; then images to compare with what is known of them: another
    /// image may have replaced such a one, since something announced itself at its address, or since
    /// something was unmapped and the image announces nothing.
    var images: [Snapshot] = []
    /// Images whose sections cannot be found, and why.
    var failures: [(id: MappedImage.ID, error: ImageError)] = []
    /// Images that were read and are wrong as a whole.
    var remarks: [(id: MappedImage.ID, error: ImageError)] = []
    /// Images that were unmapped.
    var removed: [MappedImage.ID] = []
    /// Those of `images` that may not be relocated yet.
    var unsettled: [LoadedImage] = []
    /// What the loader had mapped and unmapped before `images` were copied; nil where it does not count.
    var counters: ImageList.Counters?
  }

  /// Whether the loader has mapped or unmapped an image since the last walk.
  var isStale: Bool {
    guard unmerged.isEmpty, suspected.isEmpty, leaving.isEmpty, let now = ImageList.probe() else {
      return true
    }
    return now != list.counters
  }

  /// Walks the loader's list. `isSuspect` returns whether a known image may have been replaced.
  mutating func look(isSuspect: (MappedImage.ID) -> Bool) throws(ImageError) -> Found {
    takeAnnouncements()
    let changes = try list.update()
    leaving.formUnion(changes.removed)
    var found = Found(removed: leaving.sorted(), counters: list.counters)
    for position in changes.added { unmerged.insert(list.id(at: position)) }
    unmerged.subtract(changes.removed)
    announcing.subtract(changes.removed)
    suspected.formUnion(
      suspects(mayBeSilent: changes.mayHideReplacements, isSuspect: isSuspect))
    suspected.subtract(changes.removed)
    // Another thread may still merge its copy of an image that is unmapped by now.
    copy(unmerged.sorted(), into: &found, mayBeOthers: changes.mayHideReplacements)
    copy(suspected.sorted(), into: &found, mayBeOthers: true)
    return found
  }

  /// The merged images that may have been replaced.
  private borrowing func suspects(
    mayBeSilent: Bool, isSuspect: (MappedImage.ID) -> Bool
  ) -> [MappedImage.ID] {
    // Usually the images that announced themselves are the new ones.
    let new = unmerged.compactMap { list.position(of: $0).flatMap { list.header(at: $0) } }
    guard mayBeSilent || !announced.isSubset(of: new) else { return [] }
    return (0..<list.count).compactMap { position in
      let id = list.id(at: position)
      let isAnnounced = list.header(at: position).map { announced.contains($0) } ?? false
      guard isAnnounced || (mayBeSilent && !announcing.contains(id)) else { return nil }
      return !unmerged.contains(id) && isSuspect(id) ? id : nil
    }
  }

  /// Copies images again that were not relocated when they were first copied.
  mutating func lookAgain(at ids: [MappedImage.ID]) -> Found {
    var found = Found()
    copy(ids, into: &found, mayBeOthers: true)
    if ImageList.tellsRelocation {
      // Another has taken the place of one; the next look finds it.
      let early = Set(found.unsettled.map(\.mapped.id))
      found.images.removeAll { early.contains($0.image.mapped.id) }
    }
    found.unsettled = []
    return found
  }

  /// Records that these images are merged, and what else was found, so that what was removed is withdrawn.
  mutating func merged(_ ids: [MappedImage.ID], of found: Found) {
    let merged = ids + found.failures.map(\.id)
    unmerged.subtract(merged)
    suspected.subtract(merged)
    leaving.subtract(found.removed)
    if unmerged.isEmpty { announced.removeAll() }
  }

  private mutating func copy(
    _ ids: [MappedImage.ID], into found: inout Found, mayBeOthers: Bool
  ) {
    looks += 1
    let positions = ids.compactMap { list.position(of: $0) }
    for (position, copy) in zip(positions, list.copy(positions)) {
      let mapped = list[position]
      if mapped.carriesRuntime, mapped.bias != ImageList.home {
        found.remarks.append((mapped.id, .secondRuntime(in: mapped.name)))
      }
      switch copy {
      case .image(let image):
        let isAnnounced = mapped.header.map { announced.contains($0) } ?? false
        if isAnnounced { announcing.insert(mapped.id) }
        found.images.append(
          Snapshot(
            image: image, look: looks, mayBeAnother: mayBeOthers,
            announces: announcing.contains(mapped.id)))
        // One whose constructor has called the hook is relocated, if it has not taken the place of another.
        let isRelocated = image.isRelocated || (isAnnounced && !ImageList.tellsRelocation)
        if !isRelocated, !image.isSettled { found.unsettled.append(image) }
      case .failed(let error): found.failures.append((mapped.id, error))
      // It stays unmerged: the next walk finds that it is no longer listed, or finds an image in its place
      // that the list cannot tell from it.
      case .gone: break
      }
    }
  }

  private mutating func takeAnnouncements() {
    let capacity = 64
    var headers = unsafe [UnsafeRawPointer?](repeating: nil, count: capacity)
    while true {
      let count = unsafe image_events_take(&headers, capacity)
      for index in 0..<count {
        announced.insert(RuntimeAddress(rawValue: unsafe UInt(bitPattern: headers[index])))
      }
      if count < capacity { return }
    }
  }
}
