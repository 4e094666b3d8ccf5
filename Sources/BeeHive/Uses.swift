internal import BinaryImage
internal import Registration
internal import Threads

/// The users of entries that a Hive has removed, and the records that lead into an earlier build.
struct Uses {
  let hive: Hive

  init(of hive: Hive) { self.hive = hive }

  /// Returns remarks, one sentence each: on overrides that hide nothing, on the uses of removed libraries, and on
  /// records that lead into an earlier build.
  func remarks() -> [String] {
    let (entries, overrides) = hive.state.withLock { ($0.table.all, $0.overridesInVain) }
    return overrides + removedImages() + strays(among: entries)
  }

  /// Returns the libraries whose entries were all removed or refused, with their remaining users; one sentence each.
  private func removedImages() -> [String] {
    let images = hive.state.withLock { state in
      // The program has no name: nobody opens it again.
      state.images.registered.filter { !$0.name.isEmpty }.map { image in
        let entries = state.table.declared(by: image.id)
        return (image.path.plainPath, entries, isGone: entries.allSatisfy(\.isWithdrawn))
      }
    }
    let living = Set(images.filter { !$0.isGone }.map(\.0))
    let advice = "it stays loaded, so \(EntryTable.adviceOnRemoved)"
    return images.filter(\.isGone).flatMap { path, entries, _ in
      ((living.contains(path) ? [] : [advice]) + holders(of: entries))
        .map { "\(path) is out of use: \($0)".escaped }
    }
  }

  /// Returns the remaining users of removed entries; one sentence each.
  func holders(of gone: [RegisteredEntry]) -> [String] {
    let services = hive.state.withLock { _ in gone.flatMap(\.holders) }
    let orders = Set(gone.modules.map(\.order))
    let calls = hive.runner.states.withLock { $0.hanging { orders.contains($0.module.order) } }
    return services + calls.map(ModuleStep.delay)
  }

  /// Returns the remaining users of removed entries, and the modules that were started with them, apart from entries
  /// that took over; one sentence each.
  func users(of old: [RegisteredEntry], besides new: [RegisteredEntry] = []) -> [String] {
    let names = Set(
      hive.state.withLock { _ in old.modules.filter { $0.provider != nil } }.map(\.name))
    let others = hive.runner.states.withLock(\.running).map(\.entry).filter { other in
      !names.isDisjoint(with: other.attributes.requiredNames) && !new.contains { $0 === other }
    }
    return holders(of: old) + others.map { "module \($0.name) (\($0.source)) was started with it" }
  }

  /// Returns the declared requirements and needs of running modules that would lack a provider once the entries of a
  /// file replace others; one sentence each.
  func losses(of old: [RegisteredEntry], to new: [Entry]) -> [String] {
    let running = hive.runner.states.withLock(\.running).map(\.entry).filter { module in
      !old.contains { $0 === module }
    }
    let (modules, others, before) = hive.state.withLock { state in
      // A rejected duplicate is reconsidered.
      let usable = state.table.entries { $0.maker != nil || $0.isUnbound }
      let others = usable.filter { entry in !old.contains { $0 === entry } }
      return (running.map(\.snapshot), others.map(\.snapshot), usable.map(\.snapshot))
    }
    let after = others + new.filter { if case .rejected = $0.state { false } else { true } }
    let known = LaunchOrder.lacks(of: modules, among: before)
    return LaunchOrder.lacks(of: modules, among: after).compactMap { lack in
      if known.contains(where: { $0 == lack }) { return nil }
      let names = after.filter { $0.kind == lack.kind }.map(\.name).filter {
        $0 != lack.module.name
      }
      return LaunchOrder.sentence(on: lack, near: nearest(to: lack.name, in: names))
    }
  }

  /// Returns the entries whose records lead into an earlier build of their library, so that the earlier build would
  /// answer; one sentence each. `old` is the loader's name for the library that they replace, if they do.
  func strays(among entries: [RegisteredEntry], replacing old: String? = nil) -> [String] {
    let (builds, makers) = hive.state.withLock { state in
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
  /// The earlier builds of the library of each image in use, by the loader's names: at the same path, or removed with
  /// an entry of the same kind and name. Looks at every entry once, however many builds there were.
  fileprivate var earlierBuilds: [MappedImage.ID: Set<String>] {
    var builds: [MappedImage.ID: Set<String>] = [:]
    var atPath: [String: [String]] = [:]
    var removed: [EntryIdentity: [String]] = [:]
    for image in images.registered {
      let (path, entries) = (image.path.plainPath, table.declared(by: image.id))
      let names = entries.map { EntryIdentity.named($0.kind, $0.name) }
      if entries.allSatisfy(\.isWithdrawn) {
        for name in names { removed[name, default: []].append(image.name) }
      } else {
        builds[image.id] = Set((atPath[path] ?? []) + names.flatMap { removed[$0] ?? [] })
      }
      atPath[path, default: []].append(image.name)
    }
    return builds
  }
}
