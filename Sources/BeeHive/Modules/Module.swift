/// A part of an application with a lifecycle, written in Swift.
///
/// Every method has an empty default, so a module writes what it needs. The Hive makes one instance
/// and calls it from one place after another: setUp, initialize, splash, any number of events,
/// tearDown, unmount. The steps of one module never overlap; events may come while another is being
/// handled. All run in tasks of the Hive, with no lock of its own held, on threads that they may block;
/// a `Task { }` that they begin runs on the concurrency runtime's pool, which it must not block.
///
/// What a module registers from inside its steps and events belongs to it: services, modules, files,
/// bindings, observers, routes, targets, rules, tables. The Hive withdraws all of it once the module has
/// been unmounted, failed to start or was unregistered, so the next start begins anew; the modules that
/// it registered are torn down before it. Its tasks inherit that: what they register later is refused,
/// or withdrawn at once.
///
/// In C: `beehive_module_operations` of `beehive/module.h`.
public protocol Module: Sendable {
  /// Makes the module. Nothing else of the Hive is ready yet: work belongs in `setUp`.
  init()

  /// Whether `initialize` runs beside that of other modules; whatever requires this one waits for it.
  static var initializesConcurrently: Bool { get }

  /// Registers what the module offers; the services of others may not be there yet.
  func setUp(_ context: Context) async throws
  /// Starts work; every module has been set up.
  func initialize(_ context: Context) async throws
  /// Shows that the application is there; every module has been initialised.
  func splash(_ context: Context) async throws
  /// Undoes `initialize`, in reverse order: before every module that this one requires or follows.
  func tearDown(_ context: Context) async throws
  /// Undoes `setUp`, in the same order, after every module was torn down. What the module registered goes
  /// by itself afterwards.
  func unmount(_ context: Context) async throws
  /// Is told of an event that is no step of the lifecycle.
  func handle(_ event: Event, _ context: Context) async throws -> EventResponse
}

extension Module {
  /// Does nothing.
  public func setUp(_ context: Context) async throws {}
  /// Does nothing.
  public func initialize(_ context: Context) async throws {}
  /// Does nothing.
  public func splash(_ context: Context) async throws {}
  /// Does nothing.
  public func tearDown(_ context: Context) async throws {}
  /// Does nothing.
  public func unmount(_ context: Context) async throws {}
  /// Ignores the event.
  public func handle(_ event: Event, _ context: Context) async throws -> EventResponse { .ignored }
  /// One module after another.
  public static var initializesConcurrently: Bool { false }
}
