internal import BeeHive

extension Router {
  /// Opens a URL: the best route that it meets answers, and its answer comes back.
  ///
  /// `userInfo` goes along beside the URL, with values of any Sendable type. From `.remote` only what is
  /// marked remote answers.
  @discardableResult
  public func open(
    _ url: String, origin: CallOrigin = .local, with userInfo: Arguments = [:]
  ) async throws -> any Sendable {
    try await core.send(.url(url), origin: origin, arguments: userInfo)
  }

  /// Opens a URL and tells `completion`, exactly once, what came of it.
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

  /// The object that the URL's route returns; another type is an error that names both.
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
