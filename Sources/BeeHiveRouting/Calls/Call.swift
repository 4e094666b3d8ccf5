/// Who calls.
public enum CallOrigin: String, Hashable, Sendable, Codable {
  /// Code of this process.
  case local
  /// Somebody outside: what the text says is all there is, and only what is marked remote answers.
  case remote
}

/// What is called: an action by its two names, or whatever a URL leads to.
public enum Destination: Hashable, Sendable, CustomStringConvertible {
  /// A route, an alias, or an action as `scheme://target/action?parameters`.
  case url(String)
  /// An action of a target.
  case action(target: String, action: String)

  /// The URL, or `shop.price`.
  public var description: String {
    switch self {
    case .url(let text): text
    case .action(let target, let action): "\(target).\(action)"
    }
  }
}

/// One call on its way from the caller to what answers it.
public struct Call: Sendable, CustomStringConvertible {
  /// Differs from that of every other call of this process.
  public let number: UInt64
  /// Who calls.
  public let origin: CallOrigin
  /// What is called now; a redirection changes it.
  public internal(set) var destination: Destination
  /// What is given beside the URL; for an action, all that is given.
  public internal(set) var arguments: Arguments
  /// The URL of the destination, taken apart; nil for an action that was called by its names.
  public internal(set) var url: URLText?
  /// The URL that the call began with; nil where it began with an action's names.
  public internal(set) var originalURL: URLText?
  /// Where the call has been, the first destination first.
  package internal(set) var trail: [Destination]
  /// Keys of the URL's query that a rule has taken away.
  var withheld: Set<String> = []
  /// Whether a cached target may answer.
  let caching: Bool

  init(
    number: UInt64 = RoutingCore.nextNumber(), to destination: Destination, origin: CallOrigin,
    arguments: Arguments = [:], caching: Bool = true
  ) {
    self.number = number
    // Who answers a call from outside reaches no more than the caller, whatever it says.
    self.origin = Nesting.current.origin == .remote ? .remote : origin
    self.destination = destination
    self.arguments = arguments
    self.caching = caching
    trail = [destination]
  }

  /// The target and the action, where that is what is called.
  public var action: (target: String, action: String)? {
    if case .action(let target, let action) = destination { (target, action) } else { nil }
  }

  /// What a receiver is given whose pattern gives these values: the query below the path below what is given
  /// beside the URL.
  func given(
    _ values: PathValues, keys isTaken: (String) -> Bool = { _ in true }
  ) -> Arguments {
    var given = Arguments()
    if action == nil, let url {
      for item in url.items where isTaken(item.name) {
        given.append(item.value ?? "", for: item.name)
      }
    }
    for (name, value) in values {
      // Text stays text: a receiver may ask for it as a number.
      given.values[name] = (value as? String).map { .texts([$0]) } ?? .value(value)
    }
    for key in withheld { given.values[key] = nil }
    return given.merging(arguments)
  }

  /// `remote call 12 of shop.price`
  public var description: String { "\(origin) call \(number) of \(destination)".escaped }
}

extension Call {
  /// More redirections than this are taken for a loop.
  static let mostRedirections = 16

  /// Sends the call elsewhere; throws where it has been there before. Returns false where it is there now.
  ///
  /// What the path gave by the pattern of the rule and what the query gave go along: as the query of a URL,
  /// where it has no such key itself, and as arguments of an action.
  mutating func follow(
    _ destination: Destination, by met: MetRule? = nil
  ) throws(RoutingError) -> Bool {
    let before = self
    // What `*` took has no name to go along by.
    let items = items((met?.values ?? []).filter { $0.name != "*" })
    var next = destination
    switch destination {
    case .action: arguments = Arguments(items: items).merging(arguments)
    case .url(var text):
      if let met, let template = met.rule.template {
        text = try template.url(given(met.values), carrying: items)
      } else {
        text = try RedirectTemplate.url(text, carrying: items)
      }
      // As browsers do: a fragment goes along, unless the new URL has one.
      if !text.utf8.contains(UInt8(ascii: "#")), case .url(let old) = before.destination {
        text += old.utf8.firstIndex(of: UInt8(ascii: "#")).map { old[$0...] } ?? ""
      }
      next = .url(text)
    }
    guard next != before.destination else {
      self = before
      return false
    }
    try RoutingError.check(
      !trail.contains(next), .redirectLoop,
      "the call is sent back to where it was: \(Self.shown(trail + [next]))")
    try RoutingError.check(
      trail.count <= Self.mostRedirections, .redirectLoop,
      "the call is sent on more than \(Self.mostRedirections) times: \(Self.shown(trail + [next]))")
    trail.append(next)
    self.destination = next
    withheld = []
    return true
  }

  /// The way of a call for people, who read neither long URLs nor all of many.
  private static func shown(_ trail: [Destination]) -> String {
    let texts = trail.map { step in
      let text = step.description
      return text.count > 120 ? text.prefix(119) + "…" : text
    }
    let (first, last) = (texts.prefix(4), texts.dropFirst(4).suffix(3))
    let left = texts.count - first.count - last.count
    return (first + (left > 0 ? ["\(left) more"] : []) + last).joined(separator: " → ")
  }

  /// What goes along: each key from the path if that gives it, else from the query; of an action, the texts
  /// that it is given, which leave the arguments.
  private mutating func items(_ values: PathValues) -> [URLText.Item] {
    let fromPath = values.flatMap { name, value in
      value.urlTexts.map { URLText.Item(name: name, value: $0) }
    }
    let fromQuery = action == nil ? url?.items ?? [] : arguments.takeTexts()
    let names = Set(values.map(\.name))
    return (fromPath + fromQuery.filter { !names.contains($0.name) })
      .filter { !withheld.contains($0.name) }
  }

  /// Puts arguments over those that were given.
  mutating func replace(_ new: Arguments) {
    arguments = arguments.merging(new)
    for key in new.withheld { arguments.values[key] = nil }
    withheld.formUnion(new.withheld)
    withheld.subtract(new.values.keys)
  }
}

extension Arguments {
  /// Takes out what came as text, in the order of the keys.
  fileprivate mutating func takeTexts() -> [URLText.Item] {
    var items: [URLText.Item] = []
    for key in values.keys.sorted() {
      guard case .texts(let texts) = values[key] else { continue }
      items += texts.map { URLText.Item(name: key, value: $0) }
      values[key] = nil
    }
    return items
  }
}
