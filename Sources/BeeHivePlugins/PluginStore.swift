internal import BinaryImage
internal import PluginFiles
internal import Threads

/// The catalogue of one Hive, who watches its directories, and what the Hive asks of plugins.
final class PluginStore: Sendable {
  struct State {
    fileprivate(set) var catalogue = PluginCatalogue()
    /// The sources that were added and not taken out, each with the version before it.
    fileprivate var added: [(version: Int, source: PluginCatalogue.Source)] = []
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
    let version = state.withLock { state in
      state.added.append((state.version, source))
      state.version += 1
      return state.version - 1
    }
    let undo: @Sendable () -> Void = { [weak self] in self?.remove(version) }
    refresh()
    if let problem = catalogue.problem(of: source) {
      undo()
      throw problem
    }
    return undo
  }

  private func remove(_ version: Int) {
    state.withLock { state in
      state.added.removeAll { $0.version == version }
      state.version += 1
    }
    refresh()
  }

  /// Reads what is new or changed, without the lock; again, if another has changed the catalogue meanwhile.
  func refresh() {
    while true {
      let before = state.withLock { $0 }
      var fresh = before.catalogue
      fresh.sources = before.added.map(\.source)
      // First the watches: what changes while files are read is told.
      let unwatched = before.watches.flatMap { $0.follow(fresh.sources) }
      fresh.refresh()
      // Returned: what the old one holds ends when the lock is free.
      let old: PluginCatalogue? = state.withLock { state in
        guard state.version == before.version else { return nil }
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
    let path = source.path.utf8
    if source.isDirectory { return problems.first { $0.image.utf8.elementsEqual(path) } }
    let candidate = candidates.first { candidate in
      ([candidate.path] + candidate.otherPaths).contains { $0.utf8.elementsEqual(path) }
    }
    guard case .failure(let error)? = candidate?.found else { return nil }
    return error
  }
}
