internal import BinaryImage
internal import CImageEvents
internal import Synchronization
internal import Threads

extension Hive {
  /// Merges images that announced themselves. If `probing`, also asks the loader. Returns whether images came.
  @discardableResult
  func catchUp(probing: Bool) -> Bool {
    guard followsLoader else { return false }
    let announcements = UInt(image_events_generation())
    let isAnnounced = announcements != seenAnnouncements.load(ordering: .acquiring)
    guard isAnnounced || (probing && watch.withLock { $0.isStale }) else { return false }
    let changed = discover()
    // Images that announced themselves during the walk are merged the next time.
    seenAnnouncements.store(announcements, ordering: .releasing)
    return changed
  }

  /// Walks the loader's list and merges what it finds. Returns whether images came.
  ///
  /// Looks again after it has waited for images that another thread's `dlopen` relocates: those are `settled`.
  ///
  /// Copies an image anew that was copied before it was `pinned`, if the loader has changed its list meanwhile: another
  /// image may have replaced it.
  @discardableResult
  func discover(
    settled: Set<MappedImage.ID> = [], pinned: Set<MappedImage.ID> = []
  ) -> Bool {
    // Out of memory: the next lookup tries again.
    guard let found = try? watch.withLock({ watch throws(ImageError) in try watch.look() }) else {
      return false
    }
    state.withLock { state in for id in found.removed { state.images.forget(id) } }
    if settled.isEmpty, !found.unsettled.isEmpty {
      for image in found.images where found.unsettled.contains(image.mapped.id) {
        image.waitForRelocation()
      }
      return discover(settled: found.unsettled, pinned: pinned)
    }
    // An image that is still not relocated came after the wait, or has replaced another: the next look finds it.
    let late = ImageList.tellsRelocation ? found.unsettled : found.unsettled.subtracting(settled)
    let images = found.images.filter { !late.contains($0.mapped.id) }
    let pins = pins.pin(images.filter { !found.pinned.contains($0.mapped.id) && mayRegister($0) })
    if !pins.isEmpty, !pinned.isSuperset(of: pins.keys), ImageList.probe() != found.counters {
      return discover(settled: settled, pinned: pinned.union(pins.keys))
    }
    let arrivals = images.compactMap { arrival(of: $0, in: found, pins) }
    state.withLock { $0.merge(arrivals, found, cache: cache) }
    watch.withLock { $0.merged(arrivals.map(\.image.mapped.id), of: found) }
    observers.deliver()
    cache.collect()
    // Images that were removed declare nothing.
    return !images.isEmpty
  }

  /// Returns whether an image has entries that this Hive does not know.
  private func mayRegister(_ image: LoadedImage) -> Bool {
    image.hasSections && isChosen?(image.identity.path.plainPath) != false
      && !state.withLock { $0.images.isSettled(image.mapped.id) }
  }

  /// Reads an image and makes the Hive's entries of it, without a lock: none if they were added before. Returns nil if
  /// the image is not pinned: it is left for the next walk.
  private func arrival(
    of image: LoadedImage, in found: ImageWatch.Found,
    _ pins: [MappedImage.ID: Result<Void, ImageError>]
  ) -> Arrival? {
    guard mayRegister(image) else { return (image, .success([])) }
    do throws(ImageError) {
      if !found.pinned.contains(image.mapped.id) {
        guard let pin = pins[image.mapped.id] else { return nil }
        try pin.get()
      }
      return (image, .success(RegisteredEntry.all(of: try Scan(of: image), in: image)))
    } catch {
      // It was unmapped meanwhile, which the next walk finds.
      if error.code == .replaced, ImageList.probe() != found.counters { return nil }
      return (image, .failure(error))
    }
  }
}

// MARK: Replacing

extension Hive {
  /// Replaces a library by a new build of it, while the process goes on.
  ///
  ///     try await hive.replace(image: "libshop.so")  // after: mv libshop.so.new libshop.so
  ///
  /// Opens the file with `RTLD_NOW` and `RTLD_LOCAL`. Then the entries of the new build replace all entries of the old
  /// one at once. The old modules are torn down, and the new ones start if the Hive runs. If a step fails, the old
  /// build goes on. It stays mapped in any case, because others may have pointers into it.
  ///
  /// - Parameters:
  ///   - path: The library, as for ``remove(image:)``; one library only.
  ///   - file: The new build; nil for the file that is at the path of the library now. Rename the new build to that
  ///     path. Do not write into the file of the old build, which is in use.
  ///   - judge: Throws the reason that the file must not be opened. Called before anything is done.
  /// - Returns: The remaining users of the old build; one sentence each.
  /// - Throws: ``Problem`` with the reason, and with the modules of the old build that do not go on. A call from inside
  ///   a module of the library, a start or a stop is an error. So is a build that lacks what a running module requires
  ///   or needs. So is a plugin of `hive.plugins`, which has `reload`. So is a build that the loader leads into the old one: make its tables and functions static or hidden,
  ///   or open libraries without `RTLD_GLOBAL`.
  @discardableResult
  public func replace(
    image path: String, with file: String? = nil,
    judging judge: @Sendable (_ file: String) throws -> Void = { _ in }
  ) async throws(Problem) -> [String] {
    try await replace(image: path, with: file, judging: judge) { try openAnew($0) }
  }

  /// Replaces a library by what `open` opens; it returns the loader's name. Errors call the library `title`.
  package func replace(
    image path: String, called title: String? = nil, with file: String?,
    judging judge: @Sendable (_ file: String) throws -> Void,
    opening open: @escaping @Sendable (_ file: String) throws -> String
  ) async throws(Problem) -> [String] {
    do {
      let (image, entries) = try await replaceable(path)
      if title == nil, pluginImages.withLock(\.self)?([image.name], false) == true {
        throw Problem(.notReplaced, "it is a plugin; \(Remedy.reloadPlugin)")
      }
      let file = file ?? image.path.plainPath
      let declared = try UnloadedFile(file).entries
      if declared.isEmpty { throw Problem(.notReplaced, "\(file) declares nothing") }
      try judge(file)
      let losses = Uses(of: self).losses(of: entries, to: declared)
      if !losses.isEmpty { throw Problem(.notReplaced, losses.joined(separator: "; ")) }
      guard let name = await TimeLimit.run(Self.openingLimit, { try open(file) }) else {
        throw Problem(.notReplaced, "\(file) did not open within \(Self.openingLimit)")
      }
      return try await replace(entries, of: image.name, by: name.get())
    } catch {
      throw Problem(.notReplaced, "\(title ?? path) was not replaced: \(error)")
    }
  }

  /// The time that a replacement waits for the loader: a constructor that waits for the caller would block it for ever.
  @TaskLocal package static var openingLimit = Duration.seconds(10)

  /// Replaces the entries of an image by those of the image that was opened by this name. Returns the remaining users
  /// of the old entries.
  private func replace(
    _ old: [RegisteredEntry], of image: String, by name: String
  ) async throws -> [String] {
    let new = try entries(of: name)
    let strays = Uses(of: self).strays(among: new, replacing: image)
    if !strays.isEmpty {
      _ = await takeOut { $0.table.withdraw(new) }
      throw Problem(.notReplaced, strays.joined(separator: "; "))
    }
    let ran = Set(await runner.names)
    await takeOut(old, for: new)
    do {
      let refusals = state.withLock { _ in new.compactMap(\.refusal) }
      if refusals.count == new.count { throw refusals[0] }
      try await start(new.modules)
    } catch {
      await takeOut(new, for: old)
      end(new)
      giveTurns(after: old + new)
      try? await start(old.modules)
      let lost = ran.intersection(old.modules.map(\.name)).subtracting(await runner.names).sorted()
      let rest = lost.isEmpty ? "" : " without \(lost.joined(separator: ", ")): see the report"
      throw Problem(.notReplaced, "\(error); the old build goes on\(rest)")
    }
    // Only now: if the new build had not started, the old one would go on with what it has.
    end(old)
    giveTurns(after: old + new)
    return Uses(of: self).users(of: old, besides: new)
  }

  /// Removes entries and tears their modules down; the entries of `next` replace them at once.
  private func takeOut(_ entries: [RegisteredEntry], for next: [RegisteredEntry]) async {
    _ = await tearDown { state in
      for entry in next { state.forgetAnswers(of: entry, cache: cache) }
      return state.table.withdraw(entries, for: next)
    }
    let notices = state.withLock { _ in next.map(\.snapshot.notice) }
    for notice in notices { observers.tell(notice) }
  }

  /// Adds the entries of the image that the loader knows by this name, also removed ones. Starts its modules if the
  /// Hive runs. If one of them does not run, or no entry is usable, removes all and throws the reason.
  package func takeIn(image name: String) async throws {
    let entries = try bringBack(image: name)
    do {
      for entry in entries { _ = boundProgress(of: entry) }
      let refusals = state.withLock { _ in entries.compactMap(\.refusal) }
      if refusals.count == entries.count { throw refusals[0] }
      if !entries.modules.isEmpty { try await start(entries.modules) }
    } catch {
      await takeOut(images: [name])
      throw error
    }
  }

  /// Adds the entries of an image, also removed ones, without starting its modules.
  package func bringBack(image name: String) throws -> [RegisteredEntry] {
    let entries = try entries(of: name)
    let notices = state.withLock { state in
      let returned = state.table.restore(entries)
      for entry in returned { state.forgetAnswers(of: entry, cache: cache) }
      return returned.map(\.snapshot.notice)
    }
    for notice in notices { observers.tell(notice) }
    return entries
  }

  /// Whether this runs inside a step of a module.
  package var isInsideStep: Bool { runner.belongings != nil }

  /// Removes the entries of the images that the loader knows by these names, together: modules go down before those
  /// that they require. Returns the remaining users of the entries.
  @discardableResult
  package func takeOut(images names: [String]) async -> [String] {
    let entries = names.flatMap { (try? self.entries(of: $0)) ?? [] }
    return Uses(of: self).users(of: await takeOut { $0.table.withdraw(entries) })
  }
}

// MARK: Binding

extension Hive {
  /// Binds a name that entries use, of a module or of a service's implementation, to a closure that makes it.
  ///
  /// Holds for present and for later entries. Giving a name twice replaces the closure for entries that are not bound
  /// yet. The Hive undoes what a module gives when the module has been unmounted.
  ///
  /// - Parameters:
  ///   - name: The module's name, or the implementation's as the entry spells it.
  ///   - make: Makes an instance, on the thread that asks and with no lock held.
  /// - Returns: Its `cancel()` undoes the binding: the entries that it has bound are unbound again.
  @discardableResult
  public func bind<Value: Sendable>(
    _ name: String, _ make: @escaping @Sendable (Hive) throws -> Value
  ) -> Handle {
    let (version, _) = state.withLock { state in
      state.hostBindingsVersion += 1
      // Returned, so that what it holds ends after the lock is released.
      var factory = FactoryClosure(make)
      factory.binding = state.hostBindingsVersion
      let before = state.hostBindings.updateValue(factory, forKey: name)
      return (state.hostBindingsVersion, before)
    }
    return owned { [self] in unbind(name, version) }
  }

  private func unbind(_ name: String, _ version: Int) {
    // Returned, so that what it holds ends after the lock is released.
    let (taken, _) = state.withLock { state in
      let isLatest = state.hostBindings[name]?.binding == version
      let entries = state.table.unbind(version)
      for entry in entries { state.forgetAnswers(of: entry, cache: cache) }
      state.hostBindingsVersion += 1
      let before = isLatest ? state.hostBindings.removeValue(forKey: name) : nil
      return (state.instances.remove(entries), before)
    }
    for cell in taken { cell.end() }
    cache.collect()
  }

  /// Returns the progress of an entry. Tries once more to bind an unbound entry.
  ///
  /// A caller who tries several entries tells the observers once, afterwards.
  func boundProgress(
    of entry: RegisteredEntry, asked: Any.Type? = nil, delivers: Bool = true
  ) -> RegisteredEntry.Progress {
    let (progress, bindings) = state.withLock { (entry.progress, $0.hostBindings) }
    guard case .accepted = progress, !entry.isForeign else { return progress }
    // The runtime's lookups run here, with no lock held.
    let next = RegisteredEntry.Progress.of(entry, bindings, asked: asked)
    let isTried = entry.kind == .module && runner.states.withLock { $0[entry.order] != nil }
    defer { if delivers { observers.deliver() } }
    return state.withLock { state in
      for changed in state.table.set(next, for: entry) {
        switch changed.progress {
        case .bound:
          observers.post(.entryBound(changed.snapshot))
          if !isTried { state.table.publishArrival(of: changed) }
        case .rejected:
          observers.post(.entryRejected(changed.snapshot))
          // Another entry may have been reconsidered.
          state.forgetAnswers(of: changed, cache: cache)
        case .accepted: break
        }
      }
      return entry.progress
    }
  }

  /// Asks the loader, and tries every unbound entry, unless nothing has come since the last time that could bind one.
  ///
  /// When it returns, each was tried: a caller that comes while another thread does this does the same work.
  func bindUnbound() {
    catchUp(probing: true)
    var isTried = false
    while !isTried {
      let images = TypeLookup.generation
      let (unbound, ground) = state.withLock { state in
        // None of these numbers ever falls.
        let ground = images + state.table.version + state.hostBindingsVersion
        return (ground == state.lastTry ? [] : state.table.entries(where: \.isUnbound), ground)
      }
      let rejected = unbound.count {
        if case .rejected = boundProgress(of: $0, delivers: false) { true } else { false }
      }
      // A duplicate of a rejected entry may be bound now.
      isTried = rejected == 0
      if isTried { state.withLock { $0.lastTry = ground } }
    }
    // Only now, because observers may ask for the entries.
    observers.deliver()
  }
}

// MARK: Layers above

extension Hive {
  /// Returns the targets and routes that images declare, without duplicates and those that nothing can make. Returns
  /// nil if none came or went since `version`.
  package func declaredEntries(
    since version: Int?, probing: Bool
  ) -> (version: Int, entries: [RegisteredEntry])? {
    catchUp(probing: probing)
    return state.withLock { state in
      guard state.table.otherVersion != version else { return nil }
      let entries = state.table.others.filter { entry in
        entry.setAside?.isDuplicate != true && entry.maker != nil
      }
      return (state.table.otherVersion, entries)
    }
  }

  /// Asks the entry's accessor for a value; nil if it makes another type.
  package func make<Value>(_ entry: RegisteredEntry, as type: Value.Type) -> Value? {
    guard case .accessor(let accessor) = state.withLock({ _ in entry.maker }) else { return nil }
    return accessor.make(as: type)
  }

  /// Returns the address of the structure of a C record; nil for other entries and for removed ones.
  package func structure(of entry: RegisteredEntry) -> RuntimeAddress? {
    state.withLock { _ in
      guard !entry.isWithdrawn, case .structure(_, let address) = entry.maker else { return nil }
      return address
    }
  }

  /// Sets the outcome of an entry in a layer above: a problem that keeps it from being used, for now or for good, or
  /// none any longer.
  package func settle(_ entry: RegisteredEntry, _ outcome: Entry.State) {
    state.withLock { state in
      guard !entry.isWithdrawn else { return }
      let before = entry.setAside
      if case .bound = outcome {
        guard let before else { return }
        (entry.progress, entry.setAside) = (before.progress, nil)
        observers.post(.entryBound(entry.snapshot))
      } else if entry.snapshot.state != outcome {
        entry.setAside = before ?? (entry.progress, isDuplicate: false)
        if case .rejected(let problem) = outcome { entry.progress = .rejected(problem) }
        if case .accepted(let problem) = outcome { entry.progress = .accepted(problem) }
        if case .rejected = outcome { observers.post(.entryRejected(entry.snapshot)) }
      }
    }
    observers.deliver()
  }
}

/// One image on its way into a Hive, and the entries that it declares.
private typealias Arrival = (image: LoadedImage, entries: Result<[RegisteredEntry], ImageError>)

extension Hive.State {
  /// Merges what a walk found into the entries.
  fileprivate mutating func merge(
    _ arrivals: [Arrival], _ found: ImageWatch.Found, cache: borrowing LookupCache
  ) {
    for (id, error) in found.remarks { images.remark(id, error) }
    for (id, error) in found.failures { fail(id, error) }
    images.unchecked += arrivals.map(\.image.mapped).filter { $0.note == .valid }
    for (image, contents) in arrivals {
      let mapped = image.mapped
      switch contents {
      case .success(let entries) where entries.isEmpty: _ = images.settle(mapped.id)
      case .failure(let error): fail(mapped.id, error)
      case .success(let entries):
        let path = image.identity.path
        guard images.settle(mapped.id, path: path, name: mapped.name) else { continue }
        observers.post(.imageArrived(path: path, entryCount: entries.count))
        table.expect(entries, of: mapped)
        for entry in entries { add(entry, cache: cache) }
      }
    }
  }

  private mutating func fail(_ id: MappedImage.ID, _ error: ImageError) {
    if images.fail(id, error) { observers.post(.imageNotInspected(error)) }
  }
}
