internal import BinaryImage
internal import CImageEvents
internal import Threads

/// Which images a Hive still has to merge: the loader's list, and the images that announced themselves.
///
/// Has a lock of its own. It is held while the loader's list is walked and files without a note are read,
/// never across `dlopen`, a constructor, an accessor or other foreign code. An image stays unmerged until a
/// thread has merged it. A second thread that finds it meanwhile merges it too and does not wait, because
/// the first one may be waiting for a constructor that the second one runs in.
struct ImageWatch: ~Copyable {
  private var list = ImageList()
  private var unmerged: Set<MappedImage.ID> = []
  /// Merged images that could not be read: the loader may map another in the place of one.
  private var unread: Set<MappedImage.ID> = []
  /// The headers of images that announced themselves, and whether they are pinned.
  private var announced: [RuntimeAddress: Bool] = [:]

  /// What one walk of the loader's list found.
  struct Found: Sendable {
    /// Images to merge, in the loader's order.
    var images: [LoadedImage] = []
    /// Images whose sections cannot be found, and why.
    var failures: [(id: MappedImage.ID, error: ImageError)] = []
    /// Images that were read and are wrong as a whole.
    var remarks: [(id: MappedImage.ID, error: ImageError)] = []
    /// Images that were unmapped: none of them declares anything.
    var removed: [MappedImage.ID] = []
    /// Those of `images` that may not be relocated yet.
    var unsettled: [LoadedImage] = []
    /// Those of `images` that their constructors have pinned.
    var pinned: Set<MappedImage.ID> = []
    /// What the loader had mapped and unmapped before `images` were copied; nil where it does not count.
    var counters: ImageList.Counters?
  }

  /// Whether the loader has mapped or unmapped an image since the last walk.
  var isStale: Bool {
    guard unmerged.isEmpty, let now = ImageList.probe() else { return true }
    return now != list.counters
  }

  /// Walks the loader's list.
  mutating func look() throws(ImageError) -> Found {
    takeAnnouncements()
    let changes = try list.update()
    var found = Found(removed: changes.removed, counters: list.counters)
    for position in changes.added { unmerged.insert(list.id(at: position)) }
    unmerged.subtract(changes.removed)
    unread.subtract(changes.removed)
    if changes.mayHideReplacements { unmerged.formUnion(unread) }
    copy(unmerged.sorted(), into: &found)
    return found
  }

  /// Copies images again that were not relocated when they were first copied.
  mutating func lookAgain(at ids: [MappedImage.ID]) -> Found {
    var found = Found()
    copy(ids, into: &found)
    if ImageList.tellsRelocation {
      // Another has taken the place of one; the next look finds it.
      let early = Set(found.unsettled.map(\.mapped.id))
      found.images.removeAll { early.contains($0.mapped.id) }
    }
    found.unsettled = []
    return found
  }

  /// Records that these images are merged, and what else was found.
  mutating func merged(_ ids: [MappedImage.ID], of found: Found) {
    let failed = found.failures.map(\.id)
    unmerged.subtract(ids)
    unmerged.subtract(failed)
    unread.subtract(ids)
    unread.formUnion(failed)
    if unmerged.isEmpty { announced.removeAll() }
  }

  private mutating func copy(_ ids: [MappedImage.ID], into found: inout Found) {
    let positions = ids.compactMap { list.position(of: $0) }
    for (position, copy) in zip(positions, list.copy(positions)) {
      let mapped = list[position]
      if mapped.carriesRuntime, mapped.bias != ImageList.home {
        found.remarks.append((mapped.id, .secondRuntime(in: mapped.name)))
      }
      switch copy {
      case .image(let image):
        found.images.append(image)
        // One whose constructor has called the hook is relocated, if it has not taken the place of another.
        let isPinned = mapped.header.flatMap { announced[$0] }
        if isPinned == true { found.pinned.insert(mapped.id) }
        let isRelocated = image.isRelocated || (isPinned != nil && !ImageList.tellsRelocation)
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
    var events = unsafe [image_event](repeating: image_event(), count: capacity)
    while true {
      let count = unsafe image_events_take(&events, capacity)
      for index in 0..<count {
        let event = unsafe events[index]
        let header = unsafe RuntimeAddress(rawValue: UInt(bitPattern: event.header))
        announced[header] = unsafe event.pinned
      }
      if count < capacity { return }
    }
  }
}

/// Pins images that have not done it themselves: hand-written entries, hosts that export no hook, and constructors
/// that run before the image's anchor.
///
/// On a thread of its own: while a constructor runs, the loader lets nobody else in, and a constructor may wait for the
/// thread that asks. An image that is not pinned in time is left for the next look.
struct ImagePins {
  typealias Results = [MappedImage.ID: Result<Void, ImageError>]

  /// Whether a thread pins images now, and what came of it.
  private typealias Work = (isRunning: Bool, results: Results)

  private let work = Lock<Work>((false, [:]))
  /// The longest wait for a constructor of another thread: longer than a busy machine takes to begin a thread.
  private static let patience = Duration.seconds(1)

  /// Pins images. Returns the result of each, and nothing where some are left for the next look.
  func pin(_ images: [LoadedImage]) -> Results {
    let ids = Set(images.map(\.mapped.id))
    guard !ids.isEmpty else { return [:] }
    let deadline = ContinuousClock.now + Self.patience
    while true {
      let results = work.wait(before: deadline) { work -> Results? in
        let own = Results(
          uniqueKeysWithValues: ids.compactMap { id in work.results[id].map { (id, $0) } })
        if own.count == ids.count {
          // A pin holds for ever; another attempt may succeed.
          for case (let id, .failure) in own { work.results[id] = nil }
          return own
        }
        guard !work.isRunning else { return nil }
        work.isRunning = true
        return [:]
      }
      guard let results else { return [:] }
      if !results.isEmpty { return results }
      if !POSIXThread.detach({ [work] in Self.run(images, work) }) { Self.run(images, work) }
    }
  }

  private static func run(_ images: [LoadedImage], _ work: Lock<Work>) {
    let results = images.map { image in
      (image.mapped.id, Result { () throws(ImageError) in try image.pin() })
    }
    work.change { work in
      work.isRunning = false
      for (id, result) in results { work.results[id] = result }
    }
  }
}

/// The state of each image that a Hive knows, by identity. Lives under the Hive's lock.
struct KnownImages {
  /// The outcome of looking at an image.
  enum State {
    /// It declares nothing.
    case empty
    /// It has registered, and stays mapped. Where its file is, and the loader's name for it.
    case registered(path: String, name: String)
    /// Its sections cannot be found.
    case failed(ImageError)
    /// It was unmapped. Its identity is never used again: a thread that still copies the image merges nothing.
    case gone
  }

  private var states: [MappedImage.ID: State] = [:]
  /// Faults of images that can be read.
  private var remarks: [MappedImage.ID: ImageError] = [:]

  /// The problems of whole images, each once, in the order of their identities.
  var problems: [ImageError] {
    Set(states.keys).union(remarks.keys).sorted().flatMap { id in
      [failure(of: id), remarks[id]].compactMap(\.self)
    }
  }

  /// Returns the reason that an image could not be inspected.
  func failure(of id: MappedImage.ID) -> ImageError? {
    if case .failed(let error) = states[id] { error } else { nil }
  }

  /// Returns whether nothing is left to find out about an image: one that could not be read may be another by now.
  func isSettled(_ id: MappedImage.ID) -> Bool {
    switch states[id] {
    case .none, .failed: false
    case .empty, .registered, .gone: true
    }
  }

  /// The images that registered, in order: where their files are, and the loader's names for them.
  var registered: [(id: MappedImage.ID, path: String, name: String)] {
    states.sorted { $0.key < $1.key }.compactMap { id, state in
      if case .registered(let path, let name) = state { (id, path, name) } else { nil }
    }
  }

  /// Records what became of an image, unless that is settled already. Returns whether it was not.
  mutating func settle(_ id: MappedImage.ID, _ state: State) -> Bool {
    guard !isSettled(id) else { return false }
    states[id] = state
    return true
  }

  /// Records that an image was unmapped.
  mutating func forget(_ id: MappedImage.ID) { (states[id], remarks[id]) = (.gone, nil) }

  /// Records what is wrong with an image that can be read.
  mutating func remark(_ id: MappedImage.ID, _ error: ImageError) { remarks[id] = error }
}
