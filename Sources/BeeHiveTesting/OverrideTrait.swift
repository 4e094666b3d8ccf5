public import BeeHive
public import Testing

/// Overrides a service for the task of each test: tests that run meanwhile get their own.
public struct OverrideTrait: TestTrait, SuiteTrait, TestScoping {
  fileprivate let scope: @Sendable (_ body: @Sendable () async throws -> Void) async throws -> Void

  /// Each test of a suite has the override to itself.
  public var isRecursive: Bool { true }

  /// Runs a test with the override.
  public func provideScope(
    for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
  ) async throws { try await scope(function) }
}

extension Trait where Self == OverrideTrait {
  /// Overrides a service while a test runs, for its task and those that it starts.
  ///
  ///     @Test(.overriding((any Mail).self, with: MockMail())) func sends() { … }
  ///
  /// Singletons that the test asks for are made for it alone.
  ///
  /// - Parameters:
  ///   - type: What the service is asked for as.
  ///   - name: The given name of the one to replace; nil for the one that is asked for without a name.
  ///   - hive: Whose service it is.
  ///   - instance: Made anew for each test.
  /// - Returns: The trait, for a test or a suite.
  public static func overriding<Service: Sendable>(
    _ type: Service.Type, name: String? = nil,
    in hive: @autoclosure @escaping @Sendable () -> Hive = .process,
    with instance: @autoclosure @escaping @Sendable () -> Service
  ) -> Self {
    OverrideTrait { body in
      try await hive().overridingInTask(type, name: name, with: instance()) { try await body() }
    }
  }
}
