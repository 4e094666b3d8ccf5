internal import BinaryImage
internal import Threads

// Which images of C stay mapped because something of theirs is in use. The loader is called, and code of
// images runs, with no lock held.
extension Hive {
  /// What keeps an image mapped while something of it is in use: given to `end` when that is over.
  enum Use {
    /// The image stays anyway, or there is none.
    case free
    case of(ImageHold)
  }

  /// Runs `body` while the image of an entry stays mapped. Returns nil where the image is gone, or the
  /// entry has left.
  func holding<Result, Failure: Error>(
    _ entry: RegisteredEntry, _ body: () throws(Failure) -> Result
  ) throws(Failure) -> Result? {
    let visit = entry.image.flatMap { id in state.withLock { $0.images.visit(id) } }
    defer { if let visit { state.change { $0.images.end(visit) } } }
    guard let use = begin(entry) else { return nil }
    defer { end(use) }
    return try body()
  }

  /// Waits until no other thread is inside a call of images whose entries were removed: one that its owner closes
  /// next is unmapped then, and registers again when it is opened again.
  ///
  /// For a tenth of a second at most, since such a call may wait for this thread.
  func waitForVisitors(of removed: [RegisteredEntry]) {
    let images = Set(removed.compactMap(\.image))
    guard !images.isEmpty else { return }
    _ = state.wait(before: .now + .milliseconds(100)) { state in
      state.images.isVisited(images) ? nil : ()
    }
  }

  /// Keeps the image of an entry mapped until `letGo`. Returns false where the image is gone, or the entry
  /// has left.
  func keep(_ entry: RegisteredEntry) -> Bool {
    holding(entry) { state.withLock { $0.keep(entry) } } ?? false
  }

  /// Notes that something of an entry is handed out, which keeps its image mapped; `publish` says where
  /// lookups find it, and `object` is what may be given back by itself. Returns false where the entry has
  /// left, the Hive was stopped since `turn`, or what was kept for all has been taken back.
  ///
  /// Called while the entry's image is held.
  func handOut(
    _ entry: RegisteredEntry, _ object: RuntimeAddress? = nil, _ kept: CachedService? = nil,
    at turn: Int, _ publish: (inout State) -> Void = { _ in }
  ) -> Bool {
    state.withLock { state in
      if let kept, entry.existingSingleton?.instance !== kept { return false }
      guard state.handedOut.add(entry, object, at: turn), state.keep(entry) else { return false }
      publish(&state)
      return true
    }
  }

  /// Lets go of the images of entries that have left or ended, where nothing else uses them.
  func letGo(of entries: [RegisteredEntry]) {
    let references = state.withLock { state in
      entries.compactMap { entry -> ImageReference? in
        state.handedOut.remove(entry)
        return state.letGo(entry)
      }
    }
    for reference in references { reference.release() }
  }

  /// Takes back what was handed out of C libraries: what singletons' factories made is given to their
  /// `destroy`, the last first, and the libraries are let go. Entries stay.
  func takeBack() {
    // One by one: while a `destroy` runs, what was made before it is still there to be asked.
    for entry in state.withLock({ $0.handedOut.beginTakingBack() }) {
      let taken = state.withLock { state in
        state.forgetAnswers(of: entry, cache: cache)
        return state.take([entry])
      }
      giveBack(taken)
    }
    cache.collect(now: true)
  }

  /// Gives what was taken out of entries to its `destroy`, and lets go of their images.
  func giveBack(_ taken: TakenBack) {
    for instance in taken.instances { instance.destroy() }
    for hold in taken.holds { end(.of(hold)) }
  }

  /// Keeps the image of an entry mapped until `end`. Returns nil where the image is gone, or the entry has
  /// left.
  func begin(_ entry: RegisteredEntry) -> Use? {
    guard let id = entry.image else { return .free }
    let (known, hold) = state.withLock { ($0.images[id], $0.use(entry)) }
    if let hold { return .of(hold) }
    guard let known else { return nil }
    if known.isPinned { return .free }
    guard let reference = try? known.image.hold() else {
      discover()
      return nil
    }
    // What is held may be another image, which has taken the place since: then the entry leaves.
    catchUp(probing: !known.announces)
    let used = state.withLock { state -> ImageHold? in
      guard !entry.isWithdrawn else { return nil }
      state.images.hold(id, reference)
      return state.use(entry)
    }
    // Another thread was first, or the entry has just left: one reference is enough, or none.
    if used?.reference !== reference { reference.release() }
    return used.map(Use.of)
  }

  /// Ends that; the last one lets the image go.
  func end(_ use: Use) {
    guard case .of(let hold) = use else { return }
    let reference = state.withLock { state in
      hold.callCount -= 1
      return state.images.letGo(hold)
    }
    reference?.release()
  }
}

/// What was taken out of entries, and what holds their images until it is given back.
typealias TakenBack = (instances: [CInstance], holds: [ImageHold])

extension Hive.State {
  /// Takes out what entries made for all; they keep their images no longer, except those of modules.
  mutating func take(_ entries: [RegisteredEntry]) -> TakenBack {
    var taken: TakenBack = ([], [])
    for entry in entries where entry.kind != .module {
      handedOut.remove(entry)
      // The image stays until `destroy` is through, and longer where somebody asks anew meanwhile.
      if let hold = entry.image.flatMap({ images[$0]?.hold }) {
        hold.callCount += 1
        taken.holds.append(hold)
        hold.keepers.remove(entry.order)
      }
      if let instance = entry.takeInstance() { taken.instances.append(instance) }
    }
    return taken
  }

  /// Takes out what an entry made for all, unless somebody has it.
  func takeUnlessHandedOut(_ entry: RegisteredEntry) -> CInstance? {
    entry.isWithdrawn || !handedOut.contains(entry) ? entry.takeInstance() : nil
  }

  /// Gives back an object that an entry handed out, once. Returns nil if the entry did not hand it out, else
  /// whether the caller must destroy it: false only for a weak object that others still have.
  ///
  /// Called while the entry's image is held.
  mutating func giveBack(_ object: RuntimeAddress, to entry: RegisteredEntry) -> Bool? {
    guard let count = handedOut.giveBack(object, to: entry) else { return nil }
    let isLast = entry.scope != .weak || count == 0
    if isLast { _ = entry.takeInstance() }
    if !handedOut.contains(entry) { _ = letGo(entry) }
    return isLast
  }

  /// Begins a call of an entry's image; nil where nothing holds it, or the entry has left.
  fileprivate func use(_ entry: RegisteredEntry) -> ImageHold? {
    guard let hold = entry.image.flatMap({ images[$0]?.hold }),
      !entry.isWithdrawn || hold.keepers.contains(entry.order)
    else { return nil }
    hold.callCount += 1
    return hold
  }

  /// Has an entry keep its image, which is held; false where it has left.
  fileprivate func keep(_ entry: RegisteredEntry) -> Bool {
    guard !entry.isWithdrawn else { return false }
    if let id = entry.image { images[id]?.hold?.keepers.insert(entry.order) }
    return true
  }

  /// Ends that. Returns what held the image, where nothing uses it any more.
  fileprivate mutating func letGo(_ entry: RegisteredEntry) -> ImageReference? {
    guard let hold = entry.image.flatMap({ images[$0]?.hold }) else { return nil }
    hold.keepers.remove(entry.order)
    return images.letGo(hold)
  }
}
