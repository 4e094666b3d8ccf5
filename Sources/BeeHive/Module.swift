/// A part of an application with a lifecycle, written in Swift.
///
///     struct ShopModule: Module {
///       func setUp(_ context: Context) async throws {
///         try context.hive.register((any Cart).self, scope: .singleton) { _ in Basket() }
///       }
///     }
///
///     try await Hive.process.register(module: ShopModule.self)
///
/// Every method has an empty default, so a module writes what it needs. The Hive makes one instance and
/// calls it from one place after another: setUp, initialize, splash, any number of events, tearDown,
/// unmount. The steps of one module never overlap; events may come while another is being handled. All run
/// in tasks of the Hive, with no lock of its own held, on threads that they may block; a `Task { }` that
/// they begin runs on the concurrency runtime's pool, which it must not block.
///
/// What a module registers from inside its steps and events belongs to it: services, modules, files,
/// bindings, observers, routes, targets, rules, tables. The Hive withdraws all of it once the module has
/// been unmounted, failed to start or was unregistered, so the next start begins anew; the modules that it
/// registered are torn down before it. Its tasks inherit that: what they register later is refused, or
/// withdrawn at once.
///
/// In C: `beehive_module_operations` of `beehive/module.h`.
public protocol Module: Sendable {
  /// Makes the module. Nothing else of the Hive is ready yet: work belongs in `setUp`.
  init()

  /// Whether `initialize` runs beside that of other modules; whatever requires this one waits for it.
  static var initializesConcurrently: Bool { get }

  /// Registers what the module offers; the services of others may not be there yet.
  ///
  /// - Parameter context: What `start` was given, with the Hive that runs the module.
  /// - Throws: Any error: the module failed to start, and ``FailurePolicy`` says what becomes of the
  ///   others.
  func setUp(_ context: Context) async throws
  /// Starts work; every module has been set up.
  ///
  /// - Parameter context: What `start` was given, with the Hive that runs the module.
  /// - Throws: Any error: the module failed to start, as for `setUp`.
  func initialize(_ context: Context) async throws
  /// Shows that the application is there; every module has been initialised.
  ///
  /// - Parameter context: What `start` was given, with the Hive that runs the module.
  /// - Throws: Any error: the module failed to start, as for `setUp`.
  func splash(_ context: Context) async throws
  /// Undoes `initialize`, in reverse order: before every module that this one requires or follows.
  ///
  /// - Parameter context: What `start` was given, with the Hive that runs the module.
  /// - Throws: Any error: `stop` returns it as a ``ModuleFailure``, and goes on.
  func tearDown(_ context: Context) async throws
  /// Undoes `setUp`, in the same order, after every module was torn down.
  ///
  /// What the module registered goes by itself afterwards.
  ///
  /// - Parameter context: What `start` was given, with the Hive that runs the module.
  /// - Throws: Any error: `stop` returns it as a ``ModuleFailure``, and goes on.
  func unmount(_ context: Context) async throws
  /// Handles an event that is no step of the lifecycle.
  ///
  /// - Parameters:
  ///   - event: What happened; `event.value(as:)` reads what comes with it.
  ///   - context: What `start` was given, with the Hive that runs the module.
  /// - Returns: What the module did with it; `.stop` keeps it from the modules after this one.
  /// - Throws: Any error: ``EventOutcome`` lists it, and the next module is told.
  func handle(_ event: Event, _ context: Context) async throws -> EventResponse

  /// The version of this protocol that a type was compiled against. Types leave it to its default.
  static var _contract: Void { get }
}

extension Module {
  /// Does nothing.
  ///
  /// - Parameter context: Not used.
  /// - Throws: Nothing.
  public func setUp(_ context: Context) async throws {}
  /// Does nothing.
  ///
  /// - Parameter context: Not used.
  /// - Throws: Nothing.
  public func initialize(_ context: Context) async throws {}
  /// Does nothing.
  ///
  /// - Parameter context: Not used.
  /// - Throws: Nothing.
  public func splash(_ context: Context) async throws {}
  /// Does nothing.
  ///
  /// - Parameter context: Not used.
  /// - Throws: Nothing.
  public func tearDown(_ context: Context) async throws {}
  /// Does nothing.
  ///
  /// - Parameter context: Not used.
  /// - Throws: Nothing.
  public func unmount(_ context: Context) async throws {}
  /// Ignores the event.
  ///
  /// - Parameters:
  ///   - event: Not used.
  ///   - context: Not used.
  /// - Returns: `.ignored`.
  /// - Throws: Nothing.
  public func handle(_ event: Event, _ context: Context) async throws -> EventResponse { .ignored }
  /// One module after another.
  public static var initializesConcurrently: Bool { false }
}

/// A type that the Hive can make when all it knows of it is its name.
///
/// `BeeHiveService(Shop.HomeService, Shop.HomeViewModel)` says nothing of how a `HomeViewModel` is
/// made, so the type says it itself. Macros and factories need no conformance.
public protocol Injectable: Sendable {
  /// Makes an instance.
  ///
  /// Called without any lock held, on the thread that asked for the service.
  ///
  /// - Parameter hive: Where it finds the other services that it needs.
  /// - Throws: Any error: the lookup throws a ``ServiceError`` whose `underlying` it is.
  init(hive: Hive) throws

  /// The version of this protocol that a type was compiled against. Types leave it to its default.
  static var _contract: Void { get }
}

/// The host as a module sees it: a value, so that no module changes it under another.
///
///     enum Tenant: Context.Key { static let defaultValue = "none" }
///
///     var context = Context(hive: .process, environment: .test)
///     context[Tenant.self] = "orchard"
///     try await Hive.process.start(context)
public struct Context: Sendable {
  /// In which surroundings the application runs.
  public struct Environment: Hashable, Sendable {
    /// The name that C modules and reports see.
    public let name: String

    /// Names an environment of the application's own.
    ///
    /// - Parameter name: What C modules and reports are told; compared as it is.
    public init(_ name: String) { self.name = name }

    /// On a developer's machine.
    public static let development = Self("development")
    /// Under test.
    public static let test = Self("test")
    /// On a stage before production.
    public static let stage = Self("stage")
    /// In production; what a context says unless told otherwise.
    public static let production = Self("production")
  }

  /// A value of the application's own that travels with the context.
  public protocol Key {
    /// The type of the value.
    associatedtype Value: Sendable
    /// The value of a context that nobody has set.
    static var defaultValue: Value { get }
  }

  /// The Hive that runs the module.
  public internal(set) var hive: Hive
  /// In which surroundings the application runs.
  public var environment: Environment
  /// The arguments of the program, its name first.
  public var arguments: [String]
  /// The URL that the application was launched to open.
  public var launchURL: String?
  /// The settings of the application.
  public var configuration: Configuration
  private var values: [ObjectIdentifier: any Sendable] = [:]
  /// The address that modules and factories in C find in `context->custom`.
  var custom: UInt = 0

  /// Creates the context of a Hive.
  ///
  /// - Parameters:
  ///   - hive: The Hive that modules ask. A Hive that is started with the context puts itself here.
  ///   - environment: In which surroundings the application runs.
  ///   - arguments: The arguments of the program, its name first.
  ///   - launchURL: The URL that the application was launched to open, if any.
  ///   - configuration: The settings, shared by reference; empty unless given.
  public init(
    hive: Hive, environment: Environment = .production,
    arguments: [String] = CommandLine.arguments, launchURL: String? = nil,
    configuration: Configuration = Configuration()
  ) {
    self.hive = hive
    self.environment = environment
    self.arguments = arguments
    self.launchURL = launchURL
    self.configuration = configuration
  }

  /// Accesses a value of the application's own.
  ///
  /// - Parameter key: The type that declares the value and its default.
  /// - Returns: The value that was set, else the key's `defaultValue`.
  public subscript<K: Key>(key: K.Type) -> K.Value {
    // Look for a value that was not set first: nil could be cast to an optional `K.Value`.
    get { values[ObjectIdentifier(key)].flatMap { $0 as? K.Value } ?? K.defaultValue }
    set { values[ObjectIdentifier(key)] = newValue }
  }
}

/// A service that is disposed of when what keeps it ends: closes a file, returns a connection.
///
/// A scope keeps scoped services, and the Hive its singletons until they are removed or it stops. What a host has given as
/// an instance is the host's.
public protocol Disposable: Sendable {
  /// Called once, on the thread that ends it, with no lock held; what was made later has been disposed of
  /// before.
  func dispose()
}

// What Swift plugins are compiled against has the major and minor version of the package: Docs/contracts.md. A type that
// conforms refers to the function of its version, so that a plugin of another one is refused before it is loaded.

@inline(never) @usableFromInline func beehiveContract_0_1() {}

extension Module {
  /// The version that this was compiled against.
  @_alwaysEmitIntoClient public static var _contract: Void { beehiveContract_0_1() }
}

extension Injectable {
  /// The version that this was compiled against.
  @_alwaysEmitIntoClient public static var _contract: Void { beehiveContract_0_1() }
}
