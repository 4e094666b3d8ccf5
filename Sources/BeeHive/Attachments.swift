internal import Threads

/// What layers above keep with a Hive: one object of each type, made when it is first asked for.
final class Attachments: Sendable {
  private let objects = Lock<[ObjectIdentifier: any AnyObject & Sendable]>([:])

  func object<Object: AnyObject & Sendable>(_ make: () -> Object) -> Object {
    objects.withLock { objects in
      let key = ObjectIdentifier(Object.self)
      if let object = objects[key] as? Object { return object }
      let object = make()
      objects[key] = object
      return object
    }
  }
}

extension Hive {
  /// The one `Object` of this Hive. `make` calls nothing that may block.
  package func attachment<Object: AnyObject & Sendable>(_ make: (Hive) -> Object) -> Object {
    attachments.object { make(self) }
  }
}
