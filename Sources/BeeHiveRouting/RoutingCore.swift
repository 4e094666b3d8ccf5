// Routes and targets belong to a Hive, so importing this module gives the types of `BeeHive` too. The same import
// gives every file of this module those types and what `BeeHive` exports of the layers below.
@_exported public import BeeHive
internal import BinaryImage
internal import LibC
internal import Registration
internal import Threads

/// The state that router, mediator and entry point share. A Hive has one of each.
///
/// Handlers, targets, interceptors and converters are called with no lock held.
final class RoutingCore: Sendable {
  let routes = Lock(RouteTable())
  let targets = Lock(TargetTable())
  let rules = Lock<RuleList>((nil, nil, RuleIndex()))
  let guards = Lock<[String: Numbered<@Sendable (Call) -> Bool>]>([:])
  /// The observers of calls.
  let observers = Observers<CallNotice>()
  let limits = Lock(URLLimits())
  let records = Lock<RecordedEntries>((nil, [:], false, false))
  /// Seconds since 1970, for windows of time.
  let now: @Sendable () -> Double
  /// The Hive whose records are routes and targets, while it exists; nil for a router of its own.
  weak let owner: Hive?

  init(hive: Hive? = nil, now: @escaping @Sendable () -> Double = { Double(time(nil)) }) {
    (owner, self.now) = (hive, now)
  }

  /// Returns a handle that runs `undo`; the module that registers something now owns the handle.
  func owned(_ undo: @escaping @Sendable () -> Void) -> Handle {
    owner?.owned(undo) ?? Handle(undo)
  }

  /// Replaces a handler. The handle removes the new one, unless another has replaced it by then.
  ///
  /// The removed value is released after the lock, because what it holds may ask for that lock.
  func replace<Table, Value: Sendable>(
    _ place: any WritableKeyPath<Table, Numbered<Value>?> & Sendable, in table: Lock<Table>,
    with value: Value
  ) -> Handle {
    let added = (number: nextNumber(), value: value)
    _ = table.withLock { exchange(&$0[keyPath: place], with: added) }
    return owned {
      _ = table.withLock { table in
        let isThere = table[keyPath: place]?.number == added.number
        return isThere ? exchange(&table[keyPath: place], with: nil) : nil
      }
    }
  }
}

/// The rules about calls: the decision table with its rules, then interceptors and guards. The lock of its
/// `RoutingCore` protects it; a copy is a snapshot.
typealias RuleList = (
  ofTable: Numbered<(table: DecisionTable, rules: RuleIndex)>?,
  // The host's values that rules test.
  context: Numbered<@Sendable (Call) -> Arguments>?,
  ofCode: RuleIndex
)

extension Hive {
  var routing: RoutingCore { attachment { RoutingCore(hive: $0) } }

  /// The routes of this Hive: those that its images declare, and those that code registers.
  public var router: Router { Router(core: routing) }

  /// The targets of this Hive, which are called by their names.
  public var mediator: Mediator { Mediator(core: routing) }

  /// The one point that every call of this Hive's routes and targets passes.
  public var calls: EntryPoint { EntryPoint(core: routing) }

  /// Returns every action and route of this Hive: those of its images, and those that code registered.
  ///
  /// Asks the loader first, so it covers images that did not announce themselves.
  ///
  /// - Returns: A snapshot; later registrations do not change it.
  public func catalogue() -> Catalogue { Catalogue(of: routing) }
}
