internal import BeeHive
internal import BinaryImage
internal import LibC
internal import PluginFiles
internal import Threads

/// The plugin state of one Hive: its catalogue, directory watches, policy, and the progress of each plugin.
final class PluginStore: Sendable {
  /// A plugin that was loaded.
  struct Image {
    /// The path of its file when it was loaded, and the paths that it has now.
    let path: String
    var paths: [String] = []
    /// The stamp of its contents.
    let stamp: FileStamp
    let identity: PluginIdentity?
    /// The loader's name for it.
    let name: String
    /// Whether the Hive has its entries. Never true of two builds of one path.
    var isTakenIn: Bool
    /// The number of times that it was withdrawn.
    var withdrawals = 0

    /// Returns whether the loader's name for it has these bytes; Swift may take two different names for equal.
    func isNamed(_ name: String?) -> Bool { name.map { [self.name].has($0) } ?? false }

    func isCalled(_ name: String) -> Bool {
      PluginIdentity.isPlugin(identity, at: [path] + paths, called: name)
    }
  }

  struct State {
    fileprivate(set) var catalogue = PluginCatalogue()
    /// The sources in use, each with the version before it was added.
    fileprivate var added: [(version: Int, source: PluginCatalogue.Source)] = []
    /// Changes whenever the catalogue does.
    fileprivate var version = 0
    fileprivate var watches: [DirectoryWatch] = []
    /// Directories that could not be watched.
    fileprivate var unwatched: [ImageError] = []
    var policy = PluginPolicy()
    var verification: (@Sendable (Int32, String) throws -> Void)?
    var activation = Plugins.Activation.atStart
    var activations: [String: Plugins.Activation] = [:]
    /// The folder for marks that the host has given.
    var marks: String?
    /// The reason that no mark could be written.
    var unmarked: ImageError?
    /// The states of plugins that were judged, by their files.
    fileprivate var states: [FileStamp: PluginFile.State] = [:]
    /// The plugins that were loaded, in this order.
    fileprivate(set) var images: [Image] = []
    /// The loader's names for images that failed loads have opened.
    fileprivate(set) var strays: Set<String> = []
    /// The tasks that take plugins in after a lookup or a step, until they are done.
    var later: [FileStamp?: Task<Void, Never>] = [:]
    /// The files that calls are loading.
    fileprivate var begun: Set<FileStamp.FileNumber> = []

    /// Returns whether the Hive has the entries of a build at `path`.
    fileprivate func hasBuild(at path: String) -> Bool {
      images.contains { $0.isTakenIn && [$0.path].has(path) }
    }

    /// Returns when a plugin is to be loaded.
    func activation(of plugin: PluginIdentity?, at paths: [String]) -> Plugins.Activation {
      let named = activations.filter { PluginIdentity.isPlugin(plugin, at: paths, called: $0.key) }
      return [.never, .onDemand, .atStart].first(where: named.values.contains) ?? activation
    }
  }

  let state = Lock(State())
  /// The plugins whose states have changed.
  let changes = Broadcast<PluginFile>()

  /// Asks the loader now: later a constructor that hangs may keep it.
  init(of hive: Hive) {
    _ = loaderSearchPath
    hive.pluginImages.withLock {
      $0 = { [weak self] in self?.hasPlugin(among: $0, areOut: $1) == true }
    }
  }

  /// Watches end with the Hive.
  deinit { for watch in state.withLock({ $0.watches }) { watch.end() } }

  /// The catalogue, as of the last refresh.
  var catalogue: PluginCatalogue { state.withLock { $0.catalogue } }

  /// The problems of sources, watches and marks.
  var problems: [ImageError] {
    state.withLock { $0.catalogue.problems + $0.unwatched + [$0.unmarked].compactMap(\.self) }
  }

  /// Adds a source and reads it. Returns a function that removes it; throws if nothing can be read.
  func add(_ source: PluginCatalogue.Source) throws(ImageError) -> @Sendable () -> Void {
    let version = state.withLock { state in
      state.added.append((state.version, source))
      state.version += 1
      return state.version - 1
    }
    let undo: @Sendable () -> Void = { [weak self] in
      self?.state.withLock { state in
        state.added.removeAll { $0.version == version }
        state.version += 1
      }
      self?.refresh()
    }
    refresh()
    if let problem = catalogue.problem(of: source) {
      undo()
      throw problem
    }
    return undo
  }

  /// Reads new and changed files without the lock; repeats that if another thread changed the catalogue meanwhile.
  func refresh() {
    while true {
      let before = state.withLock { $0 }
      var fresh = before.catalogue
      fresh.sources = before.added.map(\.source)
      // First the watches, so that no change is missed while files are read. Then the targets of new links.
      _ = before.watches.flatMap { fresh.follow($0) }
      fresh.refresh()
      let unwatched = before.watches.flatMap { fresh.follow($0) }
      // Returned, so that the old catalogue is destroyed after the lock is free.
      let old: PluginCatalogue? = state.withLock { state in
        guard state.version == before.version else { return nil }
        defer { (state.catalogue, state.unwatched) = (fresh, unwatched) }
        let files = Set(fresh.manifests.map(\.stamp.contents))
        state.states = state.states.filter { $0.value.isOfLoad || files.contains($0.key) }
        state.version += 1
        return state.catalogue
      }
      if old != nil { return }
    }
  }

  /// Refreshes whenever a directory changes. Returns a function that ends that.
  func watch(_ changed: @escaping @Sendable () -> Void) throws(ImageError) -> @Sendable () -> Void {
    guard let watch = DirectoryWatch() else { throw ImageError(notWatched: "inotify", errno) }
    if let failure = catalogue.follow(watch).first { throw failure }
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
      throw ImageError(notWatched: "a new thread", EAGAIN)
    }
    refresh()
    return undo
  }
}

// MARK: States

extension PluginStore {
  /// Returns the state of a plugin, as noted or as the loader has it.
  func state(of manifest: PluginManifest, isLoaded: Bool) -> PluginFile.State {
    let noted = state.withLock { $0.states[manifest.stamp.contents] } ?? .found
    switch noted {
    case .loading, .failed, .quarantined: return noted
    case _ where image(of: manifest.stamp)?.isTakenIn == false: return .unloaded
    case .loaded, .unloaded: return .loaded
    case .found, .admitted, .refused: return isLoaded ? .loaded : noted
    }
  }

  /// Notes and publishes the state of a judged file. A judgement never replaces the state of a load that has begun.
  func note(_ new: PluginFile.State, of stamp: FileStamp?) {
    let changed = state.withLock { state -> PluginCatalogue.Candidate? in
      guard let found = state.catalogue.candidate(of: stamp), let stamp = stamp?.contents
      else { return nil }
      let before = state.states[stamp]
      if before == new || (before?.isOfLoad == true && !new.isOfLoad) { return nil }
      state.states[stamp] = new
      return found
    }
    guard let candidate = changed, changes.isHeard,
      let file = PluginFile(candidate, isLoaded: new == .loaded || image(of: stamp) != nil, new)
    else { return }
    changes.send(file)
  }
}

// MARK: Images

extension PluginStore {
  /// Begins to load a plugin; false if another call does so.
  func begin(_ stamp: FileStamp?) -> Bool {
    stamp.map { stamp in state.withLock { $0.begun.insert(stamp.number).inserted } } ?? true
  }

  /// Returns whether a call is loading a file at one of these paths.
  func isBegun(at paths: [String]) -> Bool {
    state.withLock { state in
      state.catalogue.candidates.contains { candidate in
        guard let stamp = (try? candidate.found.get())?.stamp else { return false }
        return state.begun.contains(stamp.number) && candidate.paths.contains(where: paths.has)
      }
    }
  }

  /// Ends what ``begin(_:)`` has begun.
  func end(_ stamp: FileStamp?) {
    if let stamp { state.withLock { _ = $0.begun.remove(stamp.number) } }
  }

  /// The loads that are under way, of all Hives.
  private static let loads = Lock<[FileStamp.FileNumber: LibraryLoad]>([:])

  /// Returns the load of a file that is under way, or a new one.
  func load(of file: LoadClosure.Member) -> LibraryLoad {
    Self.loads.withLock { loads in
      let load = loads[file.stamp.number] ?? LibraryLoad(of: file.path)
      loads[file.stamp.number] = load
      return load
    }
  }

  /// Ends the load of a file; `name` is the loader's name for its image, nil if it has failed.
  func endLoad(of file: LoadClosure.Member, as name: String?) {
    if let name { add(file.path, file.stamp, as: name) }
    // Returned, so that the load is destroyed after the lock is free.
    _ = Self.loads.withLock { $0.removeValue(forKey: file.stamp.number) }
  }

  /// Adds the image of a loaded file. The Hive has its entries unless it has the entries of another build.
  func add(_ path: String, _ stamp: FileStamp, as name: String) {
    let stamp = stamp.contents
    state.withLock { state in
      let plugin = (try? state.catalogue.candidate(of: stamp)?.found.get())?.plugin
      let known = state.images.first { $0.isNamed(name) }
      state.images.removeAll { $0.isNamed(name) }
      var image = Image(
        path: path, stamp: stamp, identity: plugin, name: name,
        isTakenIn: known?.isTakenIn != false && !state.hasBuild(at: path))
      image.withdrawals = known?.withdrawals ?? 0
      state.images.append(image)
    }
  }

  /// The plugins that the Hive has entries of.
  var takenIn: [Image] {
    let (catalogue, images) = state.withLock { ($0.catalogue, $0.images) }
    return images.filter(\.isTakenIn).map { image in
      var image = image
      image.paths = catalogue.candidate(of: image.stamp)?.paths ?? []
      return image
    }
  }

  /// Returns the image of a loaded file, found by the file's number: changed times do not matter.
  func image(of stamp: FileStamp?) -> Image? {
    state.withLock { $0.images.last { $0.stamp.number == stamp?.number } }
  }

  /// Returns whether the Hive has the entries of a file.
  func isTakenIn(_ stamp: FileStamp?) -> Bool { image(of: stamp)?.isTakenIn == true }

  /// The files that the process has loaded besides these images, wherever their paths lead today.
  var others: LoadedFiles { LoadedFiles(without: state.withLock { $0.images.map(\.name) }) }

  /// Returns whether a plugin may be loaded on demand: no load of it has failed, and nobody has unloaded it.
  func isUntouched(_ stamp: FileStamp?) -> Bool {
    let known = state.withLock { state in stamp.flatMap { state.states[$0.contents] } }
    return known == .loading
      || known?.isOfLoad != true && image(of: stamp)?.isTakenIn != false
  }

  /// Notes images that a failed load has opened.
  func forget(_ names: [String]) { state.withLock { $0.strays.formUnion(names) } }

  /// Notes whether the Hive has the entries of an image, and that it lost those of `old`. Returns the number of
  /// withdrawals; nil if the Hive does not have the entries, has another build's, or the number is not `before`.
  @discardableResult
  func note(
    _ isIn: Bool, ofImage name: String?, for old: String? = nil, since before: Int? = nil
  ) -> Int? {
    state.withLock { state in
      guard let index = state.images.firstIndex(where: { $0.isNamed(name) }) else { return nil }
      // The latest is the last.
      var image = state.images.remove(at: index)
      for index in state.images.indices where state.images[index].isNamed(old) {
        state.images[index].isTakenIn = false
        state.images[index].withdrawals += 1
      }
      let wasTakenIn = image.isTakenIn
      let isSame = before == nil || before == image.withdrawals
      image.isTakenIn = isIn && isSame && !state.hasBuild(at: image.path)
      if wasTakenIn, !image.isTakenIn { image.withdrawals += 1 }
      state.images.append(image)
      return image.isTakenIn ? image.withdrawals : nil
    }
  }

  /// Returns whether one of these images is a plugin. If others took their entries out, notes that.
  private func hasPlugin(among names: [String], areOut: Bool) -> Bool {
    let found = state.withLock { $0.images }.filter { names.contains(where: $0.isNamed) }
    for image in found where areOut {
      note(false, ofImage: image.name)
      note(.unloaded, of: image.stamp)
    }
    return !found.isEmpty
  }

  /// Returns how often the image of a file was withdrawn; 0 if the file is not loaded.
  func withdrawals(of stamp: FileStamp?) -> Int { image(of: stamp)?.withdrawals ?? 0 }
}

extension ImageError {
  /// Makes the error of a directory whose changes are not watched.
  fileprivate init(notWatched path: String, _ number: Int32) {
    self.init(
      .unreadable, image: path,
      message: "Changes are not watched: \(systemMessage(number))."
        + (number == ENOSPC ? " Raise fs.inotify.max_user_watches." : ""))
  }
}

extension PluginCatalogue {
  /// Watches the directories of all sources, links and targets. Returns an error for each that failed.
  fileprivate func follow(_ watch: DirectoryWatch) -> [ImageError] {
    let links = candidates.flatMap(\.paths).filter { linkTarget(of: $0) != nil }
    let folders = sources.map { $0.isDirectory ? $0.path : $0.path.folder }
    let onTheWay = (folders + links).flatMap { FolderWalk(to: $0).linkFolders }
    return watch.follow(folders + onTheWay + links.map(\.resolved.folder))
      .map { ImageError(notWatched: $0, $1) }
  }

  /// Returns the reason that a source cannot be read.
  fileprivate func problem(of source: Source) -> ImageError? {
    let path = source.path
    if source.isDirectory { return problems.first { $0.image.utf8.elementsEqual(path.utf8) } }
    let candidate = candidates.first { $0.paths.has(path) }
    guard case .failure(let error)? = candidate?.found else { return nil }
    return error
  }
}
