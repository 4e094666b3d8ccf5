internal import Registration

extension Hive {
  /// Puts a service in front of every other of its type until the override is restored: for tests.
  ///
  /// Overrides nest; the latest answers. The override restores itself when its last reference goes.
  public func override<Service: Sendable>(
    _ type: Service.Type, name: String? = nil, with instance: Service, file: String = #fileID,
    line: UInt = #line
  ) -> Override {
    var attributes = Attributes()
    attributes.name = name
    let entry = RegisteredEntry(
      order: Self.nextOrder(), kind: .service, name: ServiceNames.of(type).qualified,
      implementation: nil, attributes: attributes, source: .code(file: file, line: line),
      image: nil, scope: .singleton, isC: false, isOverride: true,
      progress: .bound(.closure(FactoryClosure { _ in instance })))
    add([entry])
    return Override(entry: entry, hive: self)
  }

  /// Overrides a service while `body` runs.
  public func overriding<Service: Sendable, Result>(
    _ type: Service.Type, name: String? = nil, with instance: Service, file: String = #fileID,
    line: UInt = #line, _ body: () throws -> Result
  ) rethrows -> Result {
    let override = override(type, name: name, with: instance, file: file, line: line)
    defer { override.restore() }
    return try body()
  }
}

/// A service that stands in front of the others of its type.
public final class Override: Sendable {
  private let entry: RegisteredEntry
  private let hive: Hive

  fileprivate init(entry: RegisteredEntry, hive: Hive) {
    self.entry = entry
    self.hive = hive
  }

  /// Takes the service away again; later calls do nothing.
  public func restore() {
    hive.withdraw { $0 === entry }
  }

  deinit { restore() }
}
