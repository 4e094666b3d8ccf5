internal import BeeHive
internal import BinaryImage
internal import PluginFiles
internal import Registration
internal import Threads

extension Plugins {
  /// When plugins are loaded.
  public enum Activation: Hashable, Sendable {
    /// When the host calls ``Plugins/load(_:marks:)``.
    case atStart
    /// Then, and when a lookup wants a service that only a plugin declares which is not loaded.
    case onDemand
  }

  /// When the plugins of this Hive are loaded; ``Activation/atStart`` at first.
  ///
  ///     hive.plugins.activation = .onDemand
  ///     let greeter: any Greeter = try hive.service()  // loads libgreet.so
  ///
  /// With ``Activation/onDemand`` a lookup that finds nothing loads the admitted plugin that declares a service of this
  /// name, on the thread that looks it up and with no lock held: the one with the largest priority, then of the latest
  /// version. Its modules start afterwards, if the Hive runs. An entry that is rejected or ambiguous loads nothing, and
  /// neither does a lookup of all implementations. A plugin that has failed, or was unloaded, is not tried again. A
  /// constructor that looks up what its own load is needed for gets the error `cycle`.
  public var activation: Activation {
    get { store.state.withLock { $0.activation } }
    nonmutating set {
      store.state.withLock { $0.activation = newValue }
      let supply: Hive.Supplier = {
        [weak hive = hive, store = store] names, given throws(ServiceError) in
        guard let hive else { return false }
        return try Plugins(hive: hive, store: store).supply(names, given)
      }
      hive.supplier.withLock { $0 = newValue == .onDemand ? supply : nil }
    }
  }

  /// Loads the best plugin that declares a service, and those that it needs. Returns whether there was one.
  private func supply(_ names: [String], _ given: String?) throws(ServiceError) -> Bool {
    let offers = store.catalogue.manifests.filter(store.isUntouched).flatMap { manifest in
      manifest.records.filter { record in
        record.kind == .service && names.contains(record.name)
          && (given == nil || record.attributes.name == given)
      }.map { (path: manifest.path, record: $0) }
    }
    guard !offers.isEmpty, let report = try? judge() else { return false }
    let loading = Dictionary(report.loading.map { ($0.path, $0) }) { first, _ in first }
    var best: (plugin: AdmissionReport.Plugin, record: Record)?
    for (path, record) in offers where best.map({ record.answers(before: $0.record) }) != false {
      if let plugin = loading[path] { best = (plugin, record) }
    }
    guard let best = best?.plugin, let plugins = try? report.plugins(named: [best.path]) else {
      return false
    }
    for plugin in plugins where !isTakenIn(plugin) {
      store.note(.loading, of: plugin.path)
      let (names, problem) = opened(plugin)
      if let problem {
        store.note(.failed(problem), of: plugin.path)
        withdraw(names)
        throw ServiceError(.creationFailed, service: best.path, message: problem.message)
      }
      store.note(.loaded, of: plugin.path)
      Task(executorPreference: ModuleThreads.shared) {
        do throws(Problem) { try await takeIn(names[0], of: plugin.path) } catch {
          store.note(.failed(error), of: plugin.path)
        }
      }
    }
    return true
  }
}

extension Record {
  /// Whether a service of this record is to be loaded before that of another.
  fileprivate func answers(before other: Record) -> Bool {
    if attributes.priority != other.attributes.priority {
      return attributes.priority > other.attributes.priority
    }
    guard let own = attributes.version.flatMap({ Version($0) }) else { return false }
    return other.attributes.version.flatMap { Version($0) }.map { own > $0 } ?? true
  }
}
