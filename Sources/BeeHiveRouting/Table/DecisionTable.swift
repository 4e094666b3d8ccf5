/// Rules about calls, from a document: a file that is shipped, or one that a server sends.
///
///     let table = try JSONDecoder().decode(DecisionTable.self, from: data)
///     try hive.calls.load(table)
///
/// The host decodes it with any decoder; `Docs/decision-table.md` has the schema. If the document breaks the schema,
/// a `RoutingError` of the code `bad-table` lists every problem. Some decoders wrap it: ``init(_:)`` takes it out.
public struct DecisionTable: Hashable, Sendable, Codable {
  private static let currentVersion = 1

  /// The host's part of a table. `now` is in seconds since 1970; `zones` is the parameter of `EntryPoint.load`.
  typealias Host = (
    types: SegmentTypes, guards: [String: Numbered<@Sendable (Call) -> Bool>],
    now: @Sendable () -> Double, zones: (_ name: String, _ moment: Double) -> Int?
  )

  /// The document that was read: `{"version": 1, "name": …, "rules": […]}`.
  private let document: DecisionValue

  /// Reads a table.
  ///
  /// Throws a `RoutingError` that lists every problem except those that only a host can know.
  public init(from decoder: any Decoder) throws {
    do { document = try DecisionValue(from: decoder) } catch { throw Self.refusal(error) }
    _ = try compiled(for: nil)
  }

  /// Reads a table with any decoder, so that each refusal is a `RoutingError`.
  ///
  ///     let table = try DecisionTable { try YAMLDecoder().decode(DecisionTable.self, from: text) }
  ///
  /// - Parameter decode: Decodes the table.
  /// - Throws: ``RoutingError`` with `badTable`; the message has the location, if the decoder gives it.
  public init(_ decode: () throws -> DecisionTable) throws(RoutingError) {
    do { self = try decode() } catch { throw Self.refusal(error) }
  }

  /// Returns the refusal inside of a decoder's error, or else the decoder's reason with its location.
  private static func refusal(_ error: any Error) -> RoutingError {
    if let error = error as? RoutingError { return error }
    var (place, reason) = ("", "\(error)".excerpt)
    if let error = error as? DecodingError, let said = error.said {
      if let cause = said.cause as? RoutingError { return cause }
      place = error.keyPath.isEmpty ? "" : "\(error.keyPath.excerpt): "
      reason = ([said.reason] + (said.cause.map { ["\($0)"] } ?? []))
        .map(\.excerpt).joined(separator: " ")
    }
    return RoutingError(.badTable, "the decision table was not taken: \(place)\(reason)")
  }

  /// Writes the document that was read.
  public func encode(to encoder: any Encoder) throws { try document.encode(to: encoder) }

  /// The name of the table in messages; empty if it has none.
  package var name: String { SchemaPlace(document)["name"].ifText ?? "" }

  /// Returns the table as rules, or throws every problem of it at once.
  ///
  /// Without a host, every type counts as defined, and conditions that need the host never hold.
  func compiled(for host: Host?) throws(RoutingError) -> RuleIndex {
    let place = SchemaPlace(document)
    var index = RuleIndex()
    if place.isObject(of: ["version", "name", "rules"]) {
      if let version = place["version"].integer(), version != Self.currentVersion {
        place["version"].note("\(version) is not the \(Self.currentVersion) that is read here")
      }
      _ = place.given("name")?.text()
      index = place["rules"].rules(for: host)
    }
    let problems = place.problems.joined(separator: "; ")
    try RoutingError.check(
      problems.isEmpty, .badTable,
      "the decision table \(name.isEmpty ? "" : "\(name.excerpt) ")was not taken: \(problems)")
    return index
  }
}

extension SchemaPlace {
  /// Reads an array of rules.
  fileprivate func rules(for host: DecisionTable.Host?) -> RuleIndex {
    var names: Set<String> = []
    var index = RuleIndex()
    var added: [(rule: CallRule, place: SchemaPlace)] = []
    for place in array() {
      guard place.isObject(of: ["name", "match", "when", "do", "priority"]) else { continue }
      place.rule = place["name"].text()
      if place.rule?.isEmpty == true { place.note("it has no name") }
      if let name = place.rule, !names.insert(name).inserted {
        place.note("it has the name of an earlier rule")
      }
      do throws(RoutingError) {
        guard let rule = try place.rule(for: host) else { continue }
        index.add(rule)
        added.append((rule, place))
      } catch {
        place.note(error.message)
      }
    }
    // If many rules are about the same URLs, the search ends early, and a call finds the loop.
    var looks = 100 * added.count
    for (rule, place) in added {
      let origins: [CallOrigin] = rule.match.origin.map { [$0] } ?? [.local, .remote]
      let way = origins.lazy.compactMap { index.loop(from: rule, for: $0, looks: &looks) }.first
      if let way { place.note("it redirects for ever: \(way)") }
    }
    return index
  }

  /// Reads `{"name": …, "match": …, "when": […], "do": …, "priority": 0}`.
  private func rule(for host: DecisionTable.Host?) throws(RoutingError) -> CallRule? {
    let conditions = given("when")?.array().compactMap { $0.condition(for: host) } ?? []
    let priority = given("priority")?.integer() ?? 0
    let outcome = self["do"]
    let verdict = outcome.verdict(Self.verdicts + ["split"])
    let split = outcome.given("split")?.split()
    guard let match = try self["match"].match(for: host), let verdict else { return nil }
    let rule = try CallRule.declared(
      ruleName, priority: priority, match, when: conditions, then: verdict, isOfTable: true)
    return split?(rule) ?? rule
  }

  /// Reads `{"url": …}`, `{"route": …}`, `{"target": …, "action": …}` or `{}`, each with an `origin` or without.
  private func match(for host: DecisionTable.Host?) throws(RoutingError) -> CallMatch? {
    guard isObject(of: ["url", "route", "target", "action", "origin"]) else { return nil }
    var origin: CallOrigin?
    if let text = given("origin")?.text() {
      origin = CallOrigin(rawValue: text)
      if origin == nil { self["origin"].note("local or remote belongs here, not \(text.excerpt)") }
    }
    let (target, action) = (given("target"), given("action"))
    let hasNames = target != nil || action != nil
    let route = given("route")
    if let place = route ?? given("url") {
      if hasNames || route != nil && given("url") != nil {
        place.note("a rule matches by a URL, by a route or by names")
      }
      guard let pattern = try place.text().map(RoutePattern.init),
        place.pays(forFormsOf: pattern)
      else { return nil }
      if route != nil { return .route(pattern, from: origin) }
      if !pattern.keys.isEmpty {
        note(
          "a rule does not look at the query of \(pattern.text.excerpt); ask for a parameter under when"
        )
      }
      // Only the host knows which types there are.
      let types = host?.types ?? pattern.anyTypes
      return try .url(pattern, types: types, from: origin)
    }
    guard hasNames else { return .everything(from: origin) }
    let names = [target, action].map { $0?.text() ?? "*" }
    if names.contains("") { note("it matches an empty name") }
    return .action(names[0], names[1], from: origin)
  }

  /// Reads a split. It makes a rule leave its decision to one of several variants:
  /// `{"by": …, "salt": …, "variants": [{"weight": 1, "answer": …}, {"weight": 2, "name": "b", "block": …}]}`.
  private func split() -> ((CallRule) -> CallRule)? {
    guard isObject(of: ["by", "salt", "variants"]) else { return nil }
    let places = self["variants"].array()
    if places.count > 100 || self["variants"].isEmptyArray {
      self["variants"].note("a split has 1 to 100 variants, not \(places.count)")
    }
    var names: Set<String> = []
    let variants = places.enumerated().compactMap { index, place in
      place.variant(named: "\(index + 1)", others: &names)
    }
    guard let (name, salt, texts) = sharer() else { return nil }
    return { rule in
      let rules = variants.compactMap { variant -> CallRule? in
        do throws(RoutingError) {
          return try CallRule.declared(
            "\(rule.name), variant \(variant.name)", priority: rule.priority, rule.match, when: [],
            then: variant.verdict, isOfTable: true)
        } catch {
          variant.place.note(error.message)
          return nil
        }
      }
      let weights = variants.map(\.weight)
      var split = rule
      split.requirements.append(("\(name) is given", { !texts($0, $1).isEmpty }))
      split.variant = { call, given in
        stableChoice(among: weights, of: salt, texts(call, given)).map { rules[$0] }
      }
      return split
    }
  }

  /// Reads a variant of a split. Its name must differ from the names of the others.
  private func variant(named number: String, others: inout Set<String>) -> (
    place: SchemaPlace, name: String, weight: Int, verdict: Verdict
  )? {
    guard let verdict = verdict(Self.verdicts, beside: ["name", "weight"]) else { return nil }
    let name = given("name").map { $0.text() ?? "" } ?? number
    if !others.insert(name).inserted { note("it has the name of an earlier variant") }
    if name.isEmpty { note("it has no name") }
    guard let weight = self["weight"].integer() else { return nil }
    if !(1...10_000).contains(weight) {
      self["weight"].note("\(weight) is no weight; write a whole number from 1 to 10000")
    }
    return (self, name, weight, verdict)
  }

  private static let verdicts = ["redirect", "block", "replace", "answer"]

  /// Reads the one verdict of these kinds, next to other keys. A split leaves the verdict to its variants.
  private func verdict(_ kinds: [String], beside others: [String] = []) -> Verdict? {
    guard isObject(of: kinds + others), let key = only(kinds) else { return nil }
    let value = self[key]
    switch key {
    case "block":
      let reason = value.text()
      if reason?.isEmpty == true { note("it blocks without a reason") }
      return reason.map(Verdict.refuse)
    case "replace": return .replace(Arguments(value.values()))
    case "answer": return value.value().map { .answer($0.answer) }
    case "split": return .proceed
    default: return value.redirection().map(Verdict.redirect)
    }
  }

  /// Reads a URL or `{"target": …, "action": …}`.
  private func redirection() -> Destination? {
    if let text = ifText {
      let path = text[...].split(at: "#").before.split(at: "?").before
      do throws(RoutingError) {
        if !RedirectTemplate.hasPlaces(inPath: path) { _ = try URLText(text) }
      } catch {
        note("it redirects to what is no URL: \(error)")
      }
      return .url(text)
    }
    guard isObject(of: ["target", "action"]), let target = self["target"].text(),
      let action = self["action"].text()
    else { return nil }
    if target.isEmpty || action.isEmpty { note("it redirects to an empty name") }
    return .action(target: target, action: action)
  }
}

extension Arguments {
  /// Takes values of a table as texts, because a receiver can read any type that it declares from them.
  fileprivate init(_ values: [String: DecisionValue]) {
    self.init()
    for (key, value) in values {
      if value == .null {
        withheld.insert(key)
      } else {
        self.values[key] = .texts(value.texts)
      }
    }
  }
}

extension RuleIndex {
  /// Returns the way of an unconditional redirection that comes back to where it was; nil if it ends.
  fileprivate func loop(
    from rule: CallRule, for origin: CallOrigin, looks: inout Int
  ) -> String? {
    guard case .redirect(let first) = rule.verdict, rule.requirements.isEmpty else { return nil }
    var way = [first]
    while way.count <= Call.mostRedirections {
      let here = way[way.count - 1]
      guard let next = certainRedirection(of: here, for: origin, looks: &looks), next != here else {
        return nil
      }
      if way.contains(next) { return Call.shown(way + [next]) }
      way.append(next)
    }
    return nil
  }

  /// Returns the certain next destination of a call: by the first rule without a condition that decides here.
  private func certainRedirection(
    of destination: Destination, for origin: CallOrigin, looks: inout Int
  ) -> Destination? {
    guard looks > 0 else { return nil }
    var call = Call(number: 0, to: destination, origin: origin)
    if case .url(let text) = destination { call.url = try? URLText(text) }
    let (rules, steps) = met(by: call)
    looks -= 1 + steps
    for met in rules.sorted(by: CallRule.isBefore) where met.rule.requirements.isEmpty {
      switch met.rule.verdict {
      case .redirect(let next) where next != destination: return next
      case .refuse, .answer: return nil
      default: continue
      }
    }
    return nil
  }
}
