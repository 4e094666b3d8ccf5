internal import Threads

/// A context of its own for scoped services: one request, one document, one session.
///
/// Each scoped service is made once for a scope and lives as long as the scope does; all others are
/// those of the Hive. May be used from any thread.
public final class ServiceScope: Sendable {
  private let hive: Hive
  private let cells = Lock<[UInt64: Singleton]>([:])

  fileprivate init(hive: Hive) { self.hive = hive }

  /// The service of this type, by name where one is given.
  public func service<Service: Sendable>(
    _ type: Service.Type = Service.self, name: String? = nil
  ) throws(ServiceError) -> Service {
    try hive.resolve(Resolution(type: type, name: name, scope: self, hive: hive))
  }

  /// Where the instance of a scoped entry is kept.
  func cell(of entry: RegisteredEntry) -> Singleton {
    cells.withLock { cells in
      if let cell = cells[entry.order] { return cell }
      let cell = Singleton()
      cells[entry.order] = cell
      return cell
    }
  }
}

extension Hive {
  /// A new context for scoped services.
  public func makeScope() -> ServiceScope { ServiceScope(hive: self) }
}
