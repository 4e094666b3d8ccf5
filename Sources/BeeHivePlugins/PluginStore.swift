internal import BinaryImage
internal import PluginFiles
internal import Threads

/// The catalogue of one Hive, who watches its directories, and what the Hive asks of plugins.
final class PluginStore: Sendable {
  struct State {
    fileprivate(set) var catalogue = PluginCatalogue()
    /// How often each source was added, and not taken out.
    fileprivate var uses: [PluginCatalogue.Source: Int] = [:]
    /// Changes whenever the catalogue does.
    fileprivate var version = 0
    fileprivate var watches: [DirectoryWatch] = []
    /// Directories that could not be watched.
    fileprivate var unwatched: [ImageError] = []
    var policy = PluginPolicy()
    var verification: (@Sendable (Int32, String) throws -> Void)?
  }

  let state = Lock(State())

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
      let wasOut = isOut.withLock { exchange(&$0, with: true) }
      if !wasOut { self?.remove(source) }
    }
    refresh()
    if let problem = catalogue.problem(of: source) {
      undo()
      throw problem
    }
    return undo
  }

  private func remove(_ source: PluginCatalogue.Source) {
    state.withLock { state in
      state.uses[source, default: 1] -= 1
      guard state.uses[source] == 0 else { return }
      state.uses[source] = nil
      state.catalogue.remove(source)
      state.version += 1
    }
    refresh()
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
