internal import BeeHive

extension Router {
  /// Opens a URL: the best route that it meets answers.
  ///
  /// - Parameters:
  ///   - url: The URL, absolute or a path.
  ///   - origin: Where the call comes from; from `.remote` only what is marked remote answers.
  ///   - userInfo: Goes along beside the URL, with values of any Sendable type.
  /// - Returns: What the route returned.
  /// - Throws: ``RoutingError``, or what the handler threw.
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
  /// - Returns: The task, to cancel it.
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

  /// Returns the object that the URL's route returns.
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
  /// A result as what the caller asks for; whoever asks for nothing gets nothing.
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
