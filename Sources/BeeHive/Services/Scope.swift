/// How long an instance of a service lives.
public enum Scope: String, Hashable, Sendable {
  /// A new instance for each request.
  case transient
  /// One instance, made at the first request, until the service is removed or the Hive stops.
  case singleton
}
