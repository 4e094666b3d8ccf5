// Shared by tasks: turns, and values that many of them follow.

/// Lets tasks do something one after the other.
///
/// A task that has its turn, and what it begins meanwhile, goes on at once: it would wait for itself.
package final class Turns: Sendable {
  @TaskLocal private static var taken: Set<ObjectIdentifier> = []
  /// Those who wait; nil if nobody has a turn.
  private let waiting = Lock<[CheckedContinuation<Void, Never>]?>(nil)

  /// Nobody has a turn.
  package init() {}

  /// Waits for its turn, and does what `body` says.
  package func take<Success, Failure: Error>(
    _ body: () async throws(Failure) -> Success
  ) async throws(Failure) -> Success {
    let own = ObjectIdentifier(self)
    if Self.taken.contains(own) { return try await body() }
    await withCheckedContinuation { turn in
      let isFree = waiting.withLock { waiting in
        defer { waiting = waiting.map { $0 + [turn] } ?? [] }
        return waiting == nil
      }
      if isFree { turn.resume() }
    }
    defer {
      let next = waiting.withLock { waiting -> CheckedContinuation<Void, Never>? in
        let next = waiting?.first
        waiting = next == nil ? nil : waiting.map { Array($0.dropFirst()) }
        return next
      }
      next?.resume()
    }
    let outcome = await Self.$taken.withValue(Self.taken.union([own])) {
      () async -> Result<Success, Failure> in
      do throws(Failure) { return .success(try await body()) } catch { return .failure(error) }
    }
    return try outcome.get()
  }
}

/// Values that any number of tasks follow, each from when it begins. The streams end with it.
package final class Broadcast<Value: Sendable>: Sendable {
  private let listeners = Lock<[Int: AsyncStream<Value>.Continuation]>([:])
  private let count = Lock(0)

  /// Nobody follows.
  package init() {}

  deinit { for listener in listeners.withLock({ $0.values }) { listener.finish() } }

  /// Whether somebody follows.
  package var isHeard: Bool { listeners.withLock { !$0.isEmpty } }

  /// Returns the values from now on. A reader who does not keep up gets the last `most`.
  package func stream(most: Int) -> AsyncStream<Value> {
    let (stream, listener) = AsyncStream.makeStream(
      of: Value.self, bufferingPolicy: .bufferingNewest(most))
    let number = count.withLock { count in
      count += 1
      return count
    }
    listeners.withLock { $0[number] = listener }
    listener.onTermination = { [weak self] _ in
      _ = self?.listeners.withLock { $0.removeValue(forKey: number) }
    }
    return stream
  }

  /// Gives all who follow a value.
  package func send(_ value: Value) {
    for listener in listeners.withLock({ $0.values }) { listener.yield(value) }
  }
}
