internal import Threads

extension EntryPoint {
  /// Replaces the decision table, as a whole.
  ///
  /// A call that is under way goes on by the rules that it began with. A table with a problem changes
  /// nothing. What a module loads is removed when it is unmounted.
  ///
  /// - Parameter table: The table. Types and guards that it names have to be defined before.
  /// - Returns: Its `cancel()` removes the table, unless another has been loaded since.
  /// - Throws: ``RoutingError`` with `badTable`; the message lists every problem.
  @discardableResult
  public func load(_ table: DecisionTable) throws(RoutingError) -> Handle {
    let types = core.routes.withLock { $0.types }
    let guards = core.guards.withLock { $0.mapValues(\.value) }
    let rules = try table.compiled(for: .init(types: types, guards: guards, now: core.now))
    let (number, _) = core.rules.withLock { list in
      let before = list.replaceTable(table, with: rules)
      return (list.tableNumber, before)
    }
    return core.owned { [core] in
      _ = core.rules.withLock { list in
        list.tableNumber == number ? list.replaceTable(nil, with: RuleIndex()) : nil
      }
    }
  }

  /// Removes the decision table; a call that is under way goes on by its rules.
  public func removeTable() { _ = core.rules.withLock { $0.replaceTable(nil, with: RuleIndex()) } }

  /// The decision table that is loaded; nil for none.
  public var table: DecisionTable? { core.rules.withLock { $0.table } }

  /// Defines a guard that tables may name: `{"guard": "detail-is-healthy", "is": false}`.
  ///
  /// Tables that are loaded later use it; it replaces the one before of its name.
  ///
  /// - Parameters:
  ///   - name: The name that tables use.
  ///   - holds: Returns whether it holds for a call. It changes nothing, since a dry run asks it too. Called
  ///     on any thread, with no lock held.
  /// - Returns: Its `cancel()` removes the guard; a table that was loaded with it keeps it.
  @discardableResult
  public func define(
    guard name: String, _ holds: @escaping @Sendable (Call) -> Bool
  ) -> Handle {
    core.replace(\.[name], in: core.guards, with: holds)
  }
}
