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
/// Every method has an empty default, so a module writes what it needs. The Hive makes one instance and calls it in
/// order: setUp, initialize, splash, any number of events, tearDown, unmount. The steps of one module never overlap; an
/// event may come while the module handles another. All of them run in tasks of the Hive, which holds no lock of its
/// own. They may block their threads. A `Task { }` that they begin runs on the concurrency runtime's pool and must not
/// block it.
///
/// Everything that a module registers inside its steps and events belongs to it: services, modules, files, bindings,
/// observers, routes, targets, rules, tables. The Hive withdraws all of it when the module has been unmounted, failed
/// to start or was unregistered, so the next start begins anew. Modules that it registered are torn down before it. Its
/// tasks inherit that: registrations after its end are refused, or withdrawn at once.
///
/// In C: `beehive_module_operations` of `beehive/module.h`.
public protocol Module: Sendable {
  /// Makes the module. Nothing else of the Hive is ready yet: work belongs in `setUp`.
  init()

  /// Whether `initialize` runs at the same time as other modules'. Modules that require or follow this one wait for it.
  static var initializesConcurrently: Bool { get }

  /// Registers what the module offers; the services of others may not be there yet.
  ///
  /// - Parameter context: The context that `start` was given, with the Hive that runs the module.
  /// - Throws: Any error: the module failed to start, and ``FailurePolicy`` decides about the others.
  func setUp(_ context: Context) async throws
  /// Starts work; every module has been set up.
  ///
  /// - Parameter context: The context that `start` was given, with the Hive that runs the module.
  /// - Throws: Any error: the module failed to start, as for `setUp`.
  func initialize(_ context: Context) async throws
  /// Shows that the application is there; every module has been initialised.
  ///
  /// - Parameter context: The context that `start` was given, with the Hive that runs the module.
  /// - Throws: Any error: the module failed to start, as for `setUp`.
  func splash(_ context: Context) async throws
  /// Undoes `initialize`, in reverse order: before every module that this one requires or follows.
  ///
  /// - Parameter context: The context that `start` was given, with the Hive that runs the module.
  /// - Throws: Any error: `stop` returns it as a ``ModuleFailure``, and goes on.
  func tearDown(_ context: Context) async throws
  /// Undoes `setUp`, in the same order, after every module was torn down.
  ///
  /// The Hive withdraws the module's registrations afterwards.
  ///
  /// - Parameter context: The context that `start` was given, with the Hive that runs the module.
  /// - Throws: Any error: `stop` returns it as a ``ModuleFailure``, and goes on.
  func unmount(_ context: Context) async throws
  /// Handles an event other than the steps of the lifecycle.
  ///
  /// - Parameters:
  ///   - event: The event; `event.value(as:)` reads its payload.
  ///   - context: The context that `start` was given, with the Hive that runs the module.
  /// - Returns: The response to the event; `.stop` keeps it from the modules after this one.
  /// - Throws: Any error: ``EventOutcome`` lists it, and the next module gets the event.
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

/// A type that the Hive can make by its name.
///
/// `BeeHiveService(Shop.HomeService, Shop.HomeViewModel)` does not say how to make a `HomeViewModel`, so the type
/// itself does. Macros and factories need no conformance.
public protocol Injectable: Sendable {
  /// Makes an instance.
  ///
  /// Called without any lock held, on the thread that asked for the service.
  ///
  /// - Parameter hive: The Hive that has the other services it needs.
  /// - Throws: Any error: the lookup throws a ``ServiceError`` with it as `underlying`.
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
  /// The surroundings that the application runs in.
  public struct Environment: Hashable, Sendable {
    /// The name that C modules and reports see.
    public let name: String

    /// Names an environment of the application's own.
    ///
    /// - Parameter name: The name that C modules and reports get; compared exactly.
    public init(_ name: String) { self.name = name }

    /// On a developer's machine.
    public static let development = Self("development")
    /// Under test.
    public static let test = Self("test")
    /// On a stage before production.
    public static let stage = Self("stage")
    /// In production; the default of a context.
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
  /// The surroundings that the application runs in.
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
  ///   - environment: The surroundings that the application runs in.
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
    // Check for a missing value before the cast: nil could be cast to an optional `K.Value`.
    get { values[ObjectIdentifier(key)].flatMap { $0 as? K.Value } ?? K.defaultValue }
    set { values[ObjectIdentifier(key)] = newValue }
  }
}

/// A service with something to do when its keeper ends: close a file, return a connection.
///
/// A scope keeps scoped services. The Hive keeps its singletons until they are removed or it stops. An instance that a
/// host has given is the host's: nothing disposes of it.
public protocol Disposable: Sendable {
  /// Disposes of the service. Called once, on the thread that ends it, with no lock held. Services that were made later
  /// have been disposed of before.
  func dispose()
}

// The contract of Swift plugins has the major and minor version of the package: Docs/contracts.md. A conforming type
// refers to the function of its version, so that the host refuses a plugin of another version before loading it.

@inline(never) @usableFromInline func beehiveContract_0_1() {}

extension Module {
  /// The version that this was compiled against.
  @_alwaysEmitIntoClient public static var _contract: Void { beehiveContract_0_1() }
}

extension Injectable {
  /// The version that this was compiled against.
  @_alwaysEmitIntoClient public static var _contract: Void { beehiveContract_0_1() }
}
