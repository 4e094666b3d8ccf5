internal import BinaryImage
internal import CBeeHive

// What C asks of the Hive that calls it, and of the process's by `beehive/runtime.h`.

extension Hive {
  /// `beehive_service_named`, of any Hive.
  func cService(
    _ service: UnsafePointer<CChar>?, _ name: UnsafePointer<CChar>?, _ size: Int,
    in scope: ServiceScope? = nil
  ) -> UnsafeRawPointer? {
    let address = CError.reported {
      unsafe try CServiceLookup(
        service.text ?? "", name: name.text, as: UnsafeRawPointer.self, size: size,
        scope: scope, hive: self
      ).address()
    }
    return unsafe address.flatMap { unsafe UnsafeRawPointer(bitPattern: $0.rawValue) }
  }

  /// `beehive_destroy`, of any Hive.
  func cDestroy(
    _ service: UnsafePointer<CChar>?, _ name: UnsafePointer<CChar>?, _ object: UnsafeRawPointer?
  ) -> Bool {
    CError.reported {
      let isDone = unsafe object.map { object in
        unsafe destroy(
          RuntimeAddress(rawValue: UInt(bitPattern: object)), of: service.text ?? "",
          name: name.text)
      }
      if isDone == true { return true }
      throw unsafe CError(
        "service \(service.text ?? ""): no factory of this name has made it, or it is kept until its "
          + "scope or the Hive ends")
    } ?? false
  }
}

extension beehive_context {
  /// Fills what leads back to a Hive, which the caller keeps alive as long as the context is valid.
  mutating func lead(to hive: Hive) {
    unsafe self.hive = unsafe Unmanaged.passUnretained(hive).toOpaque()
    unsafe service = { hive, service, name, size in
      unsafe Self.hive(hive)?.cService(service, name, size)
    }
    unsafe destroy = { hive, service, name, object in
      unsafe Self.hive(hive)?.cDestroy(service, name, object) ?? false
    }
  }

  private static func hive(_ pointer: UnsafeMutableRawPointer?) -> Hive? {
    unsafe pointer.map { unsafe Unmanaged<Hive>.fromOpaque($0).takeUnretainedValue() }
  }
}
