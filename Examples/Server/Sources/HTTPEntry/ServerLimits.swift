public import BeeHive

/// The limits of what clients may take of the server.
///
/// Each limit has a default and a setting: `idleSeconds` is `http.idle-seconds`, and so, in the environment
/// of the example, `SERVER_HTTP_IDLE_SECONDS`.
public struct ServerLimits: Hashable, Sendable {
  /// The seconds for the head of a request to arrive, from its first byte on, or from the start of a new connection.
  /// After them the connection is closed.
  public var headSeconds = 10
  /// The most bytes of a target, of a header field, and of all header fields.
  public var headBytes = 16_384
  /// The seconds for all of a body to arrive. After them the answer is 408.
  public var bodySeconds = 10
  /// The most bytes of a body; 413 otherwise. The router's own limit of a URL holds as well.
  public var bodyBytes = 4096
  /// The seconds that a client may take to receive an answer, from its head on. Then the connection is cut. The time of
  /// the handler does not count.
  public var sendSeconds = 10
  /// The seconds that a connection is kept without a request.
  public var idleSeconds = 60
  /// The seconds that a client has to close a connection that the server has ended.
  public var closeSeconds = 5
  /// The most connections at a time. Further ones are answered with 503 and closed.
  public var connections = 1024
  /// The seconds that requests and modules have to finish once the server is ending.
  public var endSeconds = 25

  /// Makes the default limits.
  public init() {}

  /// Reads the limits from a configuration.
  ///
  /// - Throws: `BeeHive.Problem` if a limit is no number from 1 to 2147483647.
  public init(_ configuration: Configuration) throws(BeeHive.Problem) {
    for (name, limit) in Self.settings {
      let key = Configuration.Key<NumberFrom1To2147483647>("http.\(name)")
      guard configuration.layer(of: key.name) != nil else { continue }
      self[keyPath: limit] = try configuration.value(key).number
    }
  }

  /// A limit. The error about an invalid setting names this type.
  private struct NumberFrom1To2147483647: ConfigurationConvertible {
    var number: Int

    init?(configuration value: ConfigurationValue) {
      guard let number = Int(configuration: value), (1...Int(Int32.max)).contains(number) else {
        return nil
      }
      self.number = number
    }
  }

  private static var settings: [(String, WritableKeyPath<Self, Int>)] {
    [
      ("head-seconds", \.headSeconds), ("head-bytes", \.headBytes),
      ("body-seconds", \.bodySeconds), ("body-bytes", \.bodyBytes),
      ("send-seconds", \.sendSeconds), ("idle-seconds", \.idleSeconds),
      ("close-seconds", \.closeSeconds),
      ("connections", \.connections), ("end-seconds", \.endSeconds),
    ]
  }
}
