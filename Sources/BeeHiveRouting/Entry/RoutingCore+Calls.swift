internal import BeeHive
internal import Threads

/// The one way of every call: resolved, decided about, answered; a redirection begins anew.
extension RoutingCore {
  /// More redirections than this are taken for a loop.
  static let mostRedirections = 16

  func send(
    _ destination: Destination, origin: CallOrigin, arguments: Arguments, caching: Bool = true
  ) async throws -> any Sendable {
    var call = Call(
      number: Self.nextNumber(), origin: origin, destination: destination, arguments: arguments,
      url: nil, originalURL: nil, trail: [destination], caching: caching)
    observers.tell(.began(call))
    do {
      let result = try await run(&call)
      observers.tell(.ended(call, nil))
      return result
    } catch {
      observers.tell(.ended(call, error))
      throw error
    }
  }

  private func run(_ call: inout Call) async throws -> any Sendable {
    // One snapshot for the whole call: a table that is swapped meanwhile decides about later ones.
    let rules = rules.withLock { $0.rules }
    while true {
      try resolve(&call)
      switch try await decide(&call, by: rules) {
      case .proceed, .replace: return try await answer(call)
      case .answer(let value): return value
      case .redirect(let destination): try follow(destination, &call)
      case .refuse(let reason):
        throw RoutingError(.refused, "\(call.destination) was refused: \(reason)")
      }
    }
  }

  private func decide(_ call: inout Call, by rules: [RuleList.Rule]) async throws -> Verdict {
    for rule in rules {
      guard let parameters = rule.match.parameters(of: call) else { continue }
      let verdict: Verdict
      switch rule.decision {
      case .declared(let condition, let declared):
        if let condition, !condition(call, parameters) { continue }
        verdict = declared
      case .code(let interceptor):
        verdict = try await interceptor(call)
      }
      if case .proceed = verdict { continue }
      observers.tell(.ruled(call, by: rule.name, verdict))
      guard case .replace(let arguments) = verdict else { return verdict }
      call.replace(arguments)
    }
    return .proceed
  }

  private func answer(_ call: Call) async throws -> any Sendable {
    if let (target, action) = call.action {
      return try await answer(call, target: target, action: action)
    }
    guard let url = call.url else {
      throw RoutingError(.noRoute, "\(call.destination) is no URL and no action")
    }
    return try await answer(call, at: url)
  }

  /// Takes a URL apart, follows aliases, and finds out whether it names a target and an action.
  func resolve(_ call: inout Call) throws(RoutingError) {
    while case .url(let text) = call.destination {
      let limits = self.limits.withLock { $0 }
      let url = try URLText(text, limits: limits)
      if call.originalURL == nil { call.originalURL = url }
      call.url = url
      if let target = alias(of: url) {
        try follow(.url(target), &call)
        continue
      }
      guard let (target, action) = try names(in: url, origin: call.origin) else { return }
      call.destination = .action(target: target, action: action)
      let given = Arguments(items: url.items.filter { !call.withheld.contains($0.name) })
      call.arguments = given.merging(call.arguments)
      return
    }
    if call.url != nil, case .action? = call.trail.last { call.url = nil }
  }

  /// Sends a call elsewhere, unless it has been there.
  func follow(_ destination: Destination, _ call: inout Call) throws(RoutingError) {
    var destination = destination
    if case .url(let text) = destination {
      // The query goes along where the new URL has none of its own.
      if let query = call.url?.query, !query.isEmpty, !text.contains("?"), !text.contains("#") {
        destination = .url("\(text)?\(query)")
      }
    } else if let url = call.url, call.action == nil {
      call.arguments = Arguments(items: url.items).merging(call.arguments)
    }
    let path = (call.trail + [destination]).map(\.description).joined(separator: " → ")
    guard !call.trail.contains(destination) else {
      throw RoutingError(.redirectLoop, "the call is sent in a circle: \(path)")
    }
    guard call.trail.count <= Self.mostRedirections else {
      throw RoutingError(
        .redirectLoop, "the call is sent on more than \(Self.mostRedirections) times: \(path)")
    }
    call.trail.append(destination)
    call.destination = destination
  }

  private func alias(of url: URLText) -> String? {
    guard let name = url.aliasName else { return nil }
    return routes.withLock { $0.aliases[name] }
  }

  /// `scheme://target/action`, where no route answers to it and there is such a target.
  private func names(
    in url: URLText, origin: CallOrigin
  ) throws(RoutingError) -> (target: String, action: String)? {
    guard url.scheme != nil, url.host != nil, url.port == nil else { return nil }
    catchUp(probing: false)
    let target = targets.withLock { $0.named(by: url) }?.definition.name
    let native =
      origin == .remote ? url.path.first.flatMap { NativeName.matches($0) ? $0 : nil } : nil
    guard target != nil || native != nil, meet(url).matches.isEmpty else { return nil }
    if let native {
      throw RoutingError(.native, "\(native) begins with native, so nobody outside may call it")
    }
    guard let target else { return nil }
    guard url.path.count == 1 else {
      throw RoutingError(
        .noAction,
        "\(url) names the target \(target) and \(url.path.count) parts behind it; an action is one")
    }
    return (target, url.path[0])
  }
}

extension Call {
  /// Puts arguments over those that were given.
  mutating func replace(_ new: Arguments) {
    arguments = arguments.merging(new)
    for key in new.withheld { arguments.values[key] = nil }
    withheld.formUnion(new.withheld)
    withheld.subtract(new.values.keys)
  }
}

extension URLText {
  /// The query as it stands in the text.
  fileprivate var query: String? {
    let bytes = Array(text.utf8)
    let scanner = URLScanner(bytes: bytes, limits: .standard)
    let head = scanner.split(0..<bytes.count, at: "#").before
    return scanner.split(head, at: "?").after.map(scanner.copy)
  }
}
