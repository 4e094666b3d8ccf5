public import CEpoch
public import CImageEvents
internal import Registration
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
  /// - Parameter type: What the service was registered or declared as.
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
    return try resolve(type, name: nil)
  }

  /// Returns the service of a type that has a given name.
  ///
  /// - Parameters:
  ///   - type: What the service was registered or declared as.
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
  ///   - type: What the service was registered as.
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
  /// - Parameter type: What the services were registered or declared as.
  /// - Returns: The larger priority first; empty where there is none.
  /// - Throws: ``ServiceError`` where one of them cannot be made.
  public func all<Service: Sendable>(
    of type: Service.Type = Service.self
  ) throws(ServiceError) -> [Service] {
    try all(ServiceLookup(type: type, name: nil, hive: self))
  }

  func all<Service: Sendable>(
    _ lookup: ServiceLookup<Service>
  ) throws(ServiceError) -> [Service] {
    catchUp(probing: true)
    var lookup = lookup
    return try lookup.all()
  }

  /// Finds what implements a service, without making any.
  ///
  /// - Parameter type: What the services were registered or declared as.
  /// - Returns: The larger priority first, whatever the given names; empty if there is none.
  public func implementations<Service: Sendable>(
    of type: Service.Type = Service.self
  ) -> [Implementation] {
    catchUp(probing: true)
    var lookup = ServiceLookup(type: type, name: nil, hive: self)
    let found = lookup.implementations()
    return state.withLock { _ in
      found.map { Implementation(entry: $0.entry.snapshot, type: $0.type) }
    }
  }

  /// Lends the service for the call's duration, without counting a reference.
  ///
  /// For the hottest call sites.
  ///
  /// - Parameters:
  ///   - type: What the service was registered or declared as.
  ///   - body: Uses the service; is short and does not wait: while it runs, what has been withdrawn from
  ///     any Hive stays in memory.
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
    return try body(resolve(type, name: nil))
  }

  /// Whether every image that announced itself has been seen to.
  @inlinable @inline(__always)
  var isUpToDate: Bool {
    !followsLoader || image_events_generation() == seenAnnouncements.load(ordering: .relaxed)
  }

  /// The long way: finds the entry, makes the instance, and keeps it where it is a singleton.
  @usableFromInline
  func resolve<Service: Sendable>(
    _ type: Service.Type, name: String?
  ) throws(ServiceError) -> Service {
    if let name, let made: Service = made(at: LookupCache.key(of: type, name: name), name: name) {
      return made
    }
    let lookup = ServiceLookup(type: type, name: name, hive: self)
    if isUpToDate, let service = try lookup.again() { return service }
    return try resolve(lookup)
  }

  func resolve<Service: Sendable>(
    _ lookup: ServiceLookup<Service>
  ) throws(ServiceError) -> Service {
    var lookup = lookup
    catchUp(probing: false)
    if let service = try lookup.run() { return service }
    // A miss asks the loader, so that an image without an anchor is not overlooked. Another thread may be the
    // one that has found what is new.
    catchUp(probing: true)
    if let service = try lookup.run() { return service }
    throw lookup.failure()
  }

  /// The singleton or the C service that was asked for by a name of its own.
  func made<Service: Sendable>(at key: UInt, name: String) -> Service? {
    guard isUpToDate else { return nil }
    return (cache.object(at: key, name: name) as? CachedValue<Service>)?.value
  }
}

/// One implementation of a service, known without an instance.
public struct Implementation: Sendable {
  /// The entry that provides it.
  public var entry: Entry
  /// The implementing type; nil where only its factory knows, or its type is private.
  public var type: Any.Type?
}
