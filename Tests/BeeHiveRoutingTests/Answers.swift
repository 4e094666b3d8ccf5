import BeeHiveRouting
import Foundation
import Testing

/// The lines that handlers write, in order.
actor Log {
  private(set) var lines: [String] = []
  func add(_ line: String) { lines.append(line) }

  /// Returns the lines so far, and forgets them.
  func take() -> [String] {
    defer { lines = [] }
    return lines
  }
}

extension Router {
  /// Registers patterns whose handlers answer with the pattern and the parameters of the call.
  @discardableResult
  func answering(_ patterns: String...) throws -> Router {
    for pattern in patterns {
      try register(pattern) { call in describe(call) }
    }
    return self
  }

  /// Returns the answer of a handler of `answering`; nil if nobody answers.
  func answer(_ url: String, origin: CallOrigin = .local) async -> String? {
    try? await object(for: url, as: String.self, origin: origin)
  }

  /// Returns the error that opening a URL throws; nil if somebody answers.
  func error(_ url: String, origin: CallOrigin = .local) async -> RoutingError? {
    do {
      try await open(url, origin: origin)
      return nil
    } catch {
      return error as? RoutingError
    }
  }

  /// Returns the code of the error that opening a URL throws.
  func failure(_ url: String, origin: CallOrigin = .local) async -> RoutingError.Code? {
    await error(url, origin: origin)?.code
  }
}

extension Hive {
  /// The state of each entry: `bound`, or `accepted` or `rejected` with the code of its problem.
  var states: [String: String] {
    let states = entries.map { entry in
      switch entry.state {
      case .bound: (entry.name, "bound")
      case .accepted(let problem): (entry.name, "accepted \(problem.code.rawValue)")
      case .rejected(let problem): (entry.name, "rejected \(problem.code.rawValue)")
      }
    }
    return Dictionary(states, uniquingKeysWith: { first, _ in first })
  }
}

/// Expects a `RoutingError` with a code, about a key, and with texts in its message.
func expectError(
  _ code: RoutingError.Code? = nil, key: String? = nil, saying texts: String...,
  at location: SourceLocation = #_sourceLocation, in body: () throws -> some Any
) {
  let error = #expect(throws: RoutingError.self, sourceLocation: location) { _ = try body() }
  check(error, code, key, texts, location)
}

/// Expects a `RoutingError` of an asynchronous call.
func expectError(
  _ code: RoutingError.Code? = nil, key: String? = nil, saying texts: String...,
  at location: SourceLocation = #_sourceLocation, in body: () async throws -> some Any
) async {
  let error = await #expect(throws: RoutingError.self, sourceLocation: location) {
    _ = try await body()
  }
  check(error, code, key, texts, location)
}

private func check(
  _ error: RoutingError?, _ code: RoutingError.Code?, _ key: String?, _ texts: [String],
  _ location: SourceLocation
) {
  let message = error?.message ?? ""
  #expect(code == nil || error?.code == code, "\(message)", sourceLocation: location)
  #expect(key == nil || error?.key == key, "\(message)", sourceLocation: location)
  for text in texts { #expect(message.contains(text), "\(message)", sourceLocation: location) }
}

/// Reads a decision table of rules, each an object of JSON.
func table(_ rules: String..., name: String = "") throws -> DecisionTable {
  try table(of: rules, name: name)
}

/// Reads a decision table of rules, each an object of JSON.
func table(of rules: [String], name: String = "") throws -> DecisionTable {
  let json = #"{"version": 1, "name": "\#(name)", "rules": [\#(rules.joined(separator: ","))]}"#
  return try JSONDecoder().decode(DecisionTable.self, from: Data(json.utf8))
}

/// Returns a rule of a table. Its match, conditions and outcome are JSON.
func rule(
  _ name: String, _ match: String, when conditions: String = "", do outcome: String
) -> String {
  #"{"name": "\#(name)", "match": \#(match), "when": [\#(conditions)], "do": \#(outcome)}"#
}

/// Describes a call as `app://shop/:id id=42 q=x`: the pattern, then the parameters in the order of their names.
func describe(_ call: RouteCall) -> String {
  let parameters = call.parameters.keys.sorted().map { key in
    "\(key)=\(call.parameters[raw: key].map { "\($0)" } ?? "nil")"
  }
  return ([call.pattern.text] + parameters).joined(separator: " ")
}

/// A URL and its answer; nil if nobody answers.
struct Answer: CustomTestStringConvertible, Sendable {
  let patterns: [String]
  let url: String
  let answer: String?
  var testDescription: String { "\(patterns.joined(separator: " ")) ← \(url)" }

  init(_ patterns: String..., url: String, _ answer: String?) {
    self.patterns = patterns
    self.url = url
    self.answer = answer
  }

  func check() async throws {
    let router = Router()
    for pattern in patterns { try router.answering(pattern) }
    #expect(await router.answer(url) == answer)
    #expect(router.canOpen(url) == (answer != nil))
  }
}
