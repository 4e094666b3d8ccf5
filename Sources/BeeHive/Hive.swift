// The Hive answers with the kinds and origins of entries and the errors of images. So clients that import BeeHive get
// these types too, and so does every other file of BeeHive.
@_exported public import BinaryImage
internal import CSwiftRuntime
@_exported public import Registration
public import Synchronization
package import Threads

/// The registry of the modules and services that images declare and code registers.
///
///     try Hive.process.register((any Greeter).self, scope: .singleton) { _ in English() }
///     let greeter: any Greeter = try Hive.process.service()
///     try await Hive.process.start()
///     print(Hive.process.report())
///
/// `Hive.process` knows every image that this process has loaded and will load, by whatever call. For tests, `init()`
/// makes a Hive that is empty and stays apart, and `init(imagesWhere:)` makes a Hive of chosen images. Every method may
/// be called from any thread. Factories, modules and the loader are never called with a lock held.
public final class Hive: Sendable {
  /// The state that the lock guards.
  struct State {
    var table = EntryTable()
    var images = KnownImages()
    /// The singletons that the Hive keeps.
    var instances = Instances()
    /// The hash values of the files that were registered, by their names.
    var files: [String: Int] = [:]
    var hostBindings: [String: FactoryClosure] = [:]
    /// Changes whenever a binding of the host comes or goes.
    var hostBindingsVersion = 0
    /// The context of the modules that run; C factories get it, too.
    var context: Context?
    /// The names of the modules that the options of the last start switch off.
    var disabled: Set<String> = []
    /// The keys of the lookup cache that an entry could change, by its name's last part.
    var publishedKeys: [String: Set<UInt>] = [:]
    /// The number of tasks that have overrides of their own: meanwhile no answer is kept for others.
    var taskOverrideCount = 0
    /// The entries that override C services for all callers.
    var overrides: [RegisteredEntry] = []
    /// The tables of overrides, by service name: a caller may give a table back after its override has ended.
    var overridingTables: [String: [RuntimeAddress: Set<String?>]] = [:]
    /// The singletons that are being made asynchronously, by the cells that will keep them.
    var loading: [ObjectIdentifier: Task<Void, any Error>] = [:]
    /// The sum of the versions that decide about unbound entries, at the last time that all of them were tried.
    var lastTry: Int?
    /// Observers of this Hive. They are called after the lock is released.
    let observers: Observers<HiveNotice>
  }

  let state: Lock<State>
  /// The images that the loader has mapped, under a lock of its own: see `ImageWatch`.
  let watch = Lock(ImageWatch())
  let pins = ImagePins()
  /// Starts modules and tears them down.
  let runner = ModuleRunner()
  /// The observers of this Hive.
  let observers = Observers<HiveNotice>()
  /// The time that each module took for each step and event.
  public let profiler = Profiler()
  /// A function of the plugin layer that loads a library with a wanted record. Returns whether it has loaded one.
  /// Called with no lock held.
  package typealias Supplier =
    @Sendable (_ isWanted: (Record) -> Bool) throws(ServiceError) -> Bool
  package let supplier = Lock<Supplier?>(nil)
  /// A function of the plugin layer: returns whether one of these images is a plugin. Notes that others took their
  /// entries out, if they did.
  package let pluginImages = Lock<(@Sendable (_ names: [String], _ areOut: Bool) -> Bool)?>(nil)
  /// The objects that other layers keep with this Hive: one of each type.
  let attachments = Lock<[ObjectIdentifier: any AnyObject & Sendable]>([:])
  @usableFromInline let cache = LookupCache()
  /// Whether this Hive follows images that come and go.
  @usableFromInline let followsLoader: Bool
  /// The number of announcements that this Hive has handled. Every lookup compares it with the hook's counter.
  ///
  /// No counter has the initial value: a Hive that has not walked yet is not up to date.
  @usableFromInline let seenAnnouncements = Atomic<UInt>(.max)

  /// A function that chooses images by their paths; nil for all images.
  let isChosen: (@Sendable (_ path: String) -> Bool)?

  /// Creates an empty Hive that knows no image.
  public convenience init() { self.init(EntryTable(), followsLoader: false) }

  /// Creates a Hive of chosen images, apart from the Hive of the process: for tests.
  ///
  /// - Parameter isChosen: Returns whether to take the image of a path, for each image that is loaded now or later.
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

  /// The Hive of this process. The first use walks every image that is loaded.
  @inlinable
  public static var process: Hive {
    let hive = following
    if !hive.isTouched.load(ordering: .relaxed) { hive.touch() }
    return hive
  }

  /// Created empty: Swift initialises a global with a lock held. A walk of the images then could deadlock with a
  /// constructor that needs this global.
  ///
  /// The runtime treats it as immortal: every lookup borrows it, and two threads that counted those references would
  /// wait for each other's cache line.
  @usableFromInline static let following: Hive = {
    let hive = Hive(EntryTable(stateRecord: StateRecord()), followsLoader: true)
    // Sound: one reference is given up for good, and no other code has the object yet.
    unsafe beehive_swift_immortalize(Unmanaged.passRetained(hive).toOpaque())
    return hive
  }()
  @usableFromInline let isTouched = Atomic<Bool>(false)

  /// Walks the images for the first time.
  @usableFromInline
  func touch() {
    isTouched.store(true, ordering: .relaxed)
    catchUp(probing: true)
  }

  /// Ends the instances that it keeps.
  deinit { endInstances(of: self) }

  /// Every entry, in order of registration, with its state and its source.
  ///
  /// Asks the loader whether images came or went, and tries again to bind what is unbound.
  public var entries: [Entry] {
    bindUnbound()
    return state.withLock { $0.table.all.map(\.snapshot) }
  }

  /// Asks the loader whether images came or went since the last time, and registers or removes their entries.
  public func refresh() { catchUp(probing: true) }
}

extension Hive {
  /// Returns the one `Object` that layers above keep with the Hive, made at the first request. `make` calls nothing
  /// that may block.
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
  ///   - scope: The lifetime of an instance.
  ///   - priority: The largest answers a lookup; only services of one priority are duplicates.
  ///   - file: The file that registers it: errors and reports name the location.
  ///   - line: The line in that file.
  ///   - make: Makes an instance, on the thread that asks and with no lock held. Asks the Hive that it is
  ///     given for what it needs.
  /// - Throws: ``Problem`` of the code `duplicate` if the type, name and priority are taken; the service is listed as
  ///   rejected, with both locations.
  public func register<Service: Sendable>(
    _ type: Service.Type, name: String? = nil, scope: Scope = .transient, priority: Int = 0,
    file: String = #fileID, line: UInt = #line,
    _ make: @escaping @Sendable (Hive) throws -> Service
  ) throws(Problem) {
    try register(
      type, FactoryClosure(make), name: name, scope: scope, priority: priority, file: file,
      line: line)
  }

  /// Registers a service whose factory takes a parameter. ``service(_:name:with:)`` asks for it.
  ///
  /// - Parameters:
  ///   - type: The type that lookups name.
  ///   - parameter: The type of the parameter.
  ///   - name: Tells it from others of the type.
  ///   - priority: The largest answers a lookup.
  ///   - file: The file that registers it.
  ///   - line: The line in that file.
  ///   - make: Makes an instance for each request.
  /// - Throws: ``Problem`` if it is a duplicate.
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
  ///   - file: The file that registers it.
  ///   - line: The line in that file.
  ///   - instance: Answers every lookup; the Hive keeps it until the service is removed.
  /// - Throws: ``Problem`` if it is a duplicate.
  public func register<Service: Sendable>(
    _ type: Service.Type, name: String? = nil, priority: Int = 0, file: String = #fileID,
    line: UInt = #line, instance: Service
  ) throws(Problem) {
    try register(
      type, FactoryClosure(instance: instance), name: name, scope: .singleton, priority: priority,
      file: file, line: line)
  }

  /// Registers a type that makes itself, as a service whose type it has to conform to.
  ///
  /// - Parameters:
  ///   - type: The type that lookups name.
  ///   - implementation: The type whose initialiser makes an instance.
  ///   - name: Tells it from others of the type.
  ///   - scope: The lifetime of an instance.
  ///   - priority: The largest answers a lookup.
  ///   - file: The file that registers it.
  ///   - line: The line in that file.
  /// - Throws: ``Problem`` if the implementation does not conform, or the service is a duplicate.
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

  /// Removes the services of this type that code registered. Services that an image or a file declares stay.
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
  /// Shared instances end: a `Disposable` is disposed of, and an object of a C factory goes to its `destroy`. Do not
  /// use tables and objects of C libraries afterwards. The library itself stays mapped.
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

  /// Adds one entry for the module whose code is running. Throws if the entry is refused.
  func register(_ entry: RegisteredEntry) throws(Problem) {
    bindNamesakes(of: entry)
    // Add a refused entry too, because it is listed: once for each location that registers it.
    try add([entry])
    guard let problem = state.withLock({ _ in entry.refusal }) else { return }
    _ = hide { state in
      let others = state.table.named(entry.kind, entry.name).all.filter { $0 !== entry }
      let isListed = others.contains { $0.source == entry.source && $0.refusal != nil }
      return isListed ? state.table.withdraw([entry]) : []
    }
    throw problem
  }

  /// Binds earlier entries that may serve as the same type, so that duplicates are known now.
  private func bindNamesakes(of entry: RegisteredEntry) {
    guard entry.kind == .service, state.withLock({ $0.table.hasUnbound }) else { return }
    let unbound = state.withLock { state in
      TypeName(entry.name).suffixes.flatMap { name in
        state.table.named(.service, name).given(entry.givenName).filter(\.isUnbound)
      }
    }
    for other in unbound { _ = boundProgress(of: other) }
  }

  /// Removes the entries that fulfil `condition`, ends their instances, and returns them.
  @discardableResult
  func withdraw(where condition: (RegisteredEntry) -> Bool) -> [RegisteredEntry] {
    let gone = hide { $0.table.withdraw(where: condition) }
    end(gone)
    return gone
  }

  /// Removes the entries that `choose` takes out of the table. Their instances live until ``end(_:)``.
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

  /// Ends the instances of removed entries, and writes their remaining users to the state record.
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

extension Hive.State {
  typealias Image = (image: KnownImages.Registered, entries: [RegisteredEntry])

  /// Returns the images whose path is this one or ends with it, each with the entries that it has left: at least one.
  func images(called path: String) -> [Image] {
    images.registered(called: path).compactMap { image in
      let entries = table.declared(by: image.id).filter { !$0.isWithdrawn }
      return entries.isEmpty ? nil : (image, entries)
    }
  }
}
