public import BeeHiveRouting
internal import Dispatch
internal import Foundation
internal import Synchronization

/// Evaluates flags by a decision table, as a provider of OpenFeature does.
///
/// The flag `new-search` is the call `flag://new-search`, and the table's answer is its value. Rules ask about the
/// evaluation context by `{"context": …}`: `targetingKey`, the attributes by their names, and parts of structures as
/// `user.name`. README.md lists the reasons and the errors.
public final class FlagProvider: Sendable {
  /// The name in the metadata of OpenFeature.
  public let name = "swift-beehive"
  private let calls: EntryPoint
  private let scheme: String
  private let handles: [Handle]
  private let known = Mutex<(table: DecisionTable?, rules: [String: KnownRule])>((nil, [:]))

  /// Evaluates by the table of an entry point, as it is at each evaluation.
  ///
  /// - Parameters:
  ///   - calls: The entry point that has the table. This provider sets its context.
  ///   - scheme: The scheme of the flags' URLs.
  ///   - context: The values that rules may test in all calls. The evaluation context of a flag overrides them.
  public init(
    _ calls: EntryPoint, scheme: String = "flag",
    context: @escaping @Sendable (Call) -> Arguments = { _ in [:] }
  ) {
    (self.calls, self.scheme) = (calls, scheme)
    handles = [
      calls.context { call in
        var values = context(call)
        for (key, value) in Evaluation.current?.values ?? [:] { values[raw: key] = value }
        return values
      },
      calls.observe { notice in
        if case .ruled(_, let rule, let verdict) = notice {
          Evaluation.current?.rulings.withLock { $0.append((rule, verdict)) }
        }
      },
    ]
  }

  deinit { for handle in handles { handle.cancel() } }

  /// Evaluates a flag.
  ///
  /// - Parameters:
  ///   - flag: The flag's name, which follows `flag://` in the table.
  ///   - fallback: The value if the flag has none.
  ///   - context: The subject, and its attributes.
  /// - Returns: The value and its reason. Errors are part of it.
  public func evaluate<Value: FlagType>(
    _ flag: String, default fallback: Value, context: FlagContext = FlagContext()
  ) async -> FlagEvaluation<Value> {
    let evaluation = Evaluation(context)
    return await Evaluation.$current.withValue(evaluation) {
      do {
        let answer = try await calls.send(.url(url(of: flag)))
        return try outcome(of: flag, answer, evaluation.rulings.withLock { $0 }, or: fallback)
      } catch {
        return failure(of: flag, error, evaluation, fallback)
      }
    }
  }

  /// Evaluates a flag for code that does not wait: OpenFeature's SDK for Swift calls such functions.
  ///
  /// The call runs on this thread. If it is the main thread, an interceptor that waits for the main actor never ends.
  ///
  /// - Parameters:
  ///   - flag: The flag's name, which follows `flag://` in the table.
  ///   - fallback: The value if the flag has none.
  ///   - context: The subject, and its attributes.
  /// - Returns: The value and its reason. Errors are part of it.
  public func evaluate<Value: FlagType>(
    _ flag: String, default fallback: Value, context: FlagContext = FlagContext()
  ) -> FlagEvaluation<Value> {
    WaitingThread().run { await self.evaluate(flag, default: fallback, context: context) }
  }

  /// Returns the answered value, with the reason that the table's rules give.
  private func outcome<Value: FlagType>(
    of flag: String, _ answer: any Sendable, _ rulings: [Evaluation.Ruling], or fallback: Value
  ) throws -> FlagEvaluation<Value> {
    let value = try FlagValue(answer: answer)
    if value == .null { return FlagEvaluation(value: fallback, reason: .default) }
    let known = self.rules
    let rules = rulings.map { known[$0.rule] }
    var reason = FlagReason.static
    if rules.contains(where: { $0?.isSplit == true }) {
      reason = .split
    } else if rules.contains(where: { $0?.isConditional == true }) {
      reason = .targetingMatch
    } else if rules.isEmpty || rules.contains(where: { $0 == nil }) {
      reason = .unknown
    } else if !unmet(flag).isEmpty {
      reason = .default
    }
    return FlagEvaluation(
      value: try Value(flag: value), variant: rules.last??.variant, reason: reason)
  }

  /// Returns the caller's value, with the reason that the flag has none.
  private func failure<Value: FlagType>(
    of flag: String, _ error: any Error, _ evaluation: Evaluation, _ fallback: Value
  ) -> FlagEvaluation<Value> {
    let last = evaluation.rulings.withLock { $0.last?.verdict }
    var failure = error as? FlagFailure ?? FlagFailure(.general, "\(error)")
    switch (error as? RoutingError)?.code {
    case .refused:
      if case .refuse = last { return FlagEvaluation(value: fallback, reason: .disabled) }
    case .noRoute, .noAction, .malformedURL:
      // A rule may have sent the call to a missing route or action.
      guard last == nil else { break }
      let unmet = unmet(flag)
      if evaluation.values["targetingKey"] == nil, unmet.contains(where: \.isAboutTargetingKey) {
        failure = FlagFailure(
          .targetingKeyMissing, "\(flag) is split by the targeting key, which is not given")
      } else if unmet.isEmpty {
        failure = FlagFailure(.flagNotFound, "no rule of the table is about \(flag)")
      } else {
        return FlagEvaluation(value: fallback, reason: .default)
      }
    default: break
    }
    return FlagEvaluation(
      value: fallback, reason: .error, errorCode: failure.code, errorMessage: failure.description)
  }

  /// Returns the URL of a flag. A slash in the flag's name separates segments.
  private func url(of flag: String) -> String {
    let plain = CharacterSet(
      charactersIn: "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~/")
    return "\(scheme)://\(flag.addingPercentEncoding(withAllowedCharacters: plain) ?? flag)"
  }

  /// Returns a dry run's lines about the flag's rules whose conditions do not hold. Leaves out rules about every flag.
  private func unmet(_ flag: String) -> Set<Substring> {
    let lines = [flag, "no flag has this name"].map { name in
      Set(
        calls.explain(.url(url(of: name))).description.split(separator: "\n").filter {
          $0.hasPrefix("table ") && $0.contains(": has no say: ")
        })
    }
    return lines[0].subtracting(lines[1])
  }

  /// The rules of the loaded table, by their names in notices. Each table's document is read once.
  private var rules: [String: KnownRule] {
    let table = calls.table
    return known.withLock { known in
      if known.table != table {
        known = (table, table.flatMap { try? KnownRule.rules(of: $0) } ?? [:])
      }
      return known.rules
    }
  }
}

extension Substring {
  /// Whether, by this line of a dry run, a share lacks the targeting key. Other conditions do not need one.
  fileprivate var isAboutTargetingKey: Bool {
    hasSuffix(": context targetingKey is given does not hold")
      || hasSuffix(" percent by context targetingKey does not hold")
  }
}

/// An evaluation in progress: its context, and the rulings so far.
private final class Evaluation: Sendable {
  typealias Ruling = (rule: String, verdict: Verdict)

  @TaskLocal static var current: Evaluation?

  /// The values that rules may test.
  let values: [String: any Sendable]
  let rulings = Mutex<[Ruling]>([])

  init(_ context: FlagContext) {
    var values: [String: any Sendable] = [:]
    FlagValue.structure(context.attributes).write(to: &values, at: "")
    values["targetingKey"] = context.targetingKey?.isEmpty == false ? context.targetingKey : nil
    self.values = values
  }
}

/// The parts of a rule that the reason of an evaluation depends on.
private struct KnownRule {
  var variant: String
  var isConditional = false
  var isSplit = false

  /// Reads the document of a table, because notices have neither `split` nor `when`.
  static func rules(of table: DecisionTable) throws -> [String: KnownRule] {
    let document = try JSONDecoder().decode(Document.self, from: JSONEncoder().encode(table))
    var known: [String: KnownRule] = [:]
    for rule in document.rules {
      known[rule.name] = KnownRule(
        variant: rule.name, isConditional: rule.when?.isEmpty == false)
      for (index, variant) in (rule.do.split?.variants ?? []).enumerated() {
        let name = variant.name ?? "\(index + 1)"
        known["\(rule.name), variant \(name)"] = KnownRule(variant: name, isSplit: true)
      }
    }
    return known
  }

  private struct Document: Decodable { var rules: [Rule] }

  private struct Rule: Decodable {
    var name: String
    var when: [Condition]?
    var `do`: Outcome
  }

  private struct Condition: Decodable { init(from decoder: any Decoder) {} }

  private struct Outcome: Decodable { var split: Split? }

  private struct Split: Decodable { var variants: [Variant] }

  private struct Variant: Decodable { var name: String? }
}

/// Runs a call on the thread that waits for its result.
private final class WaitingThread: TaskExecutor {
  private let jobs = Mutex<[UnownedJob]>([])
  private let arrived = DispatchSemaphore(value: 0)

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    jobs.withLock { $0.append(job) }
    arrived.signal()
  }

  func run<Value: Sendable>(_ body: @escaping @Sendable () async -> Value) -> Value {
    let result = Result<Value>()
    Task(executorPreference: self) {
      let value = await body()
      result.value.withLock { $0 = value }
    }
    while true {
      if let value = result.value.withLock({ $0 }) { return value }
      arrived.wait()
      // Sound: each job runs once, and this executor lives until the last has run.
      let job = jobs.withLock { $0.removeFirst() }
      unsafe job.runSynchronously(on: asUnownedTaskExecutor())
    }
  }

  private final class Result<Value: Sendable>: Sendable { let value = Mutex<Value?>(nil) }
}

extension FlagValue: FlagType {
  /// Reads a structure or a list. A table answers no objects, so the text of one is written as JSON.
  ///
  /// - Parameter value: The value.
  /// - Throws: ``FlagFailure`` if the value is of another type, or its JSON cannot be read.
  public init(flag value: FlagValue) throws(FlagFailure) {
    switch value {
    case .structure, .list: self = value
    case .string(let text) where text.hasPrefix("{") || text.hasPrefix("["):
      do { self = try JSONDecoder().decode(FlagValue.self, from: Data(text.utf8)) } catch {
        throw FlagFailure(.parseError, "the flag's JSON cannot be read: \(error)")
      }
    default:
      throw FlagFailure(.typeMismatch, "the flag is \(value), and a structure was asked for")
    }
  }

  /// Reads an answer of a table, a handler or an action.
  fileprivate init(answer: any Sendable) throws(FlagFailure) {
    switch answer {
    case is Void: self = .null
    case let value as FlagValue: self = value
    case let value as Bool: self = .boolean(value)
    case let value as String: self = .string(value)
    case let value as Double: self = .number(value)
    case let values as [any Sendable]:
      self = .list(try values.map { value throws(FlagFailure) in try FlagValue(answer: value) })
    case let value as any BinaryInteger:
      guard let integer = Int64(exactly: value) else { fallthrough }
      self = .integer(integer)
    default:
      throw FlagFailure(.typeMismatch, "\(answer) is no value that flags have")
    }
  }

  /// Writes the values that rules may test: parts of a structure by dots, a list as several texts.
  fileprivate func write(to values: inout [String: any Sendable], at key: String) {
    switch self {
    case .null: break
    case .boolean(let value): values[key] = value
    case .string(let value): values[key] = value
    case .integer(let value): values[key] = value
    case .number(let value): values[key] = value
    case .list(let list):
      var texts: [String: any Sendable] = [:]
      for (index, value) in list.enumerated() { value.write(to: &texts, at: "\(index)") }
      values[key] = list.indices.compactMap { texts["\($0)"] as? any URLConvertible }.map(\.urlText)
    case .structure(let parts):
      for (name, value) in parts {
        value.write(to: &values, at: key.isEmpty ? name : "\(key).\(name)")
      }
    }
  }
}
