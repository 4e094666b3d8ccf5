internal import BeeHive
internal import BinaryImage
internal import PluginFiles
internal import Registration
internal import Threads

extension Plugins {
  /// The time when a plugin is loaded.
  public enum Activation: Hashable, Sendable {
    /// Never: it is refused.
    case never
    /// When a lookup or call needs what only this plugin declares, or ``Plugins/load(_:marks:)`` names it.
    case onDemand
    /// When the host calls ``Plugins/load(_:marks:)``.
    case atStart
  }

  /// The activation of the plugins that ``activations`` does not name; ``Activation/atStart`` by default.
  ///
  ///     hive.plugins.activation = .onDemand
  ///     let greeter: any Greeter = try hive.service()  // loads libgreet.so
  ///
  /// A lookup that finds nothing loads the admitted plugin that declares the service in this spelling. An unanswered
  /// URL or action loads the plugin that declares a route or target for it. Of several, the largest priority wins, then
  /// the latest version. The plugin is loaded on the thread of the lookup, with no lock held. Its modules start
  /// afterwards if the Hive runs. Rejected or ambiguous entries load nothing, and neither does a lookup of all
  /// implementations. A plugin that failed or was unloaded is not tried again. A constructor gets the error `cycle` if
  /// it looks up something that its own load is needed for.
  public var activation: Activation {
    get { store.state.withLock { $0.activation } }
    nonmutating set { change { $0.activation = newValue } }
  }

  /// The activation of single plugins, by their ids, their paths or the ends of their paths.
  ///
  ///     hive.plugins.activations = ["com.example.audit": .atStart, "libold.so": .never]
  ///
  /// If several names mean one plugin, `never` wins, then `onDemand`. The plugins that a plugin needs are loaded with
  /// it. If one of them is `never` loaded, both are refused. Loaded plugins stay loaded.
  public var activations: [String: Activation] {
    get { store.state.withLock { $0.activations } }
    nonmutating set { change { $0.activations = newValue } }
  }

  private func change(_ body: (inout PluginStore.State) -> Void) {
    let isNeeded = store.state.withLock { state in
      body(&state)
      return ([state.activation] + state.activations.values).contains(.onDemand)
    }
    let supply: Hive.Supplier = {
      [weak hive = hive, store = store] isWanted throws(ServiceError) in
      guard let hive else { return false }
      return try Plugins(hive: hive, store: store).supply(isWanted)
    }
    hive.supplier.withLock { $0 = isNeeded ? supply : nil }
  }

  /// Loads the best plugin with a wanted record, and the plugins that it needs. Returns whether there was one.
  private func supply(_ isWanted: (Record) -> Bool) throws(ServiceError) -> Bool {
    let state = store.state.withLock { $0 }
    typealias Offer = (path: String, record: Record)
    func unusable(_ offer: Offer, _ reason: String) -> ServiceError {
      .init(
        .unusable, service: offer.record.name, message: "\(offer.path) declares it and \(reason)")
    }
    var (offers, failures) = ([] as [Offer], [] as [ServiceError])
    for candidate in state.catalogue.candidates {
      guard let manifest = try? candidate.found.get() else { continue }
      let wanted = manifest.records.filter(isWanted).map { Offer(manifest.path, $0) }
      guard let first = wanted.first,
        state.activation(of: manifest.plugin, at: candidate.paths) == .onDemand
      else { continue }
      if store.isUntouched(manifest.stamp) {
        offers += wanted
      } else if first.record.kind == .service,
        case .failed(let problem) = store.state(of: manifest, isLoaded: false)
      {
        failures.append(unusable(first, "has failed: \(problem.message)"))
      }
    }
    guard let first = offers.first else {
      if let failure = failures.first { throw failure }
      return false
    }
    let report: AdmissionReport
    do throws(Problem) { report = try judge() } catch {
      throw unusable(first, "is not judged: \(error.message)")
    }
    let loading = report.loading
    let best = offers.compactMap { offer in
      loading.first { $0.paths.has(offer.path) }.map { (plugin: $0, record: offer.record) }
    }.min { $0.record.attributes.come(before: $1.record.attributes) }?.plugin
    guard let best else {
      guard let offer = offers.first(where: { $0.record.kind == .service }),
        let plugin = report.plugins.first(where: { $0.paths.has(offer.path) }),
        let refusal = plugin.refusals.first,
        // The lookup itself reports removed entries.
        state.images.last(where: { [$0.path].has(refusal.cause ?? "") })?.isTakenIn != false
      else { return false }
      throw unusable(offer, "is refused: \(refusal.message) \(refusal.remedy)")
    }
    for plugin in report.loading([best.path]) where !store.isTakenIn(plugin.stamp) {
      guard store.isUntouched(plugin.stamp) else {
        throw ServiceError(
          .creationFailed, service: best.path,
          message: "it needs \(plugin.path), which has failed or was unloaded")
      }
      store.note(.loading, of: plugin.stamp)
      let before = store.withdrawals(of: plugin.stamp)
      let (names, problem) = opened(plugin)
      if let problem {
        store.note(.failed(problem), of: plugin.stamp)
        withdraw(names)
        throw ServiceError(.creationFailed, service: best.path, message: problem.message)
      }
      if store.withdrawals(of: plugin.stamp) == before { store.note(.loaded, of: plugin.stamp) }
      takeInLater(names[0], of: plugin, unlessWithdrawnSince: before)
    }
    return true
  }
}
