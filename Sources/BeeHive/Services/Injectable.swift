/// A type that the Hive can make when all it knows of it is its name.
///
/// `BeeHiveService(Shop.HomeService, Shop.HomeViewModel)` says nothing of how a `HomeViewModel` is
/// made, so the type says it itself. Macros and factories need no conformance.
public protocol Injectable: Sendable {
  /// Makes an instance.
  ///
  /// Called without any lock held, on the thread that asked for the service.
  ///
  /// - Parameter hive: Where it finds the other services that it needs.
  /// - Throws: Any error: the lookup throws a ``ServiceError`` whose `underlying` it is.
  init(hive: Hive) throws

  /// The version of this protocol that a type was compiled against. Types leave it to its default.
  static var _contract: Void { get }
}
