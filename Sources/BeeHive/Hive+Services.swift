public import CEpoch
public import CImageEvents
internal import CSwiftRuntime
internal import SwiftMetadata
public import Synchronization
internal import Threads

extension Hive {
  /// Returns the service of a type: the one singleton, or a new instance, as its scope says.
  ///
  ///     let greeter: any Greeter = try hive.service()
  ///
  /// May be called from any thread. A singleton that has been made before is found without a lock; else the
  /// factory runs on the calling thread, with no lock held.
  ///
  /// - Parameter type: The type that the service was registered or declared as.
  /// - Returns: The instance of the entry that has the largest priority.
  /// - Throws: ``ServiceError``: `notFound`, with names that are nearly the same; `ambiguous`, with the
  ///   locations of those that serve equally well; `unusable`; `cycle`; or `creationFailed`, with the
  ///   factory's error.
  @inlinable @inline(__always)
  public func service<Service: Sendable>(
    _ type: Service.Type = Service.self
  ) throws(ServiceError) -> Service {
    // Written out rather than as an optional: an existential is copied once, into its place.
    if isUpToDate {
      let reader = unsafe beehive_read_begin()
      if let cached = unsafe cache.cached(type, at: LookupCache.key(of: type)) {
        let service = unsafe cached._withUnsafeGuaranteedRef { $0.value }
        unsafe beehive_read_end(reader)
        return service
      }
      unsafe beehive_read_end(reader)
    }
    return try resolve(type)
  }

  /// Returns the service of a type that has a given name.
  ///
  /// - Parameters:
  ///   - type: The type that the service was registered or declared as.
  ///   - name: The name that it was given.
  /// - Returns: The instance of the entry that has the largest priority.
  /// - Throws: ``ServiceError`` as ``service(_:)`` does.
  public func service<Service: Sendable>(
    _ type: Service.Type = Service.self, name: String
  ) throws(ServiceError) -> Service {
    try resolve(type, name: name)
  }

  /// Returns a service that is made with a parameter.
  ///
  /// - Parameters:
  ///   - type: The type that the service was registered as.
  ///   - name: The name that it was given, if any.
  ///   - parameter: Goes to the factory, which was registered `taking` its type.
  /// - Returns: A new instance.
  /// - Throws: ``ServiceError`` as ``service(_:)`` does.
  public func service<Service: Sendable, Parameter: Sendable>(
    _ type: Service.Type = Service.self, name: String? = nil, with parameter: Parameter
  ) throws(ServiceError) -> Service {
    try resolve(ServiceLookup(type: type, name: name, parameter: parameter, hive: self))
  }

  /// Returns every implementation of a service, whatever its name.
  ///
  /// - Parameter type: The type that the services were registered or declared as.
  /// - Returns: The services, the largest priority first; empty if there is none.
  /// - Throws: ``ServiceError`` if one of them cannot be made.
  public func all<Service: Sendable>(
    of type: Service.Type = Service.self
  ) throws(ServiceError) -> [Service] {
    try ServiceLookup(type: type, name: nil, hive: self).all()
  }

  /// Finds the implementations of a service. Makes none.
  ///
  /// - Parameter type: The type that the services were registered or declared as.
  /// - Returns: The entries with any given name or none, the largest priority first, each with the implementing type.
  ///   The type is nil if only the factory knows it, or if it is private. Empty if there is none.
  public func implementations<Service: Sendable>(
    of type: Service.Type = Service.self
  ) -> [(entry: Entry, type: Any.Type?)] {
    let found = ServiceLookup(type: type, name: nil, hive: self).implementations()
    return state.withLock { _ in
      found.map { (entry: $0.entry.snapshot, type: $0.type) }
    }
  }

  /// Lends the service for the call's duration, without counting a reference.
  ///
  /// For the hottest call sites.
  ///
  /// - Parameters:
  ///   - type: The type that the service was registered or declared as.
  ///   - body: Uses the service. It is short and does not wait: while it runs, services withdrawn from any Hive stay in
  ///     memory.
  /// - Returns: What `body` returns.
  /// - Throws: ``ServiceError`` as ``service(_:)`` does, and what `body` throws.
  @inlinable @inline(__always)
  public func withService<Service: Sendable, Result>(
    _ type: Service.Type = Service.self, _ body: (borrowing Service) throws -> Result
  ) throws -> Result {
    if isUpToDate {
      let result = try cache.withValue(type, at: LookupCache.key(of: type), body)
      if let result { return result }
    }
    return try body(resolve(type))
  }

  /// Whether every image that announced itself has been merged.
  @inlinable @inline(__always)
  var isUpToDate: Bool {
    !followsLoader || image_events_generation() == seenAnnouncements.load(ordering: .relaxed)
  }

  /// Takes the long way: finds the entry, makes the instance, and keeps a singleton.
  @usableFromInline
  func resolve<Service: Sendable>(_ type: Service.Type) throws(ServiceError) -> Service {
    let key = LookupCache.recipeKey(LookupCache.key(of: type))
    let found = isUpToDate ? cache.object(at: key, name: nil) : nil
    if found is CachedValue<ServiceError> {
      try ServiceLookup(type: type, name: nil, hive: self).missAgain()
    }
    return try resolve(type, name: nil, found)
  }

  /// Not inlined, because each function that holds a `Service?` asks the runtime for its metadata.
  @inline(never)
  private func resolve<Service: Sendable>(
    _ type: Service.Type, name: String?, _ found: CachedService? = nil
  ) throws(ServiceError) -> Service {
    if let name, let made: Service = made(at: LookupCache.key(of: type, name: name), name: name) {
      return made
    }
    let lookup = ServiceLookup(type: type, name: name, hive: self)
    do throws(ServiceError) {
      if isUpToDate, let service = try lookup.again(found) { return service }
    } catch {
      if !error.isGone { throw error }
    }
    return try resolve(lookup)
  }

  func resolve<Service: Sendable>(
    _ lookup: ServiceLookup<Service>
  ) throws(ServiceError) -> Service {
    try resolve(lookup) { lookup throws(ServiceError) in try lookup.run() }
  }

  /// The most attempts of a lookup whose entry is removed each time.
  private static let mostTurns = 100

  /// Returns the answer of `run`: with the images that announced themselves, else with all loaded images.
  func resolve<Service: Sendable, Answer>(
    _ lookup: ServiceLookup<Service>,
    _ run: (inout ServiceLookup<Service>) throws(ServiceError) -> Answer?
  ) throws(ServiceError) -> Answer {
    var lookup = lookup
    // After a miss, ask the loader, so that an image without an anchor is not overlooked. Look again even if the loader
    // has nothing new: another thread may have merged the image.
    for isProbing in [false, true] {
      if let answer = try attempt(&lookup, probing: isProbing, run) { return answer }
    }
    // After a second miss, the supplier may load it, unless an entry cannot serve. Another thread may have, too.
    var isSupplied = true
    let (names, given) = (lookup.names, lookup.name)
    while isSupplied, lookup.refusals.isEmpty, let supply = supplier.withLock({ $0 }) {
      isSupplied = try supply { record in
        record.kind == .service && names.contains(record.name)
          && (given == nil || record.attributes.name == given)
      }
      if let answer = try attempt(&lookup, probing: true, run) { return answer }
    }
    throw lookup.failure()
  }

  /// Returns the answer of `run` with the images that are there now; nil if it finds nothing.
  private func attempt<Service: Sendable, Answer>(
    _ lookup: inout ServiceLookup<Service>, probing isProbing: Bool,
    _ run: (inout ServiceLookup<Service>) throws(ServiceError) -> Answer?
  ) throws(ServiceError) -> Answer? {
    catchUp(probing: isProbing)
    var turns = 0
    while true {
      do throws(ServiceError) { return try run(&lookup) } catch {
        turns += 1
        guard error.isGone, turns < Self.mostTurns else { throw error }
      }
    }
  }

  /// Returns the kept answer for a named service or a C service; nil if there is none.
  func made<Service: Sendable>(at key: UInt, name: String) -> Service? {
    guard isUpToDate else { return nil }
    return (cache.object(at: key, name: name) as? CachedValue<Service>)?.value
  }

  /// Opens a scope for scoped services.
  ///
  /// - Returns: The scope. Keep it: it ends when its last reference goes.
  public func makeScope() -> ServiceScope { ServiceScope(hive: self) }
}

// MARK: Asynchronous services

extension Hive {
  /// Registers a service that asynchronous code makes, or code of an actor: `{ @MainActor hive in … }`.
  ///
  /// ``load(_:name:)`` asks for it. A singleton is loaded once, however many tasks ask at once; from then
  /// on ``service(_:)`` finds it too.
  ///
  /// - Parameters:
  ///   - type: The type that lookups name.
  ///   - name: Tells it from others of the type; nil for the one that lookups without a name find.
  ///   - scope: `transient` or `singleton`.
  ///   - priority: The largest answers a lookup; only services of one priority are duplicates.
  ///   - file: The file that registers it: errors and reports name the location.
  ///   - line: The line in that file.
  ///   - load: Makes an instance. For a singleton, it runs in a task of its own: cancelling a task that asked does not
  ///     cancel it.
  /// - Throws: ``Problem`` if it is a duplicate, or if `scope` is `scoped` or `weak`.
  public func register<Service: Sendable>(
    _ type: Service.Type, name: String? = nil, scope: Scope = .transient, priority: Int = 0,
    file: String = #fileID, line: UInt = #line,
    loading load: @escaping @Sendable (Hive) async throws -> Service
  ) throws(Problem) {
    guard scope == .transient || scope == .singleton else {
      throw Problem(
        Problem.Code(rawValue: Rejection.Reason.badAttribute.rawValue),
        "scope=\(scope.rawValue) cannot be made asynchronously; use transient or singleton")
    }
    try register(
      type, FactoryClosure(loading: load), name: name, scope: scope, priority: priority, file: file,
      line: line)
  }

  /// Returns the service of a type, whose factory may be asynchronous.
  ///
  /// A singleton is loaded once, however many tasks ask for it.
  ///
  /// - Parameters:
  ///   - type: The type that the service was registered or declared as.
  ///   - name: The name that it was given, if any.
  /// - Returns: The instance of the entry that has the largest priority.
  /// - Throws: ``ServiceError`` as ``service(_:)`` does; services that wait for each other get `cycle`, which names
  ///   them, instead of a deadlock.
  public func load<Service: Sendable>(
    _ type: Service.Type = Service.self, name: String? = nil
  ) async throws(ServiceError) -> Service {
    var lookup = ServiceLookup(type: type, name: name, hive: self)
    lookup.isPatient = true
    let found = try resolve(lookup) { lookup throws(ServiceError) in try lookup.choose() }
    guard case .closure(let factory) = found.provider, let load = factory.load else {
      return try resolve(lookup)
    }
    return try await lookup.loaded(found.entry, load)
  }
}

// MARK: Overrides

extension Hive {
  /// Overrides a service for the current task and those that it starts, while a closure runs.
  ///
  /// For tests, which may run at the same time on one Hive. Overrides nest, and the latest answers. Singletons that the
  /// task asks for meanwhile are made for this task only, and end with `body`. The override replaces the entry that
  /// answers to the name; other names are answered as before. A task that outlives `body` gets the services of the
  /// Hive, and so do threads that it starts by other means.
  ///
  /// - Parameters:
  ///   - type: The type that lookups name.
  ///   - name: The given name of the one to replace; nil for the one that lookups without a name find.
  ///   - instance: Answers the lookups.
  ///   - file: The file that errors and reports name as its location.
  ///   - line: The line in that file.
  ///   - isolation: The actor that `body` runs on: the caller's.
  ///   - body: Runs once.
  /// - Returns: What `body` returns.
  /// - Throws: What `body` throws.
  public func overridingInTask<Service: Sendable, Result>(
    _ type: Service.Type, name: String? = nil, with instance: Service, file: String = #fileID,
    line: UInt = #line, isolation: isolated (any Actor)? = #isolation,
    _ body: () async throws -> Result
  ) async rethrows -> Result {
    let entry = RegisteredEntry(
      service: TypeSpelling.of(type).qualified, given: name, scope: .singleton,
      source: .code(file: file, line: line),
      progress: .bound(.closure(FactoryClosure(instance: instance))))
    return try await ServiceScope.overriding(with: entry, in: self, body)
  }
}

// MARK: Services in C

// Services that C libraries provide, and C code that asks for them. Code of images runs with no lock held.
extension Hive {
  /// Returns the C table that is registered as a service: `BEEHIVE_SERVICE`, `BEEHIVE_SERVICE_FACTORY`.
  ///
  /// The pointer is valid until the service is removed or the Hive stops. Give back with `destroy` what a factory made
  /// for this request, or as the shared object of `Scope.weak`.
  ///
  /// - Parameters:
  ///   - service: The name that the C record declares.
  ///   - name: Its given name; nil prefers a service without one.
  ///   - type: The structure as the caller's header declares it. A provider's table must be at least as
  ///     large, so that a host never reads past its end.
  /// - Returns: The table of the entry with the largest priority; of equal ones, the first that was
  ///   registered.
  /// - Throws: ``ServiceError``: `notFound`; `tooSmall` if the provider's table is smaller than `Table`;
  ///   `unusable`; `cycle`; or `creationFailed` if the factory answered null.
  public func service<Table>(
    _ service: String, name: String? = nil, as type: UnsafePointer<Table>.Type
  ) throws(ServiceError) -> UnsafePointer<Table> {
    unsafe try ServiceLookup(
      c: service, name: name, size: MemoryLayout<Table>.size, hive: self
    ).pointer { unsafe UnsafePointer(bitPattern: $0) }
  }

  /// Returns the C service of a name, for structures whose layout only C knows.
  ///
  /// The pointer is valid as long as the pointer of the other `service(_:name:as:)`.
  ///
  /// - Parameters:
  ///   - service: The name that the C record declares.
  ///   - name: Its given name; nil prefers a service without one.
  ///   - type: `OpaquePointer.self`. The size of the structure is not checked.
  /// - Returns: The table of the entry with the largest priority.
  /// - Throws: ``ServiceError``, as the other `service(_:name:as:)`, except `tooSmall`.
  public func service(
    _ service: String, name: String? = nil, as type: OpaquePointer.Type
  ) throws(ServiceError) -> OpaquePointer {
    unsafe try ServiceLookup(c: service, name: name, hive: self)
      .pointer { unsafe OpaquePointer(bitPattern: $0) }
  }

  /// Gives back what a C factory made for one request, or one reference to the instance of `Scope.weak`.
  ///
  /// The last reference destroys the instance. The end of a scope destroys what was made for the scope.
  ///
  /// - Parameters:
  ///   - pointer: The pointer that `service(_:name:as:)` returned. Do not use it afterwards.
  ///   - service: The name in the lookup.
  ///   - name: The given name in the lookup.
  /// - Returns: Whether it was given back; false if no factory of this name has made it.
  @discardableResult
  public func destroy<Table>(
    _ pointer: UnsafePointer<Table>, of service: String, name: String? = nil
  ) -> Bool {
    ServiceLookup(c: service, name: name, hive: self)
      .giveBack(RuntimeAddress(rawValue: UInt(bitPattern: pointer)))
  }
}

// MARK: Conformers

extension Hive {
  /// Finds the types that declare to conform to a protocol, with or without annotations.
  ///
  ///     for codec in hive.conformers(to: (any Codec).self) { print(codec) }
  ///
  /// Reads the conformances that the compiler wrote into every image of the process. Makes no instance. Does not find
  /// generic types, types that `Any` cannot hold, conformances on one global actor, and subclasses that inherit the
  /// conformance. For a file that is not loaded, use `section-dump conformances`.
  ///
  /// - Parameters:
  ///   - type: A protocol, or a composition whose every part a type must fulfil. Finds nothing for marker protocols
  ///     only, and nothing for constraints on associated types, such as `any Feed<Int>`.
  ///   - image: The path of the image that has the conformances, as the loader knows it; nil for all images.
  /// - Returns: Each type once, in the order of the images.
  public func conformers<Service>(
    to type: Service.Type, in image: String? = nil
  ) -> [any Any.Type] {
    guard let first = ExistentialLayout(of: type)?.protocols.first else { return [] }
    // The wrapper of C modules is not one of the caller's types.
    var known: Set = [ObjectIdentifier(CModule.self)]
    var types: [any Any.Type] = []
    for loaded in SwiftImage.all(from: 0) {
      if let image, RuntimeAddress(rawValue: loaded.base).imagePath != image { continue }
      first.forEachConformer(in: loaded.conformances.records) { descriptor in
        guard !descriptor.isGeneric, descriptor.flags.describesCopyableType,
          let found = TypeLookup.type(descriptor), known.insert(ObjectIdentifier(found)).inserted
        else { return }
        if Conformance.of(found, to: type) == .holds { types.append(found) }
      }
    }
    return types
  }
}
