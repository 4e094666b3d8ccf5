internal import CBeeHive
internal import Threads

/// A module that has been made, with its entry and its belongings.
struct RunningModule: Sendable {
  /// The lifecycle's steps, in order.
  enum Step: String, Sendable, CaseIterable {
    case setUp, initialize, splash, tearDown, unmount

    /// Whether a start goes through it.
    var isOfStart: Bool { self != .tearDown && self != .unmount }

    /// The step after this one. After the last step, a module may begin anew.
    var next: Step { Self.allCases.drop { $0 != self }.dropFirst().first ?? .setUp }

    /// The steps that undo a module whose next step would be this one.
    var undoing: [Step] {
      switch self {
      case .setUp: []
      case .initialize, .unmount: [.unmount]
      case .splash, .tearDown: [.tearDown, .unmount]
      }
    }
  }

  let entry: RegisteredEntry
  let module: any Module
  /// Whether `initialize` runs at the same time as other modules'.
  let isConcurrent: Bool
  /// The registrations of the module.
  let belongings: Belongings

  var name: String { entry.name }
  /// Tells this module from earlier and later ones of the same name.
  var id: UInt64 { entry.order }

  /// Makes the module of an entry. No lock is held: this is the module's own code.
  init(_ entry: RegisteredEntry, _ belongings: Belongings, for hive: Hive) throws {
    let made: (any Sendable)? =
      switch hive.state.withLock({ _ in entry.provider }) {
      case .structure(_, let address):
        unsafe CModule(
          try entry.memory.structure(.moduleTable, as: beehive_module_table.self, at: address).get()
        )
      case .accessor(let accessor): accessor.make(as: (any Module).self)
      case .closure(let factory): try factory.make(hive, nil)
      case nil: throw Problem(.noSuchType, "nothing makes it")
      }
    guard let module = made as? any Module else {
      throw Problem(
        .doesNotConform,
        made == nil ? "its accessor makes another type" : "its factory makes no Module")
    }
    (self.entry, self.module, self.belongings) = (entry, module, belongings)
    isConcurrent = entry.attributes.isAsync || type(of: module).initializesConcurrently
  }

  /// Runs a step of the lifecycle, which may block.
  func run(_ step: Step, _ context: Context) async throws {
    switch step {
    case .setUp: try await module.setUp(context)
    case .initialize: try await module.initialize(context)
    case .splash: try await module.splash(context)
    case .tearDown: try await module.tearDown(context)
    case .unmount: try await module.unmount(context)
    }
  }
}

/// The registrations of a module from inside its steps and events. The Hive undoes them when the module has been
/// unmounted, so that the next start begins without them. Entries name their owner themselves.
///
/// Calls and tasks of the module inherit them.
final class Belongings: Sendable {
  /// The functions that undo registrations, by growing numbers, or nil if the module has gone; the last number; and
  /// whether the module registered entries.
  private let state = Lock<(undos: [Int: @Sendable () -> Void]?, last: Int, hasEntries: Bool)>(
    ([:], 0, false))

  /// Whether the module registered entries.
  var hasEntries: Bool { state.withLock { $0.hasEntries } }

  /// Notes that the module registered entries. Returns false if the module has gone already.
  func noteEntries() -> Bool {
    state.withLock { state in
      state.hasEntries = true
      return state.undos != nil
    }
  }

  /// Returns a handle of `undo`, which is also called when the module goes; at once if the module has gone already.
  func handle(_ undo: @escaping @Sendable () -> Void) -> Handle {
    let number = state.withLock { state -> Int? in
      state.last += 1
      state.undos?[state.last] = undo
      return state.undos.map { _ in state.last }
    }
    guard let number else {
      undo()
      return Handle {}
    }
    return Handle { [self] in state.withLock { $0.undos?.removeValue(forKey: number) }?() }
  }

  /// Takes nothing more in. Returns the functions that undo what there was, the latest first.
  func close() -> [@Sendable () -> Void] {
    let undos = state.withLock { $0.undos.take() } ?? [:]
    return undos.sorted { $0.key > $1.key }.map(\.value)
  }
}

extension ModuleStates {
  /// Sorts all modules of a Hive as they are now, without those that were tried already.
  ///
  /// - Parameter hive: The Hive, whose lock the caller does not hold.
  /// - Returns: A report of the obstacles, and the modules that can start, in their order.
  func launchable(of hive: Hive) -> (report: LaunchReport, modules: [RegisteredEntry]) {
    var report = LaunchReport()
    let switchedOff = hive.switchedOff
    var ready: [RegisteredEntry] = []
    // The reasons that no module of a name can start.
    var unavailable: [String: String] = [:]
    hive.state.withLock { state in
      for entry in state.table.entries(where: { $0.kind == .module }) {
        let isRejected = if case .rejected = entry.progress { true } else { false }
        if switchedOff.contains(entry.name), !isRejected {
          report.disabled.append(entry.name)
          unavailable[entry.name] = "is switched off"
        } else if entry.provider != nil {
          ready.append(entry)
        } else {
          report.unbound.append(entry.snapshot)
          // A duplicate is not the reason that no module of its name can start: an earlier reason stays.
          let reason = "is declared, but nothing can make it: \(entry.source)"
          unavailable[entry.name] = unavailable[entry.name] ?? reason
        }
      }
    }
    for name in failedNames { unavailable[name] = "failed to start" }
    ready.removeAll { self[$0.order] != nil }
    let launched = (running + overdue).map(\.entry)
    let (waiting, started) = hive.state.withLock { _ in
      (ready.map(\.snapshot), launched.map(\.snapshot))
    }
    report.order = LaunchOrder(waiting, started: started, unavailable: unavailable)
    report.remarks = hive.switchedOffInVain()
    let entries = Dictionary(uniqueKeysWithValues: ready.map { ($0.order, $0) })
    let modules = report.order.modules.compactMap { entries[$0.number] }
    if !report.order.missing.isEmpty { report.order.look(for: hive.moduleNames) }
    return (report, modules)
  }
}

extension RegisteredEntry {
  /// Returns a failure of the module in an event or a step.
  func failure(
    _ event: String, _ reason: String, error: (any Error)? = nil, isOverdue: Bool = false
  ) -> ModuleFailure {
    ModuleFailure(
      module: name, event: event, reason: reason, error: error, isOverdue: isOverdue,
      source: source)
  }
}
