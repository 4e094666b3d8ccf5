internal import Registration
internal import Threads

/// What a module registered from inside its steps and events: it goes when the module has been
/// unmounted, so that the next start finds nothing of it.
///
/// Whatever a module calls, and the tasks that it begins, inherit them.
final class Belongings: Sendable {
  /// What is to be withdrawn.
  struct Rest: Sendable {
    fileprivate var entries: [RegisteredEntry] = []
    fileprivate var undos: [@Sendable () -> Void] = []
    fileprivate var isWithdrawn = false

    /// Withdraws it, the latest first; calls what others wrote.
    func withdraw(from hive: Hive) {
      for undo in undos.reversed() { undo() }
      guard !entries.isEmpty else { return }
      let orders = Set(entries.map(\.order))
      hive.withdraw { orders.contains($0.order) }
    }
  }

  private let state = Lock(Rest())

  /// Adds entries, and what is to be called when the module goes; false where it has gone already.
  func add(_ entries: [RegisteredEntry] = [], undos: [@Sendable () -> Void] = []) -> Bool {
    state.withLock { state in
      guard !state.isWithdrawn else { return false }
      state.entries += entries
      state.undos += undos
      return true
    }
  }

  /// The modules that the module registered.
  var modules: Set<UInt64> {
    state.withLock { Set($0.entries.filter { $0.kind == .module }.map(\.order)) }
  }

  /// Ends the ownership: what comes from now on is not taken in. Returns what there was, if anything.
  func close() -> Rest? {
    state.withLock { state in
      defer { state = Rest(isWithdrawn: true) }
      return state.entries.isEmpty && state.undos.isEmpty ? nil : state
    }
  }
}

extension Hive {
  /// Has `undo` called when the module whose code is running has been unmounted, or at once if it has
  /// been already. Does nothing outside of the modules of this Hive.
  package func own(_ undo: @escaping @Sendable () -> Void) {
    guard let belongings = runner.belongings, !belongings.add(undos: [undo]) else { return }
    undo()
  }

  /// Makes a handle of what takes something back; the module whose code is running owns it.
  package func owned(_ undo: @escaping @Sendable () -> Void) -> Handle {
    own(undo)
    return Handle(undo)
  }

  /// Gives entries that were added to the module whose code is running, if there is one; throws, with
  /// the entries withdrawn, where it has been unmounted.
  func own(_ entries: [RegisteredEntry]) throws(Problem) {
    guard let belongings = runner.belongings, !belongings.add(entries) else { return }
    let orders = Set(entries.map(\.order))
    withdraw { orders.contains($0.order) }
    throw Problem(
      .unmounted,
      "the module whose code registers \(entries.map(\.name).joined(separator: ", ")) has been "
        + "unmounted; end its tasks in tearDown")
  }
}
