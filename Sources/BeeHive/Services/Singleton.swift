/// The one instance of a singleton: made once, whoever asks first and however many ask at once.
///
/// The factory runs on the thread that came first, with no lock held; the others wait for it. If it
/// fails they get its error, and the next request tries again.
final class Singleton: Sendable {
  private enum State {
    case empty
    case building
    case failed(ServiceError)
    case ready(CachedService)
  }

  /// What a request finds.
  private enum Turn {
    case mine
    case made(CachedService)
    case othersTurn
  }

  private let state = Lock(State.empty)

  /// The instance, if it has been made.
  var instance: CachedService? {
    state.withLock { if case .ready(let service) = $0 { service } else { nil } }
  }

  /// The instance; `make` is called if there is none, and may answer nil: it makes another type.
  func get(
    for entry: RegisteredEntry, _ make: () throws(ServiceError) -> CachedService?
  ) throws(ServiceError) -> CachedService? {
    while true {
      let turn = state.withLock { state -> Turn in
        switch state {
        case .ready(let service): return .made(service)
        case .building: return .othersTurn
        case .empty, .failed:
          state = .building
          return .mine
        }
      }
      switch turn {
      case .made(let service): return service
      case .mine: return try build(for: entry, make)
      case .othersTurn:
        if let service = try wait(for: entry) { return service }
      }
    }
  }

  private func build(
    for entry: RegisteredEntry, _ make: () throws(ServiceError) -> CachedService?
  ) throws(ServiceError) -> CachedService? {
    defer { state.broadcast() }
    do throws(ServiceError) {
      let service = try Creation.make(entry, make)
      state.withLock { $0 = service.map(State.ready) ?? .empty }
      return service
    } catch {
      state.withLock { $0 = .failed(error) }
      throw error
    }
  }

  /// Waits for the thread that is building: its instance, its error, or nil to try again.
  private func wait(for entry: RegisteredEntry) throws(ServiceError) -> CachedService? {
    if let path = Creation.beginWaiting(for: entry) { throw ServiceError.cycle(path) }
    defer { Creation.endWaiting() }
    let result = state.wait { state -> Result<CachedService?, ServiceError>? in
      switch state {
      case .building: return nil
      case .ready(let service): return .success(service)
      case .failed(let error): return .failure(error)
      case .empty: return .success(nil)
      }
    }
    return try result.get()
  }
}
