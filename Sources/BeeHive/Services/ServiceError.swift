/// The error of a lookup that gets no service.
///
///     do throws(ServiceError) {
///       let greeter: any Greeter = try hive.service()
///       greeter.greet()
///     } catch {
///       if error.code == .notFound { print(error) }  // what is missing, and what to do
///     }
public struct ServiceError: Error, Sendable {
  /// The cause.
  public enum Code: String, Hashable, Sendable {
    /// Nothing that is loaded provides it.
    case notFound = "not-found"
    /// Several entries provide it equally well.
    case ambiguous
    /// The only entries that name it cannot serve; the message has the reason of each.
    case unusable
    /// Making it needs itself; the message has the path.
    case cycle
    /// The factory or the initialiser threw; `underlying` is its error.
    case creationFailed = "creation-failed"
    /// The provider's table is smaller than the structure asked for: it was built against an older header.
    case tooSmall = "too-small"
  }

  /// The cause.
  public var code: Code
  /// The service asked for.
  public var service: String
  /// One sentence for a person: what was found and what to do.
  public var message: String
  /// The entries it concerns.
  package var sources: [Source]
  /// The error of the factory, for `creationFailed`.
  package var underlying: (any Error)?
  /// Whether asking again may help.
  var isGone = false
  /// A suggestion of what was meant. Looked for when the error is printed, because many errors never are.
  var hint: @Sendable () -> String = { "" }

  /// Describes a failure.
  ///
  /// - Parameters:
  ///   - code: The cause.
  ///   - service: The service asked for, as reports name it.
  ///   - message: One sentence: what was found and what to do. Control characters are escaped.
  ///   - sources: The entries it concerns.
  ///   - underlying: The error of the factory, for `creationFailed`.
  package init(
    _ code: Code, service: String, message: String, sources: [Source] = [],
    underlying: (any Error)? = nil
  ) {
    self.code = code
    self.service = service
    self.message = message.escaped
    self.sources = sources
    self.underlying = underlying
  }
}

extension ServiceError {
  /// Describes what is wrong with one entry.
  init(
    _ code: Code, _ entry: RegisteredEntry, _ message: String, underlying: (any Error)? = nil
  ) {
    self.init(
      code, service: entry.name, message: message, sources: [entry.source], underlying: underlying)
  }

  /// Returns the error for a scoped service without a scope, perhaps needed by something that outlives every scope.
  static func unscoped(_ entry: RegisteredEntry) -> ServiceError {
    ServiceError(
      .unusable, entry,
      "\(entry.source) has scope=scoped; ask a scope: "
        + "\(entry.isC ? "beehive_scope_service(…), in Swift " : "")hive.makeScope().service(…); no "
        + "singleton can need it, since that outlives every scope")
  }

  /// Wraps the error of a factory with its entry; returns a cycle as it is.
  static func thrown(_ error: any Error, by entry: RegisteredEntry) -> ServiceError {
    if let error = error as? ServiceError, error.code == .cycle { return error }
    return ServiceError(
      .creationFailed, entry, "\(entry.source) failed to make it: \(error)", underlying: error)
  }

  /// Returns the error for an entry that was removed, or whose Hive stopped, while it was made. Asking again may help.
  static func gone(_ entry: RegisteredEntry) -> ServiceError {
    var error = ServiceError(
      .unusable, entry,
      "\(entry.source) was removed, or the Hive stopped, each time that it was made; stop the Hive from elsewhere "
        + "than its factory")
    error.isGone = true
    return error
  }

  /// Returns the error for a scoped service of a scope that has ended.
  static func ended(_ entry: RegisteredEntry) -> ServiceError {
    ServiceError(
      .unusable, entry, "\(entry.source) has scope=scoped, and the scope that was asked has ended")
  }
}

extension ServiceError: CustomStringConvertible {
  /// `service Greeter: nothing that is loaded provides it; …`, with names that are nearly the same.
  public var description: String { "service \(service): \(message)\(hint())".escaped }
}
