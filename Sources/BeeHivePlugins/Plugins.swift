// Plugins belong to a Hive, so this import gives its types too, and the types of policies and reports.
@_exported public import BeeHive
public import BinaryImage
@_exported public import PluginFiles
internal import Registration

/// The plugins that a Hive knows by their files, which are read, judged and loaded.
///
///     try hive.plugins.add(directory: "/usr/lib/app/plugins")
///     try await hive.plugins.load()
///     for file in hive.plugins.files { print(file.path, file.state) }
///     print(hive.plugins.report())
///
/// A file is a plugin if it is a shared library that declares something. Before it is loaded, none of its code runs, no
/// library is opened for it, and nothing waits for a FIFO or a device. What was read is kept until the file changes.
///
/// Call every method from any thread. Methods that read files block meanwhile, with no lock held. The catalogue is as
/// of the last ``refresh()``.
public struct Plugins: Sendable {
  let hive: Hive
  let store: PluginStore

  /// Adds every plugin right in a directory, but none in the directories below it.
  ///
  /// Directories come in the order of their addition, their files by name, and a file with several names once.
  ///
  /// - Parameter directory: The directory's path.
  /// - Returns: A handle that removes the directory again. If a module adds it, unmounting the module removes it.
  /// - Throws: `ImageError` if the directory cannot be read; then it is not added. Other files are in the report.
  @discardableResult
  public func add(directory: String) throws(ImageError) -> Handle {
    try add(.directory(directory.isEmpty ? "" : directory.absolute))
  }

  /// Adds one plugin.
  ///
  /// - Parameter file: The file's path.
  /// - Returns: A handle that removes the plugin again. If a module adds it, unmounting the module removes it.
  /// - Throws: `ImageError` if the file cannot be read, or is no plugin; then it is not added.
  @discardableResult
  public func add(file: String) throws(ImageError) -> Handle { try add(.file(file.absolute)) }

  private func add(_ source: PluginCatalogue.Source) throws(ImageError) -> Handle {
    hive.owned(try store.add(source))
  }

  /// Looks at every directory and file again, and reads the files that are new or changed.
  public func refresh() { store.refresh() }

  /// Refreshes whenever the system reports a change, until the handle is cancelled.
  ///
  /// One thread waits for the system (inotify). Directories that are added later are watched too. A directory that is
  /// removed and made again is not watched until ``refresh()``.
  ///
  /// - Parameter changed: Called on that thread after each refresh, with no lock held.
  /// - Returns: A handle that ends it. If a module begins it, unmounting the module ends it.
  /// - Throws: `ImageError` if the system does not watch: there are too many watches, or no thread.
  public func watch(_ changed: @escaping @Sendable () -> Void = {}) throws(ImageError) -> Handle {
    hive.owned(try store.watch(changed))
  }

  /// The plugins, in the order of their sources, then by name.
  public var files: [PluginFile] {
    let loaded = store.others
    return store.catalogue.candidates.compactMap { PluginFile($0, loaded, store) }
  }

  /// The entries of plugins that are not loaded, in the same order; of each file the well-formed ones first.
  package var available: [Entry] { files.filter { !$0.isLoaded }.flatMap(\.entries) }

  /// Finds the entries that would implement a service if their plugins were loaded.
  ///
  /// - Parameter name: The service's name; the name of a type may leave out its outer names.
  /// - Returns: Well-formed entries of plugins that are not loaded, the larger priority first.
  public func implementations(of name: String) -> [Entry] {
    let found = available.filter { entry in
      guard entry.kind == .service, case .accepted = entry.state else { return false }
      return TypeName.couldMeanTheSame(name, entry.name)
    }
    return found.sorted { $0.attributes.priority > $1.attributes.priority }
  }

  /// Describes every file that was examined: what it offers, whether it is loaded, or why it is no plugin. Says which
  /// plugins this process would load, their order, and the reasons against the others.
  ///
  /// - Returns: A snapshot, as of the last ``refresh()``.
  public func report() -> PluginReport {
    PluginReport(store, store.others, Result { () throws(ImageError) in try admission() })
  }
}

extension Hive {
  /// The plugins that this Hive knows by their files.
  public var plugins: Plugins { Plugins(hive: self, store: attachment { PluginStore(of: $0) }) }
}

/// A plugin's file, as it was read: its identity, its entries and their requirements.
public struct PluginFile: Hashable, Sendable {
  /// The progress of a plugin, from its file to its entries in the Hive.
  public enum State: Hashable, Sendable {
    /// The file is there, and was not judged since it was changed.
    case found
    /// It must not be loaded: the first reason, then the others.
    case refused([PluginRefusal])
    /// It may be loaded.
    case admitted
    /// The loader opens it, or its modules start.
    case loading
    /// The Hive has its entries.
    case loaded
    /// It was not loaded, or it was withdrawn because a module of it did not start.
    case failed(Problem)
    /// A process ended while it loaded this file. It waits until the file changes or somebody removes the mark.
    case quarantined(PluginRefusal)
    /// Its entries were removed; its image stays mapped.
    case unloaded
  }

  /// The path that it was first found at.
  public var path: String
  /// The machine that it is for: `x86_64`, `aarch64`, …
  public var machine: String
  /// The build-id in hexadecimal digits; empty if it has none.
  public var buildID: String
  /// The names of the libraries that are opened with it.
  public var needed: [String]
  /// The identity: id, version and names; nil if the file states none.
  public var identity: PluginIdentity?
  /// Whether this process has loaded it.
  public var isLoaded: Bool
  /// Its progress.
  public var state: State
  /// Its entries: first the well-formed ones in their order, then those that every Hive rejects. None is
  /// bound: `Hive.entries` has the states of a loaded file's entries.
  public var entries: [Entry]
  /// The modules that its entries require, each with the accepted versions: `log >=1.2 <2`.
  public var requirements: [String]

  /// Nil if the candidate is no plugin.
  init?(_ candidate: PluginCatalogue.Candidate, _ loaded: LoadedFiles, _ store: PluginStore) {
    guard let manifest = try? candidate.found.get() else { return nil }
    let isLoaded =
      store.image(of: manifest.stamp) != nil
      || loaded.contains(manifest.stamp.number, manifest.identity.id)
    self.init(candidate, isLoaded: isLoaded, store.state(of: manifest, isLoaded: isLoaded))
  }

  init?(_ candidate: PluginCatalogue.Candidate, isLoaded: Bool, _ state: State) {
    guard let manifest = try? candidate.found.get() else { return nil }
    (self.isLoaded, self.state) = (isLoaded, state)
    path = candidate.path
    machine = manifest.identity.machine
    buildID = manifest.identity.id.hexadecimal
    needed = manifest.linkage.needed
    identity = manifest.plugin
    entries = Entry.unloaded(
      manifest.records, manifest.rejections,
      Problem(
        .notLoaded,
        isLoaded
          ? "hive.entries has its state" : "the file that declares it is not loaded; load it"))
    requirements = manifest.records.flatMap(\.attributes.requires)
  }
}

extension PluginFile.State {
  /// Makes the state of a judged plugin.
  init(_ plugin: AdmissionReport.Plugin) {
    let quarantine = plugin.refusals.first { $0.code == PluginRefusal.Code.quarantined.rawValue }
    self =
      quarantine.map { .quarantined($0) } ?? (plugin.loads ? .admitted : .refused(plugin.refusals))
  }

  /// Whether somebody has begun to load the plugin.
  var isOfLoad: Bool {
    switch self {
    case .loading, .loaded, .failed, .unloaded: true
    case .found, .refused, .admitted, .quarantined: false
    }
  }

  /// Its name in reports.
  var word: String { String("\(self)".prefix { $0 != "(" }) }

  /// The code and the message of the reason that it is not loaded.
  var reason: (code: String, message: String)? {
    switch self {
    case .refused(let refusals): refusals.first.map { ($0.code, $0.message) }
    case .quarantined(let refusal): (refusal.code, refusal.message)
    case .failed(let problem): (problem.code.rawValue, problem.message)
    case .found, .admitted, .loading, .loaded, .unloaded: nil
    }
  }
}
