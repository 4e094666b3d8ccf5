import Testing

@testable import BeeHive

/// Expects a `ServiceError` with a code, and with texts in its description.
func expectServiceError(
  _ code: ServiceError.Code? = nil, saying texts: String...,
  at location: SourceLocation = #_sourceLocation, in body: () throws -> some Any
) {
  let error = #expect(throws: ServiceError.self, sourceLocation: location) { _ = try body() }
  #expect(code == nil || error?.code == code, sourceLocation: location)
  expect(error, says: texts, at: location)
}

/// Expects a `Problem` with a code, and with texts in its description.
func expectProblem(
  _ code: Problem.Code? = nil, saying texts: String...,
  at location: SourceLocation = #_sourceLocation, in body: () throws -> some Any
) {
  let error = #expect(throws: Problem.self, sourceLocation: location) { _ = try body() }
  #expect(code == nil || error?.code == code, sourceLocation: location)
  expect(error, says: texts, at: location)
}

private func expect(_ error: (any Error)?, says texts: [String], at location: SourceLocation) {
  let said = error.map { "\($0)" } ?? ""
  for text in texts { #expect(said.contains(text), "\(said)", sourceLocation: location) }
}

/// An object whose identity counts.
final class Thing: Sendable {}

extension Result {
  var error: Failure? { if case .failure(let error) = self { error } else { nil } }
  var isSuccess: Bool { error == nil }
}

extension Hive {
  /// Registers a singleton that is made asynchronously.
  func loading<Service: Sendable>(
    _ type: Service.Type, name: String? = nil,
    _ load: @escaping @Sendable (Hive) async throws -> Service
  ) throws {
    try register(type, name: name, scope: .singleton, loading: load)
  }

  /// Registers a service as a file declares it.
  func declare(
    _ service: String, by implementation: String, name: String? = nil, scope: Scope = .transient,
    priority: Int = 0, in file: String = "hive.json"
  ) throws {
    try register(
      Registrations(services: [
        .init(service: service, impl: implementation, name: name, scope: scope, priority: priority)
      ]), file: file)
  }

  /// Registers modules as a file declares them.
  func declare(modules names: String..., in file: String = "hive.json") throws {
    try register(Registrations(moduleClasses: names.map { .init(moduleClass: $0) }), file: file)
  }
}
