extension Call {
  /// The most redirections of one call; more count as a loop.
  static let mostRedirections = 16

  /// Sends the call elsewhere. Returns false if it is there already, by its text or as `isThere` says. Throws if it
  /// has been there before.
  ///
  /// Values of the path, by the pattern of the rule, and of the query go along. A URL gets them as its query, except
  /// for keys that it already has. An action gets them as arguments.
  mutating func follow(
    _ destination: Destination, by met: MetRule? = nil,
    isThere: (Destination) -> Bool = { _ in false }
  ) throws(RoutingError) -> Bool {
    let before = self
    // The value of `*` has no name to go along by.
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
    guard next != before.destination, !isThere(next) else {
      self = before
      return false
    }
    try RoutingError.check(
      !trail.contains(next) && trail.count <= Self.mostRedirections, .redirectLoop,
      "the call is sent back to where it was, or on more than \(Self.mostRedirections) times: "
        + Self.shown(trail + [next]))
    trail.append(next)
    self.destination = next
    withheld = []
    return true
  }

  /// Returns the way of a call for people, with long URLs and long lists shortened.
  static func shown(_ trail: [Destination]) -> String {
    trail.map(\.description.excerpt).joined(separator: " → ").shortened
  }

  /// Returns the items that go along: each key from the path if that gives it, else from the query. For an action, the
  /// texts that it was given leave its arguments.
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
  /// Takes out the arguments that came as text, in the order of the keys.
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
