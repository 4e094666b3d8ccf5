internal import CBeeHive

/// What the macros' expansions are made of. For generated code; nothing to write by hand.
public enum AnnotatedEntry {
  #if _pointerBitWidth(_64)
    /// A record of `BeehiveRecords`: size, version, kind, flags, text offset, accessor, context, text.
    ///
    /// The same bytes as `beehive_record_head` with its text, in a shape that is a constant in Swift.
    public typealias Record<let textSize: Int> = (
      UInt32, UInt16, UInt16, UInt32, UInt32, Accessor, UInt, InlineArray<textSize, UInt8>
    )
  #else
    #error("pointers of 4 bytes need a filler behind them, which these macros do not write yet")
  #endif

  /// `beehive_accessor`: how a host asks a record for an instance.
  public typealias Accessor =
    @convention(c) (
      _ out: UnsafeMutableRawPointer?, _ expectedType: UnsafeRawPointer?,
      _ context: UnsafeRawPointer?, _ request: UInt
    ) -> Bool

  /// Answers a host's request, as the record layout says.
  ///
  /// Called without `unsafe`, which swift-syntax before 601 does not know.
  ///
  /// - Parameters:
  ///   - request: `BEEHIVE_REQUEST_MAKE` or `BEEHIVE_REQUEST_DESCRIBE`.
  ///   - out: Uninitialised storage of `Service`, or space for an `Any.Type`: where the answer is written.
  ///   - expectedType: Points to the `Any.Type` that the host expects; a `Service` of the same name from
  ///     another copy of its module is refused.
  ///   - make: Makes the instance.
  /// - Returns: Whether `out` was written; false if the host asks for something else.
  @safe public static func answer<Service>(
    _ request: UInt, _ out: UnsafeMutableRawPointer?, _ expectedType: UnsafeRawPointer?,
    _ make: () -> Service
  ) -> Bool {
    // Sound: both pointers come from a host that keeps the contract in CSupport/RecordLayout.md.
    guard let out = unsafe out else { return false }
    switch request {
    case UInt(BEEHIVE_REQUEST_MAKE):
      guard let expectedType = unsafe expectedType?.load(as: Any.Type.self),
        expectedType == Service.self
      else { return false }
      unsafe out.initializeMemory(as: Service.self, to: make())
      return true
    case UInt(BEEHIVE_REQUEST_DESCRIBE):
      unsafe out.storeBytes(of: Service.self, as: Any.Type.self)
      return true
    default: return false
    }
  }
}
