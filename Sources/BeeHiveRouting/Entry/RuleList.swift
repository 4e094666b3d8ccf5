internal import BeeHive

/// Who decides about a call before it is answered, in one order: interceptors, guards, table rules.
struct RuleList: Sendable {
  /// Whether a declared verdict holds: told of the call, and of what it is given. Changes nothing.
  typealias Condition = @Sendable (Call, Arguments) -> Bool

  /// One of them.
  struct Rule: Sendable {
    enum Decision: Sendable {
      /// The verdict stands beforehand; the condition, if any, looks and changes nothing.
      case declared(when: Condition?, then: Verdict)
      /// Whatever the host's code says.
      case code(@Sendable (Call) async throws -> Verdict)
    }

    var name: String
    var priority: Int
    var match: CallMatch
    var decision: Decision
    var source: RuleSource
    /// Differs from that of all others.
    var number: UInt64
  }

  /// Larger priority first, the table before code, then in the order of arrival.
  private(set) var rules: [Rule] = []
  /// The table that the rules of that source are of.
  private(set) var table: DecisionTable?
  private var nextNumber: UInt64 = 0

  mutating func add(_ rule: Rule) -> UInt64 {
    var rule = rule
    nextNumber += 1
    rule.number = nextNumber
    rules.append(rule)
    sort()
    return nextNumber
  }

  /// Takes a rule out. Answers the rules that were there, so that what one holds ends with them.
  mutating func remove(_ number: UInt64) -> [Rule] {
    let before = rules
    rules.removeAll { $0.number == number }
    return before
  }

  /// Puts the rules of a table in the place of those of the one before. Answers the rules that were
  /// there.
  mutating func replaceTable(_ table: DecisionTable?, with new: [Rule]) -> [Rule] {
    let before = rules
    self.table = table
    rules.removeAll { $0.source == .table }
    for var rule in new {
      nextNumber += 1
      rule.number = nextNumber
      rules.append(rule)
    }
    sort()
    return before
  }

  private mutating func sort() {
    rules.sort {
      ($1.priority, $0.source.rank, $0.number) < ($0.priority, $1.source.rank, $1.number)
    }
  }
}

/// Where a rule comes from.
public enum RuleSource: String, Hashable, Sendable {
  /// The decision table.
  case table
  /// A call of `guardCalls`.
  case guardian = "guard"
  /// A call of `intercept`.
  case interceptor

  fileprivate var rank: Int { self == .table ? 0 : 1 }
}
