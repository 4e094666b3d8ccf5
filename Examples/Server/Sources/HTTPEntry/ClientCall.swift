internal import BeeHiveRouting
internal import HTTPTypes
internal import Synchronization

/// The call of a request while it runs, with the request's method and context.
///
/// Its handler may make calls of its own. They share the context, but no method judges them. If the handler lets their
/// errors through, the handler has failed: the parameters in these errors are not the client's.
final class ClientCall: Sendable {
  @TaskLocal static var current: ClientCall?

  private struct State {
    /// The number of the client's call, which comes first.
    var number: UInt64?
    /// The router's refusals of the handler's calls.
    var refusals: Set<RoutingError> = []
  }

  let method: HTTPRequest.Method
  /// The values that the host's mapping makes of the header fields.
  let context: Arguments
  private let state = Mutex(State())

  init(_ method: HTTPRequest.Method, context: Arguments) {
    (self.method, self.context) = (method, context)
  }

  /// Notes which call is the client's, and how the calls of handlers end.
  static func observe(_ router: Router) -> Handle {
    router.calls.observe { notice in
      current?.state.withLock { state in
        switch notice {
        case .began(let call): state.number = state.number ?? call.number
        case .ended(let call, let error as RoutingError) where call.number != state.number:
          state.refusals.insert(error)
        case .ended, .ruled: break
        }
      }
    }
  }

  /// Returns whether a call is this one, rather than one of its handler's.
  func isMade(by call: Call) -> Bool { state.withLock { $0.number == call.number } }

  /// Calls a URL from outside.
  ///
  /// - Throws: ``RoutingError`` if the router refused, ``Problem`` if the method did, ``HandlerFailure`` if the
  ///   handler threw.
  func open(_ url: String, _ router: Router) async throws -> any Sendable {
    do {
      return try await Self.$current.withValue(self) {
        try await router.open(url, origin: .remote)
      }
    } catch let error as RoutingError where !state.withLock({ $0.refusals.contains(error) }) {
      throw error
    } catch let problem as Problem {
      throw problem
    } catch {
      throw HandlerFailure(cause: error)
    }
  }

  /// The error that a handler threw.
  struct HandlerFailure: Error {
    var cause: any Error
  }
}
