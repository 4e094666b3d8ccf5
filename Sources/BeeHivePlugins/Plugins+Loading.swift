public import BeeHive
internal import BinaryImage
internal import PluginFiles
internal import Registration
internal import Threads

extension Plugins {
  /// Loads plugins: the very files that were judged, each after the plugins that it needs.
  ///
  ///     try await hive.plugins.load()
  ///     try await hive.plugins.load("libgreet.so", "com.example.shop >=1.2 <2")
  ///
  /// First reads all directories again and judges their plugins, once for the whole call. Opens each plugin with
  /// `RTLD_NOW` and `RTLD_LOCAL` and takes in its entries. If the Hive runs, starts its modules; otherwise they start
  /// with the others. A plugin that fails is withdrawn wholly. Plugins that need it are not tried; the others are
  /// loaded. An unloaded plugin comes back. Inside a step of a module the call does not wait for the new modules: they
  /// start after that step, and the returned plugins are `loading` until then.
  ///
  /// The loader must open the judged file. By default the Hive checks that afterwards, when constructors of another
  /// file may have run. Under `PluginPolicy.strict` the loader never opens another file: it gets links to the judged
  /// files in a private folder, and searches for no other.
  ///
  /// A mark says that a plugin is being opened. A plugin that ends or hangs its process leaves the mark behind. It is
  /// quarantined until its file changes or somebody removes the mark. Without a folder there are no marks.
  ///
  /// - Parameters:
  ///   - plugins: Their ids, paths or ends of paths, each with the accepted versions, which ``policy`` requires from
  ///     now on. If empty, all admitted plugins that are to be loaded at start.
  ///   - marks: The folder for marks from now on; nil for `plugins` in the program's folder of `$XDG_STATE_HOME`.
  /// - Returns: The plugins that were loaded now, in this order.
  /// - Throws: `Problem` with the reason for each of these plugins that was not loaded.
  @discardableResult
  public func load(
    _ plugins: String..., marks: String? = nil
  ) async throws(Problem) -> [PluginFile] {
    store.refresh()
    let wanted = plugins.map { ModuleRequirement($0) }
    if let other = wanted.first(where: { !$0.isReadable }) {
      let remedy = Remedy.writeVersions
      throw Problem(
        .notLoaded, "\(other.name): the versions \(other.versions) cannot be read; \(remedy)")
    }
    store.state.withLock { state in
      state.marks = marks?.absolute ?? state.marks
      for plugin in wanted where !plugin.versions.isEmpty {
        state.policy.versions[plugin.name] = plugin.versions
      }
    }
    let report = try judge()
    let state = store.state.withLock { $0 }
    let paths = try wanted.map { plugin throws(Problem) in try report.path(of: plugin.name) }
    let atStart = report.loading.filter {
      state.activation(of: $0.identity, at: $0.paths) == .atStart
    }
    let chosen = report.loading(plugins.isEmpty ? atStart.map(\.path) : paths)
    var loaded: [AdmissionReport.Plugin] = []
    var failures: [String] = []
    var lacking: [(path: String, reason: String)] = []
    each: for plugin in chosen {
      // If others need it, waits for the call that loads it.
      let isNeeded = !hive.isInsideStep && chosen.contains { $0.needs.has(plugin.path) }
      while !store.begin(plugin.stamp) {
        guard isNeeded, !Task.isCancelled else {
          lacking.append((plugin.path, "which another call loads: try again after that"))
          continue each
        }
        try? await Task.sleep(for: .milliseconds(10))
      }
      defer { store.end(plugin.stamp) }
      if store.isTakenIn(plugin.stamp) { continue }
      if !hive.isInsideStep { await store.state.withLock { $0.later[plugin.stamp] }?.value }
      do throws(Problem) {
        if let (cause, reason) = lacking.first(where: { plugin.needs.has($0.path) }) {
          let problem = Problem(.notLoaded, "\(plugin.path) needs \(cause), \(reason)")
          store.note(.failed(problem), of: plugin.stamp)
          throw problem
        }
        store.note(.loading, of: plugin.stamp)
        let before = store.withdrawals(of: plugin.stamp)
        let name = try await open(plugin)
        if hive.isInsideStep {
          _ = try? hive.bringBack(image: name)
          takeInLater(name, of: plugin, unlessWithdrawnSince: before)
        } else {
          try await takeIn(name, of: plugin, unlessWithdrawnSince: before)
        }
        loaded.append(plugin)
      } catch {
        failures.append(error.message)
        lacking.append((plugin.path, "which was not loaded"))
      }
    }
    if !failures.isEmpty { throw Problem(.notLoaded, failures.joined(separator: "; ")) }
    let known = files
    return loaded.compactMap { plugin in known.first { plugin.paths.has($0.path) } }
  }

  /// Judges all plugins; throws if the process may open too few files for that.
  func judge(reloaded: String? = nil) throws(Problem) -> AdmissionReport {
    do throws(ImageError) {
      let report = try admission(keptFiles: mostOpenFiles / 32, reloaded: reloaded)
      let said = report.problems + report.plugins.flatMap(\.refusals).map(\.message)
      guard let lack = said.first(where: \.saysTooManyFiles) else { return report }
      throw ImageError(.unreadable, image: "plugins", message: "Not all were judged: \(lack)")
    } catch { throw Problem(.notLoaded, error.description) }
  }

  /// Opens a plugin on a thread that it may block. Returns the loader's name for it.
  private func open(_ plugin: AdmissionReport.Plugin) async throws(Problem) -> String {
    let (names, problem) = await Task(executorPreference: ModuleThreads.shared) { opened(plugin) }
      .value
    guard let problem else { return names[0] }
    store.note(.failed(problem), of: plugin.stamp)
    store.forget(names)
    await hive.takeOut(images: names)
    throw problem
  }

  /// Takes in the entries of a plugin, starts its modules and notes the result. Withdraws everything if that fails, or
  /// if the number of withdrawals is no longer `before` because somebody unloaded the plugin.
  func takeIn(
    _ name: String, of plugin: AdmissionReport.Plugin, unlessWithdrawnSince before: Int
  ) async throws(Problem) {
    var isUnloaded: Bool { store.withdrawals(of: plugin.stamp) != before }
    var failure: any Error = Problem(.notLoaded, "it was unloaded meanwhile")
    do {
      if store.note(true, ofImage: name, since: before) != nil {
        if plugin.isRegistered { try await hive.takeIn(image: name) }
        if !isUnloaded { return store.note(.loaded, of: plugin.stamp) }
      } else if !isUnloaded {
        throw Problem(.notLoaded, "another build of it was loaded meanwhile")
      }
    } catch { failure = error }
    let isWanted = !isUnloaded
    await hive.takeOut(images: [name])
    store.note(false, ofImage: name)
    let problem = Problem(.notLoaded, "\(plugin.path) was withdrawn: \(failure)")
    store.note(isWanted ? .failed(problem) : .unloaded, of: plugin.stamp)
    throw problem
  }

  /// Takes a plugin in later: after the module step that this may run in, and after earlier tasks for the plugin.
  func takeInLater(
    _ name: String, of plugin: AdmissionReport.Plugin, unlessWithdrawnSince before: Int
  ) {
    store.state.withLock { state in
      let earlier = state.later[plugin.stamp]
      state.later[plugin.stamp] = Task.detached(executorPreference: ModuleThreads.shared) {
        await earlier?.value
        try? await takeIn(name, of: plugin, unlessWithdrawnSince: before)
      }
    }
  }

  /// Opens a plugin on this thread, or waits for the thread that does.
  ///
  /// - Returns: The loader's name for it; or a problem, and the names of the images to withdraw.
  func opened(_ plugin: AdmissionReport.Plugin) -> (names: [String], problem: Problem?) {
    guard let judged = plugin.closure, let file = judged.members.first else {
      return ([], Problem(.notLoaded, "\(plugin.path) is not admitted"))
    }
    if let image = store.image(of: file.stamp) { return ([image.name], nil) }
    let closure: LoadClosure
    do throws(ImageError) { closure = try judged.opened() } catch {
      return ([], Problem(.notLoaded, error.description))
    }
    let (policy, marks) = store.state.withLock { ($0.policy, LoadMarks(in: $0.marks)) }
    if marks == nil { store.state.withLock { $0.unmarked = LoadMarks.withoutFolder } }
    let loader = ClosureLoader(closure: closure, isStrict: policy.opensJudgedFiles)
    var strays: [String] = []
    do throws(ServiceError) {
      // A load that was under way may have been another Hive's.
      for _ in 0..<2 where store.image(of: file.stamp) == nil {
        try store.load(of: file).run { () throws(ServiceError) in
          // The host may have opened it, or another thread since this one looked.
          if store.image(of: file.stamp) != nil { return }
          let manifest =
            loader.isOpen ? try? store.catalogue.candidate(of: file.stamp)?.found.get() : nil
          let known = manifest.flatMap { store.others.name(of: $0.stamp.number, $0.identity.id) }
          let (names, problem) =
            known.map { (names: [$0], problem: Problem?.none) }
            ?? marks?.whileLoading(
              file.path, file.stamp,
              noted: { error in store.state.withLock { $0.unmarked = error } }, loader.open)
            ?? loader.open()
          store.endLoad(of: file, as: problem == nil ? names.last : nil)
          guard let problem else { return }
          strays = names
          throw ServiceError(.creationFailed, service: file.path, message: problem.message)
        }
      }
    } catch { return (strays, Problem(.notLoaded, error.message)) }
    if let image = store.image(of: file.stamp) { return ([image.name], nil) }
    let reason = "is open already, by its path or another name: load it before anything else does"
    return ([], Problem(.notLoaded, "\(file.path) \(reason)"))
  }

  /// The changes of states from now on: each plugin with its new state, one after the other.
  ///
  ///     for await file in hive.plugins.changes { print(file.path, file.state) }
  ///
  /// Ends with the Hive. A reader who does not keep up gets the last 4,096 changes.
  public var changes: AsyncStream<PluginFile> { store.changes.stream(most: 4096) }
}

extension AdmissionReport {
  /// Returns the path of the plugin that a name means; throws the reason that it would not load.
  fileprivate func path(of name: String) throws(Problem) -> String {
    let meant = plugins.filter { PluginIdentity.isPlugin($0.identity, at: $0.paths, called: name) }
    if let plugin = meant.first(where: \.loads) { return plugin.path }
    // A plugin of a wanted version gives a better reason than one of another version.
    let other = PluginRefusal.Code.otherVersion.rawValue
    let wanted = meant.first { $0.refusals.first?.code != other } ?? meant.first
    let reason = wanted?.refusals.first.map { "is refused: \($0.message) \($0.remedy)" }
    throw Problem(.notLoaded, "\(name) \(reason ?? "is none of the plugins that were added")")
  }

  /// Returns the plugins at these paths and the plugins that they need, in loading order.
  func loading(_ paths: [String]) -> [Plugin] {
    var wanted = Set(paths.map { Array($0.utf8) })
    for plugin in loading.reversed() where wanted.contains(Array(plugin.path.utf8)) {
      wanted.formUnion(plugin.needs.map { Array($0.utf8) })
    }
    return loading.filter { wanted.contains(Array($0.path.utf8)) }
  }
}

// MARK: Unloading

extension Plugins {
  /// Removes the entries of plugins from the Hive, the last loaded plugin first.
  ///
  /// Tears their modules down and unmounts them first; then their names are free. Their images stay mapped, because
  /// others may have pointers into them. Their threads and `atexit` handlers stay too. ``load(_:marks:)`` brings a
  /// plugin back.
  ///
  /// - Parameter plugins: Their ids, paths or ends of paths; if empty, all loaded plugins.
  /// - Returns: The users of them that the Hive counts; one sentence each.
  /// - Throws: `Problem` if one of them is not loaded; then nothing is unloaded.
  @discardableResult
  public func unload(_ plugins: String...) async throws(Problem) -> [String] {
    let loaded = loadedImages()
    for name in plugins where !loaded.contains(where: { $0.isCalled(name) }) {
      throw Problem(.notLoaded, "\(name) is not loaded, so it cannot be unloaded")
    }
    let chosen = loaded.filter { plugins.isEmpty || plugins.contains(where: $0.isCalled) }
    var (users, left) = ([] as [String], chosen)
    // Loads that are under way may bring some of them back.
    while !left.isEmpty {
      for image in left { store.note(false, ofImage: image.name) }
      users += await hive.takeOut(images: left.map(\.name))
      let takenIn = store.takenIn
      left = left.filter { image in takenIn.contains { $0.isNamed(image.name) } }
    }
    // Calls that load or replace them notice the unload and undo their own work. Waits for these calls.
    while !hive.isInsideStep, !Task.isCancelled, store.isBegun(at: chosen.map(\.path)) {
      try? await Task.sleep(for: .milliseconds(10))
    }
    for image in chosen { store.note(.unloaded, of: image.stamp) }
    return users
  }

  /// Replaces a plugin with the file that was renamed over its own, while the process goes on.
  ///
  ///     try await hive.plugins.reload("libgreet.so")  // after: mv libgreet.so.new libgreet.so
  ///
  /// Judges the new file first. Then its entries replace the entries of the old file at once, as with
  /// ``BeeHive/Hive/replace(image:with:judging:)``. If a step fails, the old file stays in use.
  ///
  /// - Parameter plugin: Its id, path or end of a path; it must mean one plugin only.
  /// - Returns: The users of the old file that the Hive counts; one sentence each.
  /// - Throws: `Problem` with the reason that the old file stays in use.
  @discardableResult
  public func reload(_ plugin: String) async throws(Problem) -> [String] {
    store.refresh()
    let found = loadedImages().filter { $0.isCalled(plugin) }
    guard let old = found.first, found.count == 1 else {
      let paths = found.map(\.path).joined(separator: ", ")
      throw Problem(
        .notReplaced,
        found.isEmpty ? "\(plugin) is not loaded" : "say which \(plugin) is meant: \(paths)")
    }
    let judged = try judge(reloaded: old.name).plugins.first { $0.paths.has(old.path) }
    guard let new = judged else {
      throw Problem(.notReplaced, "\(old.path) is not there any more, or is no plugin")
    }
    guard store.begin(new.stamp) else {
      throw Problem(.notReplaced, "another call loads the new \(old.path)")
    }
    defer { store.end(new.stamp) }
    // Whether the new file may be open, so that it must be withdrawn after a failure.
    let isBegun = Lock(false)
    do throws(Problem) {
      let users = try await hive.replace(image: old.name, called: old.path, with: old.path) { _ in
        if let refusal = new.refusals.first {
          throw Problem(.notReplaced, "\(refusal.message) \(refusal.remedy)")
        }
        if new.stamp?.number == old.stamp.number {
          throw Problem(.notReplaced, "it is the file that is loaded; rename the new build over it")
        }
        let isNamed = PluginIdentity.isPlugin(new.identity, at: new.paths, called: plugin)
        guard isNamed, old.identity == nil || old.identity?.id == new.identity?.id else {
          throw Problem(.notReplaced, "\(old.path) is another plugin now, and not \(plugin)")
        }
        // Another call may have been here before.
        if store.isTakenIn(new.stamp) {
          throw Problem(.notReplaced, "the new file is loaded already")
        }
      } opening: { _ in
        isBegun.change { $0 = true }
        store.note(.loading, of: new.stamp)
        let (names, problem) = opened(new)
        if let problem {
          withdraw(names)
          throw problem
        }
        return names[0]
      }
      if store.withdrawals(of: old.stamp) != old.withdrawals {
        throw Problem(.notReplaced, "\(old.path) was unloaded meanwhile")
      }
      store.note(true, ofImage: store.image(of: new.stamp)?.name, for: old.name)
      // A load of the old file that was under way may have brought it back.
      await hive.takeOut(images: [old.name])
      store.note(.loaded, of: new.stamp)
      return users
    } catch {
      if isBegun.withLock(\.self), let stamp = new.stamp {
        // The new file may still be opening; the path of the old file leads to it.
        let name = store.image(of: stamp)?.name ?? store.others.name(of: stamp.number)
        store.note(false, ofImage: name)
        await hive.takeOut(images: [name].compactMap(\.self))
        store.note(.failed(error), of: stamp)
      }
      // Stepping back has restored entries that somebody unloaded meanwhile.
      let gone = store.withdrawals(of: old.stamp) != old.withdrawals ? [old.name] : []
      await hive.takeOut(images: gone)
      throw error
    }
  }

  /// Withdraws images that a failed load has opened.
  func withdraw(_ names: [String]) {
    store.forget(names)
    Task(executorPreference: ModuleThreads.shared) { await hive.takeOut(images: names) }
  }

  /// Returns the plugins that the Hive has entries of, and those that the host has opened itself.
  private func loadedImages() -> [PluginStore.Image] {
    let loaded = store.others
    for manifest in store.catalogue.manifests where store.image(of: manifest.stamp) == nil {
      guard let name = loaded.name(of: manifest.stamp.number, manifest.identity.id),
        !store.state.withLock({ $0.strays.contains(name) })
      else { continue }
      store.add(manifest.path, manifest.stamp, as: name)
    }
    return store.takenIn
  }
}
