/// How long an instance of a service lives.
///
///     try hive.register((any Greeter).self, scope: .singleton) { _ in English() }
///     let first: any Greeter = try hive.service()
///     let second: any Greeter = try hive.service()  // the same instance
public enum Scope: String, Codable, Hashable, Sendable, CaseIterable {
  /// A new instance for each request.
  case transient
  /// One instance, made at the first request, until the service is removed or the Hive stops.
  case singleton
  /// One instance as long as somebody else holds it; the implementation is a class. In C each lookup counts
  /// as one who holds it, until `destroy`.
  case weak
  /// One instance for each `ServiceScope` that asks.
  case scoped
}
