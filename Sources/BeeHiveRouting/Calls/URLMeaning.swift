internal import Threads

// What a URL means: the alias, the action or the routes that it names.
extension RoutingCore {
  /// Takes a URL apart, follows aliases, and finds out whether it names a target and an action.
  func resolve(_ call: inout Call) throws(RoutingError) {
    while case .url(let text) = call.destination {
      let url = try URLText(text, limits: limits.withLock { $0 })
      if call.originalURL == nil { call.originalURL = url }
      call.url = url
      if let name = url.aliasName, let target = routes.withLock({ $0.aliases[name]?.value }),
        try call.follow(.url(target))
      {
        continue
      }
      guard let name = try name(in: url, origin: call.origin) else { return }
      call.destination = .action(target: name.target, action: name.action)
      call.arguments = Arguments(items: url.items).merging(call.arguments)
      return
    }
    if call.url != nil, case .action? = call.trail.last { call.url = nil }
  }

  /// `scheme://target/action`, where there is such a target.
  ///
  /// An action that exists is as good as a route that spells it out: of routes, only such a one takes its
  /// place. Where the target has no such action, any route does.
  private func name(in url: URLText, origin: CallOrigin) throws(RoutingError) -> ActionName? {
    guard url.scheme != nil, url.host != nil, url.port == nil else { return nil }
    catchUp(probing: false)
    let target = targets.withLock { $0.named(by: url) }?.definition
    let native =
      origin == .remote ? url.path.first.flatMap { NativeName.matches($0) ? $0 : nil } : nil
    guard target != nil || native != nil else { return nil }
    let matches = meet(url).matches
    if matches.contains(where: \.values.isEmpty) { return nil }
    if let target, url.path.count == 1, target.actions[url.path[0]] != nil {
      return ActionName(target: target.name, action: url.path[0])
    }
    guard matches.isEmpty else { return nil }
    if let native {
      throw RoutingError(
        .native, "\(native) begins with native, so it cannot be called from outside")
    }
    guard let target else { return nil }
    guard url.path.count == 1 else {
      throw nearMiss(of: url, from: origin)
        ?? RoutingError(
          .noAction,
          "\(url) names the target \(target.name) and \(url.path.count) parts behind it; an action is one"
        )
    }
    return ActionName(target: target.name, action: url.path[0])
  }
}
