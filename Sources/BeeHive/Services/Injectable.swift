/// A type that the Hive can make when all it knows of it is its name.
///
/// `BeeHiveService(Shop.HomeService, Shop.HomeViewModel)` says nothing of how a `HomeViewModel` is
/// made, so the type says it itself. Macros and factories need no conformance.
public protocol Injectable: Sendable {
  /// Makes an instance; other services it needs come from `hive`.
  ///
  /// Called without any lock held, on the thread that asked for the service.
  init(hive: Hive) throws
}
