internal import BinaryImage
internal import Threads

// Which images of C stay mapped because something of theirs is in use. The loader is called, and code of
// images runs, with no lock held.
extension Hive {
  /// What a call has to give back when it is over.
  private enum Use {
    /// The image stays anyway, or there is none.
    case free
    case of(ImageHold)
  }

  /// Runs `body` while the image of an entry stays mapped. Returns nil where the image is gone, or the
  /// entry has left.
  func holding<Result, Failure: Error>(
    _ entry: RegisteredEntry, _ body: () throws(Failure) -> Result
  ) throws(Failure) -> Result? {
    guard let use = begin(entry) else { return nil }
    defer { end(use) }
    return try body()
  }

  /// Keeps the image of an entry mapped until `letGo`. Returns false where the image is gone, or the entry
  /// has left.
  func keep(_ entry: RegisteredEntry) -> Bool {
    holding(entry) { state.withLock { $0.keep(entry) } } ?? false
  }

  /// Notes that something of an entry is handed out, which keeps its image mapped; `publish` says where
  /// lookups find it. Returns false where the entry has left, or the Hive was stopped since `turn`.
  ///
  /// Called while the entry's image is held.
  func handOut(
    _ entry: RegisteredEntry, at turn: Int, _ publish: (inout State) -> Void = { _ in }
  ) -> Bool {
    state.withLock { state in
      guard state.handedOut.add(entry, at: turn), state.keep(entry) else { return false }
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
    let (uses, instances) = state.withLock { state in
      let entries = state.handedOut.removeAll()
      // Each image stays until `destroy` is through, and longer where somebody asks anew meanwhile.
      let uses = entries.compactMap { state.use($0) }
      let instances = entries.compactMap { entry -> CInstance? in
        state.forgetAnswers(named: entry.name, cache: cache)
        _ = state.letGo(entry)
        return entry.takeInstance()
      }
      return (uses, instances)
    }
    for instance in instances { instance.destroy() }
    for use in uses { end(.of(use)) }
    cache.collect(now: true)
  }

  private func begin(_ entry: RegisteredEntry) -> Use? {
    guard let id = entry.image else { return .free }
    let (known, hold) = state.withLock { ($0.images[id], $0.use(entry)) }
    if let hold { return .of(hold) }
    guard let known else { return nil }
    if known.isPinned { return .free }
    guard let reference = try? known.image.hold() else {
      discover()
      return nil
    }
    let used = state.withLock { state -> ImageHold? in
      guard !entry.isWithdrawn else { return nil }
      state.images.hold(id, reference)
      return state.use(entry)
    }
    // Another thread was first, or the entry has just left: one reference is enough, or none.
    if used?.reference !== reference { reference.release() }
    return used.map(Use.of)
  }

  private func end(_ use: Use) {
    guard case .of(let hold) = use else { return }
    let reference = state.withLock { state in
      hold.callCount -= 1
      return state.images.letGo(hold)
    }
    reference?.release()
  }
}

extension Hive.State {
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
