internal import Threads

/// A context of its own for scoped services: one session, one request, one document.
///
///     try hive.register((any Cart).self, scope: .scoped) { _ in Basket() }
///     let session = hive.makeScope()
///     let cart: any Cart = try session.service()
///     session.end()
///
/// Each scoped service is made once for a scope, and lives until the scope ends. All other services are those of the
/// Hive. If a factory asks its Hive while it makes something for a scope, it gets services of that scope too. So a
/// scoped or transient service may need a scoped one. A singleton may not, because it outlives every scope. May be used
/// from any thread.
public final class ServiceScope: Sendable {
  /// The instances that the scope keeps, the scopes that end before it, by their numbers, and how many it had.
  private typealias State = (
    instances: Instances, inner: [Int: @Sendable () -> ServiceScope?], innerCount: Int
  )

  /// The Hive whose services it makes.
  package let hive: Hive
  /// The scope that this one is part of, if there is one.
  package let outer: ServiceScope?
  /// Tells it from the others within the outer one.
  private let number: Int
  private let state = Lock<State>((Instances(), [:], 0))

  init(hive: Hive, outer: ServiceScope? = nil, number: Int = 0) {
    self.hive = hive
    self.outer = outer
    self.number = number
  }

  /// Opens a scope within this one: it has scoped services of its own, and ends no later than this one.
  ///
  /// - Returns: The inner scope, which has ended already if this one has. Keep it: it ends when its last reference
  ///   goes.
  public func makeScope() -> ServiceScope {
    let (scope, isEnded) = state.withLock { state in
      state.innerCount += 1
      let scope = ServiceScope(hive: hive, outer: self, number: state.innerCount)
      state.inner[scope.number] = { [weak scope] in scope }
      return (scope, state.instances.isEnded)
    }
    if isEnded { scope.end() }
    return scope
  }

  /// Ends the scope: first those within it, then disposes of what it made, the latest first.
  ///
  /// Scoped services that are `Disposable` are disposed of, and what C factories made is destroyed. An ended scope has
  /// no scoped services; ending it again does nothing. A scope whose last reference goes ends too.
  public func end() {
    // Not by recursion: scopes may nest as deep as a host likes.
    var rest = [self]
    var made: [[Singleton]] = []
    while let scope = rest.popLast() {
      let (inner, instances) = scope.state.withLock { state in
        defer { state.inner = [:] }
        return (state.inner, state.instances.end())
      }
      made.append(instances)
      rest += inner.sorted { $0.key > $1.key }.compactMap { $0.value() }
    }
    while let cells = made.popLast() { for cell in cells { cell.end() } }
  }

  deinit {
    end()
    _ = outer?.state.withLock { $0.inner.removeValue(forKey: number) }
  }

  // MARK: Asking

  /// Returns the service of a type, of this scope if it is scoped: as ``Hive/service(_:)``.
  ///
  /// - Parameters:
  ///   - type: The type that the service was registered or declared as.
  ///   - name: The name that it was given, if any.
  /// - Returns: The instance of the entry that has the largest priority.
  /// - Throws: ``ServiceError`` as ``Hive/service(_:)`` does; `unusable` for a scoped service if the scope
  ///   has ended.
  public func service<Service: Sendable>(
    _ type: Service.Type = Service.self, name: String? = nil
  ) throws(ServiceError) -> Service {
    try hive.resolve(ServiceLookup(type: type, name: name, scope: self, hive: hive))
  }

  /// Returns a service that is made with a parameter: as ``Hive/service(_:name:with:)``.
  ///
  /// - Parameters:
  ///   - type: The type that the service was registered as.
  ///   - name: The name that it was given, if any.
  ///   - parameter: Goes to the factory, which was registered `taking` its type.
  /// - Returns: A new instance.
  /// - Throws: ``ServiceError`` as ``Hive/service(_:)`` does.
  public func service<Service: Sendable, Parameter: Sendable>(
    _ type: Service.Type = Service.self, name: String? = nil, with parameter: Parameter
  ) throws(ServiceError) -> Service {
    try hive.resolve(
      ServiceLookup(type: type, name: name, parameter: parameter, scope: self, hive: hive))
  }

  /// Returns every implementation of a service, the scoped ones among them: as ``Hive/all(of:)``.
  ///
  /// - Parameter type: The type that the services were registered or declared as.
  /// - Returns: The services, the largest priority first; empty if there is none.
  /// - Throws: ``ServiceError`` if one of them cannot be made, as a scoped one of an ended scope cannot.
  public func all<Service: Sendable>(
    of type: Service.Type = Service.self
  ) throws(ServiceError) -> [Service] {
    try ServiceLookup(type: type, name: nil, scope: self, hive: hive).all()
  }

  /// Returns the C table that is registered as a service: as `Hive.service(_:name:as:)`.
  ///
  /// The end of the scope destroys what a factory of `Scope.scoped` made.
  ///
  /// - Parameters:
  ///   - service: The name that the C record declares.
  ///   - name: Its given name; nil prefers a service without one.
  ///   - type: The structure as the caller's header declares it. A provider's table must be at least as
  ///     large.
  /// - Returns: The table of the entry with the largest priority.
  /// - Throws: ``ServiceError`` as the Hive does; `unusable` for a scoped service if the scope has ended.
  public func service<Table>(
    _ service: String, name: String? = nil, as type: UnsafePointer<Table>.Type
  ) throws(ServiceError) -> UnsafePointer<Table> {
    unsafe try ServiceLookup(
      c: service, name: name, size: MemoryLayout<Table>.size, scope: self, hive: hive
    ).pointer { unsafe UnsafePointer(bitPattern: $0) }
  }

  /// Returns the C service of a name, for structures whose layout only C knows.
  ///
  /// - Parameters:
  ///   - service: The name that the C record declares.
  ///   - name: Its given name; nil prefers a service without one.
  ///   - type: `OpaquePointer.self`. The size of the structure is not checked.
  /// - Returns: The table of the entry with the largest priority, valid as long as the table of the other
  ///   `service(_:name:as:)`.
  /// - Throws: ``ServiceError`` as the other `service(_:name:as:)`, except `tooSmall`.
  public func service(
    _ service: String, name: String? = nil, as type: OpaquePointer.Type
  ) throws(ServiceError) -> OpaquePointer {
    unsafe try ServiceLookup(c: service, name: name, scope: self, hive: hive)
      .pointer { unsafe OpaquePointer(bitPattern: $0) }
  }

  // MARK: Keeping

  /// Whether the scope keeps nothing any more.
  var isEnded: Bool { state.withLock { $0.instances.isEnded } }

  /// Returns the cell that keeps the instance of an entry; nil after the end.
  func cell(of entry: RegisteredEntry) -> Singleton? {
    state.withLock { $0.instances.cell(of: entry) }
  }
}
