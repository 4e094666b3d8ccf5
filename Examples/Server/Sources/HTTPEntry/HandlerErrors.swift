internal import BeeHiveRouting
internal import Synchronization

/// Tells the router's refusal of a client's call from the refusal of a call that the handler made.
///
/// A handler may let through what one of its own calls threw. That is a failure of the handler, and the
/// parameters that it names are none of the client's.
final class HandlerErrors: Sendable {
  @TaskLocal private static var current: HandlerErrors?

  private struct State {
    /// The number of the client's call, which comes first.
    var clientsCall: UInt64?
    var errors: Set<RoutingError> = []
  }

  private let state = Mutex(State())

  /// Notes how the calls of handlers end, for the requests in which they are made.
  static func observe(_ router: Router) -> Handle {
    router.calls.observe { notice in
      current?.state.withLock { state in
        switch notice {
        case .began(let call): state.clientsCall = state.clientsCall ?? call.number
        case .ended(let call, let error as RoutingError) where call.number != state.clientsCall:
          state.errors.insert(error)
        case .ended, .ruled: break
        }
      }
    }
  }

  /// Calls a URL from outside.
  ///
  /// - Throws: ``RoutingError`` if the router refused, ``Failure`` if the handler threw.
  static func open(_ url: String, _ router: Router) async throws -> any Sendable {
    let own = HandlerErrors()
    do {
      return try await $current.withValue(own) { try await router.open(url, origin: .remote) }
    } catch let error as RoutingError where !own.state.withLock({ $0.errors.contains(error) }) {
      throw error
    } catch {
      throw Failure(cause: error)
    }
  }

  /// What a handler threw.
  struct Failure: Error {
    var cause: any Error
  }
}
