extension Router {
  /// Opens a URL: the best route that it meets answers, or the action that it names.
  ///
  /// - Parameters:
  ///   - url: The URL, absolute or a path.
  ///   - origin: Where the call comes from. To a call from outside only what is marked remote answers. Inside
  ///     of a handler that answers such a call, unless it is elevated, every call comes from outside.
  ///   - userInfo: Goes along beside the URL, with values of any Sendable type.
  /// - Returns: What the route returned; an empty tuple where it returns nothing.
  /// - Throws: ``RoutingError`` if the call is refused or nothing answers it, or what the handler threw.
  @discardableResult
  public func open(
    _ url: String, origin: CallOrigin = .local, with userInfo: Arguments = [:]
  ) async throws -> any Sendable {
    try await core.send(.url(url), origin: origin, arguments: userInfo)
  }

  /// Opens a URL, for callers that do not wait.
  ///
  /// - Parameters:
  ///   - url: The URL, absolute or a path.
  ///   - origin: Where the call comes from.
  ///   - userInfo: Goes along beside the URL.
  ///   - completion: Called exactly once, on any thread.
  /// - Returns: The task that opens it, to cancel or to wait for it.
  @discardableResult
  public func open(
    _ url: String, origin: CallOrigin = .local, with userInfo: Arguments = [:],
    completion: @escaping @Sendable (Result<any Sendable, any Error>) -> Void
  ) -> Task<Void, Never> {
    Task {
      do {
        completion(.success(try await open(url, origin: origin, with: userInfo)))
      } catch {
        completion(.failure(error))
      }
    }
  }

  /// Opens a URL and returns what its route returns, as a given type.
  ///
  /// - Parameters:
  ///   - url: The URL, absolute or a path.
  ///   - type: The type that is expected.
  ///   - origin: Where the call comes from.
  ///   - userInfo: Goes along beside the URL.
  /// - Returns: The object, as the type that is expected.
  /// - Throws: ``RoutingError``, of the code `wrongResult` where the route returns another type; or what the
  ///   handler threw.
  public func object<Value: Sendable>(
    for url: String, as type: Value.Type = Value.self, origin: CallOrigin = .local,
    with userInfo: Arguments = [:]
  ) async throws -> Value {
    let result = try await open(url, origin: origin, with: userInfo)
    return try RoutingCore.cast(result, to: type, of: url)
  }
}

extension RoutingCore {
  /// Returns a result as the type that the caller asks for: an empty tuple if it asks for none.
  static func cast<Value: Sendable>(
    _ result: any Sendable, to type: Value.Type, of name: String
  ) throws(RoutingError) -> Value {
    if let value = result as? Value { return value }
    if let nothing = () as? Value { return nothing }
    // A decision table tells no whole Double from an Int.
    if let number = result as? Int, let value = Double(exactly: number) as? Value { return value }
    if let numbers = result as? [Int], let value = numbers.map(Double.init) as? Value {
      return value
    }
    throw RoutingError(
      .wrongResult,
      "\(name) returned a value of type \(Swift.type(of: result)), and \(type) was asked for")
  }
}
