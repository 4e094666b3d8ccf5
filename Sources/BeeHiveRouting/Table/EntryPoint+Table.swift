internal import BeeHive
internal import Threads

extension EntryPoint {
  /// Puts a decision table in the place of the one before, as a whole.
  ///
  /// Every problem of it is found first, and then nothing changes: the error lists them all. A call that
  /// is under way goes on by the rules that it began with.
  public func load(_ table: DecisionTable) throws(RoutingError) {
    let types = core.routes.withLock { $0.types }
    let guards = core.guards.withLock { $0.mapValues(\.handler) }
    let rules = try table.compiled(for: .init(types: types, guards: guards, now: core.now))
    let (number, _) = core.rules.withLock { list in
      let before = list.replaceTable(table, with: rules)
      return (list.tableNumber, before)
    }
    core.own { [core] in
      _ = core.rules.withLock { list in
        list.tableNumber == number ? list.replaceTable(nil, with: RuleIndex()) : nil
      }
    }
  }

  /// Takes the decision table out.
  public func removeTable() { _ = core.rules.withLock { $0.replaceTable(nil, with: RuleIndex()) } }

  /// The decision table that holds.
  public var table: DecisionTable? { core.rules.withLock { $0.table } }

  /// Defines a guard that tables may name: `{"guard": "detail-is-healthy", "is": false}`.
  ///
  /// It only looks, since a dry run asks it too. Tables that are loaded later use it.
  public func define(guard name: String, _ holds: @escaping @Sendable (Call) -> Bool) {
    let guardian = Numbered(handler: holds)
    _ = core.guards.withLock { $0.updateValue(guardian, forKey: name) }
    core.own { [core] in _ = core.guards.withLock { $0.remove(guardian.number, for: name) } }
  }
}
