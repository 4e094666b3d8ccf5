internal import Threads

extension Hive {
  /// What layers above keep with the Hive: the one `Object`, made when it is first asked for. `make` calls
  /// nothing that may block.
  package func attachment<Object: AnyObject & Sendable>(_ make: (Hive) -> Object) -> Object {
    attachments.withLock { objects in
      let key = ObjectIdentifier(Object.self)
      if let object = objects[key] as? Object { return object }
      let object = make(self)
      objects[key] = object
      return object
    }
  }
}
