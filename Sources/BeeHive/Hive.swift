// An entry's kind and origin, and why an image was not read, are part of what the Hive answers with, so clients
// that import BeeHive have their types too.
@_exported public import BinaryImage
internal import CSwiftRuntime
@_exported public import Registration
public import Synchronization
internal import Threads

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
    /// The entries of C that are in use.
    var handedOut = HandedOut()
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
    var publishedKeys: [String: PublishedKeys] = [:]
    /// How many tasks have overrides of their own: meanwhile no answer is kept for others.
    var taskOverrideCount = 0
    /// The singletons that are being made asynchronously, by where they will be kept.
    var loading: [ObjectIdentifier: Task<any Sendable, any Error>] = [:]
    /// What there was when every unbound entry had last been tried.
    var lastTry: BindingGround?
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

  /// Tells an observer what this Hive does from now on, on the thread that does it.
  ///
  /// An observation that a module adds inside its steps and events ends when the module is unmounted.
  ///
  /// - Parameters:
  ///   - fromStart: Whether to tell it of the present entries too, on the calling thread: the process's
  ///     Hive has found some before anything could observe it. What happens on other threads meanwhile
  ///     may be told before, and what was just happening twice.
  ///   - observer: Called with no lock held, so it may ask the Hive; several threads may call it at once.
  /// - Returns: Its `cancel()` ends the observation; forgetting the value does not.
  @discardableResult
  public func observe(
    fromStart: Bool = false, _ observer: @escaping @Sendable (HiveNotice) -> Void
  ) -> Handle {
    if fromStart { bindUnbound() }
    // Under one lock, so that nothing comes between the present entries and the later notices.
    let (observation, present, problems) = state.withLock { state in
      fromStart
        ? (observers.add(observer), state.table.all.map(\.snapshot), state.images.problems)
        : (observers.add(observer), [], [])
    }
    own { observation.cancel() }
    for entry in present { observer(entry.notice) }
    for error in problems { observer(.imageNotInspected(error)) }
    return observation
  }
}

/// All that decides what becomes of a Hive's unbound entries: while it stays the same, so do they.
struct BindingGround: Equatable {
  /// The images that bring types: see `TypeLookup.generation`.
  var images: Int
  /// The entries: see `EntryTable.version`.
  var entries: Int
  /// The values that the host gave.
  var hostBindings: Int
}
