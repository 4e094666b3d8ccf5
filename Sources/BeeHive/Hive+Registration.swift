internal import Registration
internal import Threads

extension Hive {
  /// Registers a service that a factory makes.
  ///
  ///     try hive.register((any Greeter).self, scope: .singleton) { _ in English() }
  ///
  /// - Parameters:
  ///   - type: What the service is asked for as, often a protocol.
  ///   - name: Tells it from others of the type; nil for the one that is asked for without a name.
  ///   - scope: How long an instance lives.
  ///   - priority: The largest answers a lookup; only services of one priority are duplicates.
  ///   - file: Where it is registered: errors and reports name the location.
  ///   - line: The line in that file.
  ///   - make: Makes an instance, on the thread that asks and with no lock held. Asks the Hive that it is
  ///     given for what it needs.
  /// - Throws: ``Problem`` of the code `duplicate` where the type, name and priority are taken; the service
  ///   is listed as rejected, with both locations.
  public func register<Service: Sendable>(
    _ type: Service.Type, name: String? = nil, scope: Scope = .transient, priority: Int = 0,
    file: String = #fileID, line: UInt = #line,
    _ make: @escaping @Sendable (Hive) throws -> Service
  ) throws(Problem) {
    try register(
      type, FactoryClosure(make), name: name, scope: scope, priority: priority, file: file,
      line: line)
  }

  /// Registers a service whose factory is given a parameter: ``service(_:name:with:)`` asks for it.
  ///
  /// - Parameters:
  ///   - type: What the service is asked for as.
  ///   - parameter: The type of the parameter.
  ///   - name: Tells it from others of the type.
  ///   - priority: The largest answers a lookup.
  ///   - file: Where it is registered.
  ///   - line: The line in that file.
  ///   - make: Makes an instance for each request.
  /// - Throws: ``Problem`` where it is a duplicate.
  public func register<Service: Sendable, Parameter: Sendable>(
    _ type: Service.Type, taking parameter: Parameter.Type, name: String? = nil,
    priority: Int = 0, file: String = #fileID, line: UInt = #line,
    _ make: @escaping @Sendable (Hive, Parameter) throws -> Service
  ) throws(Problem) {
    try register(
      type, FactoryClosure(make), name: name, scope: .transient, priority: priority, file: file,
      line: line)
  }

  func register<Service: Sendable>(
    _ type: Service.Type, _ factory: FactoryClosure, name: String?, scope: Scope, priority: Int,
    file: String, line: UInt
  ) throws(Problem) {
    try register(
      RegisteredEntry(
        service: TypeSpelling.of(type).qualified, given: name, scope: scope, priority: priority,
        source: .code(file: file, line: line), progress: .bound(.closure(factory))))
  }

  /// Registers an existing instance as a service.
  ///
  /// - Parameters:
  ///   - type: What the service is asked for as.
  ///   - name: Tells it from others of the type.
  ///   - priority: The largest answers a lookup.
  ///   - file: Where it is registered.
  ///   - line: The line in that file.
  ///   - instance: Answers every lookup; the Hive keeps it until the service is removed.
  /// - Throws: ``Problem`` where it is a duplicate.
  public func register<Service: Sendable>(
    _ type: Service.Type, name: String? = nil, priority: Int = 0, file: String = #fileID,
    line: UInt = #line, instance: Service
  ) throws(Problem) {
    try register(
      type, FactoryClosure(instance: instance), name: name, scope: .singleton, priority: priority,
      file: file, line: line)
  }

  /// Registers a type that makes itself, as a service that it has to conform to.
  ///
  /// - Parameters:
  ///   - type: What the service is asked for as.
  ///   - implementation: The type whose initialiser makes an instance.
  ///   - name: Tells it from others of the type.
  ///   - scope: How long an instance lives.
  ///   - priority: The largest answers a lookup.
  ///   - file: Where it is registered.
  ///   - line: The line in that file.
  /// - Throws: ``Problem`` where the implementation does not conform, or the service is a duplicate.
  public func register<Service: Sendable, Implementation: Injectable>(
    _ type: Service.Type, as implementation: Implementation.Type, name: String? = nil,
    scope: Scope = .transient, priority: Int = 0, file: String = #fileID, line: UInt = #line
  ) throws(Problem) {
    let progress: RegisteredEntry.Progress
    if case .fails(let reason) = Conformance.of(implementation, to: type) {
      progress = .rejected(Problem(.doesNotConform, reason))
    } else {
      progress = .bound(
        .injectable(implementation, serving: ObjectIdentifier(type as Any.Type)))
    }
    try register(
      RegisteredEntry(
        service: TypeSpelling.of(type).qualified,
        implementation: TypeSpelling.of(implementation).qualified, given: name, scope: scope,
        priority: priority, source: .code(file: file, line: line), progress: progress))
  }

  /// Registers what a file declares, by the same rules and in the same order as everything else.
  ///
  /// A refused entry, such as a duplicate, is listed in `entries` with its reason; the others are
  /// registered.
  ///
  /// - Parameters:
  ///   - registrations: The decoded contents. The Hive does not use its URL scheme.
  ///   - file: The name that reports print. A name that was given before is not registered again.
  /// - Throws: ``Problem`` with `unmounted`, if the module whose task calls has been unmounted.
  public func register(_ registrations: Registrations, file: String) throws(Problem) {
    let isNew = state.withLock { $0.files.insert(file).inserted }
    guard isNew else { return }
    let modules = registrations.moduleClasses.enumerated().map { index, module in
      RegisteredEntry(
        module: module.moduleClass, version: module.version, level: module.moduleLevel,
        priority: module.modulePriority, requires: module.requires, after: module.after,
        source: .file(file, keyPath: "moduleClasses[\(index)]"), progress: .accepted(.notYetLooked))
    }
    let services = registrations.services.enumerated().map { index, service in
      RegisteredEntry(
        service: service.service, implementation: service.impl, given: service.name,
        scope: service.scope, priority: service.priority,
        source: .file(file, keyPath: "services[\(index)]"), progress: .accepted(.notYetLooked))
    }
    let entries = modules + services
    add(entries)
    own { [self] in _ = state.withLock { $0.files.remove(file) } }
    try own(entries)
  }

  /// Says how to make what entries call by a name: a module, or the implementation of a service.
  ///
  /// Holds for entries that are there and for those that come. Giving a name twice replaces it for
  /// what is not bound yet. What a module gives is taken back when it has been unmounted.
  ///
  /// - Parameters:
  ///   - name: The module's name, or the implementation's as the entry spells it.
  ///   - make: Makes an instance, on the thread that asks and with no lock held.
  /// - Returns: Its `cancel()` takes it back: what it has bound is unbound again.
  @discardableResult
  public func bind<Value: Sendable>(
    _ name: String, _ make: @escaping @Sendable (Hive) throws -> Value
  ) -> Handle {
    let (version, _) = state.withLock { state in
      state.hostBindingsVersion += 1
      // Returned: what it holds ends when the lock is free.
      var factory = FactoryClosure(make)
      factory.binding = state.hostBindingsVersion
      let before = state.hostBindings.updateValue(factory, forKey: name)
      return (state.hostBindingsVersion, before)
    }
    return owned { [self] in unbind(name, version) }
  }

  private func unbind(_ name: String, _ version: Int) {
    // Returned: what it holds ends when the lock is free.
    let (entries, _) = state.withLock { state in
      let isLatest = state.hostBindings[name]?.binding == version
      let entries = state.table.unbind(version)
      for entry in entries { state.forgetAnswers(of: entry, cache: cache) }
      state.hostBindingsVersion += 1
      return (entries, isLatest ? state.hostBindings.removeValue(forKey: name) : nil)
    }
    for entry in entries { entry.existingSingleton?.reset() }
    cache.collect()
  }

  /// Removes what code registered as a service of this type. What an image or a file declares stays.
  ///
  /// - Parameters:
  ///   - type: What the service is asked for as.
  ///   - name: Its given name; nil for the one that has none.
  /// - Returns: The number of services removed. Instances that were handed out live on.
  @discardableResult
  public func remove<Service: Sendable>(_ type: Service.Type, name: String? = nil) -> Int {
    let spelling = TypeSpelling.of(type).qualified
    let removed = withdraw { entry in
      guard entry.kind == .service, case .code = entry.source else { return false }
      return entry.name == spelling && entry.attributes.name == name
    }
    return removed.count
  }

  /// Removes every service of a name, whatever registered or declared it.
  ///
  /// Swift instances that were handed out live on. What C libraries handed out must not be used again: what
  /// a factory made for all is given to its `destroy`. The library itself stays mapped.
  ///
  /// - Parameter name: The name of the type or the declared one, qualified with its module or not.
  /// - Returns: The number of services removed.
  @discardableResult
  public func removeServices(named name: String) -> Int {
    withdraw { $0.kind == .service && TypeName.couldMeanTheSame(name, $0.name) }.count
  }

  /// Takes in one entry, for the module whose code is running; throws where it is refused.
  func register(_ entry: RegisteredEntry) throws(Problem) {
    bindNamesakes(of: entry)
    add([entry])
    // Also one that is refused, since it is listed.
    try own([entry])
    if case .rejected(let problem) = state.withLock({ _ in entry.progress }) { throw problem }
  }

  /// Binds what came before and may serve as the same type, so that who comes second is known now.
  private func bindNamesakes(of entry: RegisteredEntry) {
    guard entry.kind == .service else { return }
    let unbound = state.withLock { state in
      TypeName(entry.name).suffixes.flatMap { name in
        state.table.services(named: name, given: entry.givenName).filter(\.isUnbound)
      }
    }
    for other in unbound { _ = boundProgress(of: other) }
  }

  /// Takes in entries, in their order.
  func add(_ entries: [RegisteredEntry]) {
    state.withLock { state in
      for entry in entries { state.add(entry, cache: cache) }
    }
    observers.deliver()
    cache.collect()
  }

  /// Takes out the entries for which `condition` holds, and returns them.
  @discardableResult
  func withdraw(where condition: (RegisteredEntry) -> Bool) -> [RegisteredEntry] {
    withdraw { $0.table.withdraw(where: condition) }
  }

  /// Takes out the entries that `choose` takes out of the table.
  func withdraw(_ choose: (inout State) -> [RegisteredEntry]) -> [RegisteredEntry] {
    let (gone, taken) = state.withLock { state in
      let gone = choose(&state)
      for entry in gone {
        state.forgetAnswers(of: entry, cache: cache)
        observers.post(.entryWithdrawn(entry.snapshot))
      }
      // A module that runs is torn down first.
      return (gone, state.take(gone.filter { $0.kind != .module }))
    }
    observers.deliver()
    for instance in taken { instance.destroy() }
    cache.collect(now: true)
    return gone
  }
}
