internal import BeeHiveRouting
internal import HTTPTypes

/// The methods that each route and action answers: GET, and so HEAD, if the host says nothing else.
///
/// The router finds the route of a call. The method is judged after every rule of the host, so a request for something
/// missing or local gets the same 404 with every method.
struct Methods: Sendable {
  typealias Names = Set<HTTPRequest.Method>

  /// The methods by the pattern of a route without its query, or by the names of an action: `books.price`.
  private let byName: [String: Names]

  init(_ methods: [String: Names]) {
    byName = Dictionary(methods.map { (Self.path($0), $1) }) { $0.union($1) }
  }

  /// Judges each call of a client, last of all.
  func guardCalls(of router: Router) -> Handle {
    router.calls.intercept("HTTP methods", priority: .min, .everything(from: .remote)) { call in
      guard let client = ClientCall.current, client.isMade(by: call) else { return .proceed }
      let allowed = answered(by: call, router)
      if client.method != .options, allowed.contains(client.method) { return .proceed }
      // The handler is not called. The dry run only says whether the client may know that something is here.
      let end = router.calls.explain(call.destination, origin: .remote, with: call.arguments)
      if let error = end.error, Problem(error).status == .notFound { throw error }
      guard client.method == .options else { throw Problem.methodNotAllowed(Self.list(allowed)) }
      return .answer(Allowed(methods: Self.list(allowed)))
    }
  }

  /// The answer to OPTIONS.
  struct Allowed: Sendable {
    /// The value of `Allow`.
    var methods: String
  }

  private func answered(by call: Call, _ router: Router) -> Names {
    let name = call.action.map { "\($0.target).\($0.action)" }
    let pattern = router.route(for: call).map { Self.path($0.pattern.text) }
    let methods = (name ?? pattern).flatMap { byName[$0] } ?? [.get]
    let implied: Names = methods.contains(.get) ? [.head, .options] : [.options]
    return methods.union(implied)
  }

  private static func list(_ methods: Names) -> String {
    methods.map(\.rawValue).sorted().joined(separator: ", ")
  }

  /// Returns a pattern without its query. Routes are known by this text.
  private static func path(_ pattern: String) -> String { String(pattern.prefix { $0 != "?" }) }
}

extension Methods {
  /// Returns a sentence for each name that no remote route and no remote action has.
  ///
  /// A library may still bring the route later.
  func warnings(about router: Router) -> [String] {
    let routes = router.routes.filter { $0.exposure != .local }.map { Self.path($0.pattern.text) }
    return byName.keys.sorted().compactMap { name in
      if routes.contains(name) { return nil }
      let names = name.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
      guard names.count == 2, !name.contains("/") else {
        let near = routes.max { Self.likeness($0, name) < Self.likeness($1, name) }
        return "methods: no remote route has the pattern \(name)"
          + (near.map { "; did you mean \($0)?" } ?? "")
      }
      let action = Destination.action(target: names[0], action: names[1])
      guard let error = router.calls.explain(action, origin: .remote).error,
        Problem(error).status == .notFound
      else { return nil }
      // The error for a caller in this process names what there is.
      let isLocal = error.code == .notRemote || error.code == .native
      let reason = isLocal ? error : router.calls.explain(action).error ?? error
      return "methods: no remote action is named \(name): \(reason)"
    }
  }

  /// Counts the characters that two names have in common at their beginning and their end.
  private static func likeness(_ first: String, _ second: String) -> Int {
    zip(first, second).prefix { $0 == $1 }.count
      + zip(first.reversed(), second.reversed()).prefix { $0 == $1 }.count
  }
}
