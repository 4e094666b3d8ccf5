// A Hive is what routes and targets belong to, so importing this gives its types too. It gives them to every
// file of this module as well, with those of the layers below that `BeeHive` exports.
@_exported public import BeeHive
internal import BinaryImage
internal import LibC
internal import Registration
internal import Threads

/// What router, mediator and entry point share: one of each belongs to a Hive.
///
/// Handlers, targets, interceptors and converters are called with no lock held.
final class RoutingCore: Sendable {
  let routes = Lock(RouteTable())
  let targets = Lock(TargetTable())
  let rules = Lock<RuleList>((nil, nil, RuleIndex()))
  let guards = Lock<[String: Numbered<@Sendable (Call) -> Bool>]>([:])
  /// Who is told of calls.
  let observers = Observers<CallNotice>()
  let limits = Lock(URLLimits())
  let records = Lock<RecordedEntries>((nil, [:], false, false))
  /// Seconds since 1970, for windows of time.
  let now: @Sendable () -> Double
  /// The Hive whose records are routes and targets, while it is there; nil for a router of its own.
  weak let owner: Hive?

  init(hive: Hive? = nil, now: @escaping @Sendable () -> Double = { Double(time(nil)) }) {
    (owner, self.now) = (hive, now)
  }

  /// Makes a handle of what takes something back; the module that registers it here owns it.
  func owned(_ undo: @escaping @Sendable () -> Void) -> Handle {
    owner?.owned(undo) ?? Handle(undo)
  }

  /// Puts a handler in the place of the one before; the handle takes it out, unless another is there by then.
  ///
  /// What is taken out ends when the lock is free: what it holds may ask for that lock.
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

/// Who decides about a call before it is answered: the decision table with its rules, then interceptors and guards.
/// Lives under the lock of its `RoutingCore`; a copy of it is a snapshot.
typealias RuleList = (
  ofTable: Numbered<(table: DecisionTable, rules: RuleIndex)>?,
  // Values of the host that rules ask about.
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
