internal import BinaryImage
internal import Registration
internal import Threads

// Replaces libraries, and finds those who still use the old one: also records of a new build that lead into it.
extension Hive {
  /// Replaces a library by a new build of it, while the process goes on.
  ///
  ///     try await hive.replace(image: "libshop.so")  // after: mv libshop.so.new libshop.so
  ///
  /// Opens the file with `RTLD_NOW` and `RTLD_LOCAL`. Then all that the old build declares gives way at once to what the new
  /// one declares, the old modules are torn down, and the new ones started if the Hive runs. If a step fails, the old
  /// build goes on. It stays mapped in any case, since others may have pointers into it.
  ///
  /// - Parameters:
  ///   - path: The library, as for ``remove(image:)``; one library only.
  ///   - file: The new build; nil for the file that is at the path of the library now. Put it there by renaming it,
  ///     instead of writing into the file of the old one, which is in use.
  ///   - judge: Throws the reason that the file must not be opened. Called before anything is done.
  /// - Returns: Who still has something of the old build; one sentence each.
  /// - Throws: ``Problem`` with the reason, and with what is left of the old build where that does not go on as it did.
  ///   A call from inside of a module of the library, of a start or of a stop is an error, too. So is a build that lacks
  ///   what a running module requires or needs, and one that the loader leads into the old build: make its tables and
  ///   functions static or hidden, or open libraries without `RTLD_GLOBAL`.
  @discardableResult
  public func replace(
    image path: String, with file: String? = nil,
    judging judge: @Sendable (_ file: String) throws -> Void = { _ in }
  ) async throws(Problem) -> [String] {
    try await replace(image: path, with: file, judging: judge) { try openAnew($0) }
  }

  /// The same with another way to open the new build, which returns the loader's name for it.
  package func replace(
    image path: String, with file: String?,
    judging judge: @Sendable (_ file: String) throws -> Void,
    opening open: @escaping @Sendable (_ file: String) throws -> String
  ) async throws(Problem) -> [String] {
    do {
      let (image, entries) = try await replaceable(path)
      let file = file ?? image.path.plainPath
      let declared = try UnloadedFile(file).entries
      if declared.isEmpty { throw Problem(.notReplaced, "\(file) declares nothing") }
      try judge(file)
      let losses = losses(of: entries, to: declared)
      if !losses.isEmpty { throw Problem(.notReplaced, losses.joined(separator: "; ")) }
      // A constructor that waits for the caller keeps the loader busy.
      let limit = Duration.seconds(10)
      guard let name = await TimeLimit.run(limit, { try open(file) }) else {
        throw Problem(.notReplaced, "\(file) did not open within \(limit)")
      }
      return try await replace(entries, of: image.name, by: name.get())
    } catch {
      throw Problem(.notReplaced, "\(path) was not replaced: \(error)")
    }
  }

  /// Replaces the entries of an image by those of one that has been opened by a name. Returns who still has something of
  /// them.
  private func replace(
    _ old: [RegisteredEntry], of image: String, by name: String
  ) async throws -> [String] {
    let new = try entries(of: name)
    let strays = strays(among: new, replacing: image)
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
    return users(of: old, besides: new)
  }

  /// Takes entries out and tears their modules down; `next` get their places at once.
  private func takeOut(_ entries: [RegisteredEntry], for next: [RegisteredEntry]) async {
    _ = await tearDown { state in
      for entry in next { state.forgetAnswers(of: entry, cache: cache) }
      return state.table.withdraw(entries, for: next)
    }
    let notices = state.withLock { _ in next.map(\.snapshot.notice) }
    for notice in notices { observers.tell(notice) }
  }

  /// Takes in what an image declares that the loader knows by a name, again if it was removed, and starts its modules if
  /// the Hive runs. Throws the reason that one of them does not run, or that it offers nothing; then all is removed.
  package func takeIn(image name: String) async throws {
    let entries = try entries(of: name)
    let notices = state.withLock { state in
      let returned = state.table.restore(entries)
      for entry in returned { state.forgetAnswers(of: entry, cache: cache) }
      return returned.map(\.snapshot.notice)
    }
    for notice in notices { observers.tell(notice) }
    do {
      let refusals = state.withLock { _ in entries.compactMap(\.refusal) }
      if refusals.count == entries.count { throw refusals[0] }
      if !entries.modules.isEmpty { try await start(entries.modules) }
    } catch {
      await takeOut(image: name)
      throw error
    }
  }

  /// Removes what an image declares that the loader knows by a name. Returns who still has something of it.
  @discardableResult
  package func takeOut(image name: String) async -> [String] {
    guard let entries = try? entries(of: name) else { return [] }
    return users(of: await takeOut { $0.table.withdraw(entries) })
  }
}

// MARK: Uses

extension Hive {
  /// Returns remarks on overrides that hide nothing, on the uses of removed libraries, and on records that lead into an
  /// earlier build; one sentence each.
  func remarksOnUses() -> [String] {
    let (entries, overrides) = state.withLock { ($0.table.all, $0.overridesInVain) }
    return overrides + removedImages() + strays(among: entries)
  }

  /// The libraries whose entries were all removed, and who still has something of them; one sentence each.
  private func removedImages() -> [String] {
    let images = state.withLock { state in
      state.images.registered.map { ($0.path.plainPath, state.table.declared(by: $0.id)) }
    }
    let gone = images.filter { $0.1.allSatisfy(\.isWithdrawn) }
    let living = Set(images.filter { !$0.1.allSatisfy(\.isWithdrawn) }.map(\.0))
    let advice = EntryTable.adviceOnRemoved
    return gone.flatMap { path, entries in
      (living.contains(path) ? [] : ["\(path) was removed and stays loaded, so \(advice)".escaped])
        + holders(of: entries).map { "\(path) was removed: \($0)".escaped }
    }
  }

  /// Returns who still has something of entries that were removed; one sentence each.
  func holders(of gone: [RegisteredEntry]) -> [String] {
    let services = state.withLock { _ in gone.flatMap(\.holders) }
    let orders = Set(gone.modules.map(\.order))
    let calls = runner.states.withLock { states in
      states.hanging { orders.contains($0.module.order) }
    }
    return services + calls.map(ModuleStep.delay)
  }

  /// Returns who still has something of entries that were removed, and who was started with them, apart from entries
  /// that took over; one sentence each.
  func users(of old: [RegisteredEntry], besides new: [RegisteredEntry] = []) -> [String] {
    let names = Set(state.withLock { _ in old.modules.filter { $0.provider != nil } }.map(\.name))
    let others = runner.states.withLock(\.running).map(\.entry).filter { other in
      !names.isDisjoint(with: other.attributes.requiredNames) && !new.contains { $0 === other }
    }
    return holders(of: old) + others.map { "module \($0.name) (\($0.source)) was started with it" }
  }

  /// Returns what modules that run require or need by their declarations, and would lack once entries have given way to
  /// those of a file; one sentence each.
  func losses(of old: [RegisteredEntry], to new: [Entry]) -> [String] {
    let running = runner.states.withLock(\.running).map(\.entry).filter { module in
      !old.contains { $0 === module }
    }
    let (modules, others, before) = state.withLock { state in
      // What was rejected as a duplicate gets its turn.
      let usable = state.table.entries { $0.maker != nil || $0.isUnbound }
      let others = usable.filter { entry in !old.contains { $0 === entry } }
      return (running.map(\.snapshot), others.map(\.snapshot), usable.map(\.snapshot))
    }
    let after = others + new.filter { if case .rejected = $0.state { false } else { true } }
    let known = LaunchOrder.lacks(of: modules, among: before)
    return LaunchOrder.lacks(of: modules, among: after).compactMap { lack in
      if known.contains(where: { $0 == lack }) { return nil }
      let names = after.filter { $0.kind == lack.kind }.map(\.name)
      return LaunchOrder.sentence(on: lack, near: nearest(to: lack.name, in: names))
    }
  }

  /// Returns the entries whose records lead into an earlier build of their library, which answers then; one sentence
  /// each. `old` is the loader's name for the library that they replace, if they do.
  func strays(among entries: [RegisteredEntry], replacing old: String? = nil) -> [String] {
    let (builds, makers) = state.withLock { state in
      (state.earlierBuilds, entries.map(\.maker))
    }
    return zip(entries, makers).compactMap { entry, maker in
      guard let image = entry.image, let maker else { return nil }
      let earlier = (builds[image] ?? []).union([old].compactMap(\.self))
      guard !earlier.isEmpty, let build = maker.images.first(where: earlier.contains) else {
        return nil
      }
      return
        "\(entry.kind) \(entry.name) (\(entry.source)) leads into an earlier build, \(build), which would "
        + "go on answering: make its table and its functions static or hidden, or open the earlier build without "
        + "RTLD_GLOBAL"
    }
  }
}

extension Hive.State {
  /// The earlier builds of the library of each image, as the loader calls them: at the same path, or removed with an entry
  /// of the same kind and name. Looks at every entry.
  fileprivate var earlierBuilds: [MappedImage.ID: Set<String>] {
    var builds: [MappedImage.ID: Set<String>] = [:]
    var atPath: [String: [String]] = [:]
    var removed: [EntryIdentity: [String]] = [:]
    for image in images.registered {
      let (path, entries) = (image.path.plainPath, table.declared(by: image.id))
      let names = entries.map { EntryIdentity.named($0.kind, $0.name) }
      let earlier = (atPath[path] ?? []) + names.flatMap { removed[$0] ?? [] }
      if !earlier.isEmpty { builds[image.id] = Set(earlier) }
      atPath[path, default: []].append(image.name)
      guard entries.allSatisfy(\.isWithdrawn) else { continue }
      for name in names { removed[name, default: []].append(image.name) }
    }
    return builds
  }
}
