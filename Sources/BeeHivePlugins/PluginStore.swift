internal import BinaryImage
internal import PluginFiles
internal import Threads

/// The catalogue of one Hive, and who watches its directories.
final class PluginStore: Sendable {
  private struct State {
    var catalogue = PluginCatalogue()
    /// How often each source was added, and not taken out.
    var uses: [PluginCatalogue.Source: Int] = [:]
    /// Changes whenever the catalogue does.
    var version = 0
    var watches: [DirectoryWatch] = []
    /// Directories that could not be watched.
    var unwatched: [ImageError] = []
  }

  private let state = Lock(State())

  /// Watches go with the Hive.
  deinit { for watch in state.withLock({ $0.watches }) { watch.end() } }

  /// The catalogue, as of the last refresh.
  var catalogue: PluginCatalogue { state.withLock { $0.catalogue } }

  /// What is wrong with sources and watches.
  var problems: [ImageError] { state.withLock { $0.catalogue.problems + $0.unwatched } }

  /// Adds a source and reads it. Returns what takes it out; throws where there is nothing to be read.
  func add(_ source: PluginCatalogue.Source) throws(ImageError) -> @Sendable () -> Void {
    state.withLock { state in
      state.uses[source, default: 0] += 1
      state.catalogue.add(source)
      state.version += 1
    }
    let isOut = Lock(false)
    let undo: @Sendable () -> Void = { [weak self] in
      let isFirst = isOut.withLock { isOut in
        defer { isOut = true }
        return !isOut
      }
      if isFirst { self?.remove(source) }
    }
    refresh()
    if let problem = catalogue.problem(of: source) {
      undo()
      throw problem
    }
    return undo
  }

  private func remove(_ source: PluginCatalogue.Source) {
    let isLast = state.withLock { state in
      let rest = (state.uses[source] ?? 1) - 1
      state.uses[source] = rest > 0 ? rest : nil
      if rest > 0 { return false }
      state.catalogue.remove(source)
      state.version += 1
      return true
    }
    if isLast { refresh() }
  }

  /// Reads what is new or changed, without the lock; again, if another has changed the catalogue meanwhile.
  func refresh() {
    while true {
      let before = state.withLock { ($0.version, $0.catalogue, $0.watches) }
      // First the watches: what changes while files are read is told.
      let unwatched = before.2.flatMap { $0.follow(before.1.sources) }
      var fresh = before.1
      fresh.refresh()
      // Returned: what the old one holds ends when the lock is free.
      let old: PluginCatalogue? = state.withLock { state in
        guard state.version == before.0 else { return nil }
        defer { (state.catalogue, state.unwatched) = (fresh, unwatched) }
        state.version += 1
        return state.catalogue
      }
      if old != nil { return }
    }
  }

  /// Refreshes whenever a directory changes. Returns what ends it.
  func watch(_ changed: @escaping @Sendable () -> Void) throws(ImageError) -> @Sendable () -> Void {
    let watch = try DirectoryWatch()
    if let failure = watch.follow(catalogue.sources).first { throw failure }
    state.withLock { $0.watches.append(watch) }
    let undo: @Sendable () -> Void = { [weak self] in
      watch.end()
      self?.state.withLock { $0.watches.removeAll { $0 === watch } }
    }
    let isRunning = watch.run { [weak self] in
      guard let self else { return false }
      refresh()
      changed()
      return true
    }
    guard isRunning else {
      undo()
      throw ImageError(
        .unreadable, image: "inotify", message: "The system gives no thread to wait for changes.")
    }
    // What changed before the first watch.
    refresh()
    return undo
  }
}

extension PluginCatalogue {
  /// Why a source cannot be read.
  fileprivate func problem(of source: Source) -> ImageError? {
    switch source {
    case .directory(let path):
      return problems.first { $0.image.utf8.elementsEqual(path.utf8) }
    case .file(let path):
      let candidate = candidates.first { candidate in
        ([candidate.path] + candidate.otherPaths).contains { $0.utf8.elementsEqual(path.utf8) }
      }
      guard case .failure(let error)? = candidate?.found else { return nil }
      return error
    }
  }
}
