// An entry's kind and origin, and why an image was not read, are part of what the Hive answers with, so clients
// that import BeeHive have their types too; so has every other file of BeeHive.
@_exported public import BinaryImage
internal import CSwiftRuntime
@_exported public import Registration
public import Synchronization
package import Threads

/// The registry of modules and services: what images declare, what code registers, and who asks.
///
///     try Hive.process.register((any Greeter).self, scope: .singleton) { _ in English() }
///     let greeter: any Greeter = try Hive.process.service()
///     try await Hive.process.start()
///     print(Hive.process.report())
///
/// `Hive.process` knows every image that this process has loaded and will load, by whatever call. A Hive
/// made with `init()` is empty and stays apart, and one made with `init(imagesWhere:)` knows chosen images
/// alone: for tests. Every method may be called from any thread; factories, modules and the loader are
/// never called with a lock held.
public final class Hive: Sendable {
  /// What the lock guards.
  struct State {
    var table = EntryTable()
    var images = KnownImages()
    /// The singletons that the Hive keeps.
    var instances = Instances()
    /// The files that were registered.
    var files: Set<String> = []
    var hostBindings: [String: FactoryClosure] = [:]
    /// Changes whenever the host gives one.
    var hostBindingsVersion = 0
    /// What the modules that run are told; factories in C, too.
    var context: Context?
    /// The names of the modules that the last start was told to leave out.
    var disabled: Set<String> = []
    /// The keys of the lookup cache that an entry could change, by its name's last part.
    var publishedKeys: [String: Set<UInt>] = [:]
    /// How many tasks have overrides of their own: meanwhile no answer is kept for others.
    var taskOverrideCount = 0
    /// The entries that answer for services of C, whatever else would, for all who ask.
    var overrides: [RegisteredEntry] = []
    /// The tables that have answered so, by the services' names: a caller may give one back when its override is over.
    var overridingTables: [String: [RuntimeAddress: Set<String?>]] = [:]
    /// The singletons that are being made asynchronously, by where they will be kept.
    var loading: [ObjectIdentifier: Task<Void, any Error>] = [:]
    /// The sum of all that decides about unbound entries, as it was when each of them had last been tried.
    var lastTry: Int?
    /// The Hive's, who are told of what changes here once the lock is free.
    let observers: Observers<HiveNotice>
  }

  let state: Lock<State>
  /// What the loader has mapped, under a lock of its own: see `ImageWatch`.
  let watch = Lock(ImageWatch())
  let pins = ImagePins()
  /// Starts modules and tears them down.
  let runner = ModuleRunner()
  /// Who is told of what happens here.
  let observers = Observers<HiveNotice>()
  /// How long each module took for each step and event.
  public let profiler = Profiler()
  /// Loads a library with a record that is wanted: set by the layer of plugins. Returns whether it has loaded one. Called
  /// with no lock held.
  package typealias Supplier =
    @Sendable (_ isWanted: (Record) -> Bool) throws(ServiceError) -> Bool
  package let supplier = Lock<Supplier?>(nil)
  /// What other layers keep with this Hive: one object of each type.
  let attachments = Lock<[ObjectIdentifier: any AnyObject & Sendable]>([:])
  @usableFromInline let cache = LookupCache()
  /// Whether images that come and go are this Hive's business.
  @usableFromInline let followsLoader: Bool
  /// The announcements that this Hive has seen to; compared with the hook's counter by every lookup.
  ///
  /// No counter has the initial value: a Hive that has not walked yet is not up to date.
  @usableFromInline let seenAnnouncements = Atomic<UInt>(.max)

  /// Which images are this Hive's business, by their paths; nil for all.
  let isChosen: (@Sendable (_ path: String) -> Bool)?

  /// Creates an empty Hive that knows no image.
  public convenience init() { self.init(EntryTable(), followsLoader: false) }

  /// Creates a Hive of what chosen images declare, apart from that of the process: for tests.
  ///
  /// - Parameter isChosen: Answers for the path of each image that is loaded now or later.
  public convenience init(imagesWhere isChosen: @escaping @Sendable (_ path: String) -> Bool) {
    self.init(EntryTable(), followsLoader: true, isChosen: isChosen)
    catchUp(probing: true)
  }

  private init(
    _ table: EntryTable, followsLoader: Bool, isChosen: (@Sendable (_ path: String) -> Bool)? = nil
  ) {
    state = Lock(State(table: table, observers: observers))
    self.followsLoader = followsLoader
    self.isChosen = isChosen
  }

  /// The Hive of this process; the first touch walks every image that is loaded.
  @inlinable
  public static var process: Hive {
    let hive = following
    if !hive.isTouched.load(ordering: .relaxed) { hive.touch() }
    return hive
  }

  /// Created empty: Swift initialises a global with a lock held, and a walk of the images then could deadlock
  /// with a constructor that needs this global.
  ///
  /// It lives as long as the process, and the runtime is told so: every lookup borrows it, and two
  /// threads that counted those references would wait for each other's cache line.
  @usableFromInline static let following: Hive = {
    let hive = Hive(EntryTable(stateRecord: StateRecord()), followsLoader: true)
    // Sound: one reference is given up for good, and no other code has the object yet.
    unsafe beehive_swift_immortalize(Unmanaged.passRetained(hive).toOpaque())
    return hive
  }()
  @usableFromInline let isTouched = Atomic<Bool>(false)

  /// The first walk.
  @usableFromInline
  func touch() {
    isTouched.store(true, ordering: .relaxed)
    catchUp(probing: true)
  }

  /// Ends what it keeps.
  deinit { endInstances(of: self) }

  /// Every entry, in order of registration, with its state and its source.
  ///
  /// Asks the loader whether images came or went, and tries again to bind what is unbound.
  public var entries: [Entry] {
    bindUnbound()
    return state.withLock { $0.table.all.map(\.snapshot) }
  }

  /// Asks the loader whether images came or went since it was last asked, and registers or removes their
  /// entries.
  public func refresh() { catchUp(probing: true) }
}

extension Hive {
  /// What layers above keep with the Hive: the one `Object`, made when it is first asked for. `make` calls
  /// nothing that may block.
  package func attachment<Object: AnyObject & Sendable>(_ make: (Hive) -> Object) -> Object {
    attachments.withLock { objects in
      let key = ObjectIdentifier(Object.self)
      if let object = objects[key] as? Object { return object }
      let object = make(self)
      objects[key] = object
      return object
    }
  }
}

extension Hive {
  /// Registers a service that a factory makes.
  ///
  ///     try hive.register((any Greeter).self, scope: .singleton) { _ in English() }
  ///
  /// - Parameters:
  ///   - type: The type that lookups name, often a protocol.
  ///   - name: Tells it from others of the type; nil for the one that lookups without a name find.
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
  ///   - type: The type that lookups name.
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
  ///   - type: The type that lookups name.
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
  ///   - type: The type that lookups name.
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
      let served = ObjectIdentifier(type as Any.Type)
      progress = .bound(.closure(FactoryClosure(implementation, serving: served)))
    }
    try register(
      RegisteredEntry(
        service: TypeSpelling.of(type).qualified,
        implementation: TypeSpelling.of(implementation).qualified, given: name, scope: scope,
        priority: priority, source: .code(file: file, line: line), progress: progress))
  }

  /// Removes what code registered as a service of this type. What an image or a file declares stays.
  ///
  /// - Parameters:
  ///   - type: The type that lookups name.
  ///   - name: Its given name; nil for the one that has none.
  /// - Returns: The number of services removed.
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
  /// Instances that were made for all end: a `Disposable` is disposed of, and an object of a C factory given to its
  /// `destroy`. Tables and objects of C libraries must not be used again. The library itself stays mapped.
  ///
  /// - Parameters:
  ///   - name: Exactly the name that `entries` shows: of a type, with its module.
  ///   - given: The given name that they must have; nil for any.
  /// - Returns: The number of services removed.
  @discardableResult
  public func removeServices(named name: String, given: String? = nil) -> Int {
    refresh()
    return withdraw { entry in
      entry.kind == .service && entry.name == name && (given == nil || entry.givenName == given)
    }.count
  }

  /// Takes in one entry, for the module whose code is running; throws where it is refused.
  func register(_ entry: RegisteredEntry) throws(Problem) {
    bindNamesakes(of: entry)
    // Also one that is refused, since it is listed: once for each place that registers it.
    try add([entry])
    guard let problem = state.withLock({ _ in entry.refusal }) else { return }
    _ = hide { state in
      let others = state.table.named(entry.kind, entry.name).all.filter { $0 !== entry }
      let isListed = others.contains { $0.source == entry.source && $0.refusal != nil }
      return isListed ? state.table.withdraw([entry]) : []
    }
    throw problem
  }

  /// Binds what came before and may serve as the same type, so that who comes second is known now.
  private func bindNamesakes(of entry: RegisteredEntry) {
    guard entry.kind == .service, state.withLock({ $0.table.hasUnbound }) else { return }
    let unbound = state.withLock { state in
      TypeName(entry.name).suffixes.flatMap { name in
        state.table.named(.service, name).given(entry.givenName).filter(\.isUnbound)
      }
    }
    for other in unbound { _ = boundProgress(of: other) }
  }

  /// Takes out the entries for which `condition` holds, and returns them.
  @discardableResult
  func withdraw(where condition: (RegisteredEntry) -> Bool) -> [RegisteredEntry] {
    let gone = hide { $0.table.withdraw(where: condition) }
    end(gone)
    return gone
  }

  /// Takes out the entries that `choose` takes out of the table; what was made of them lives until ``end(_:)``.
  func hide(_ choose: (inout State) -> [RegisteredEntry]) -> [RegisteredEntry] {
    let gone = state.withLock { state in
      let gone = choose(&state)
      for entry in gone {
        state.forgetAnswers(of: entry, cache: cache)
        observers.post(.entryWithdrawn(entry.snapshot))
      }
      return gone
    }
    observers.deliver()
    cache.collect(now: true)
    return gone
  }

  /// Ends what was made of entries that were taken out, and tells the state record who still has something of them.
  func end(_ gone: [RegisteredEntry]) {
    endMade(of: gone)
    state.withLock { _ in for entry in gone { entry.publishProgress() } }
  }

  private func endMade(of gone: [RegisteredEntry]) {
    for cell in state.withLock({ $0.instances.remove($0.table.withoutSharers(gone)) }) {
      cell.end()
    }
    cache.collect(now: true)
  }
}
