import Contracts

/// Greets in English. The record below declares it; nothing else knows of it.
struct EnglishGreeter: Greeter {
  func greeting(for customer: String) -> String { "Good morning, \(customer)." }
}

/// The entry, byte by byte as CSupport/RecordLayout.md says, and as a macro would write it.
///
/// `nonisolated`, because the accessor runs on whichever thread asks for a greeter.
@section("BeehiveRecords") @used
nonisolated private let record:
  (
    size: UInt32, version: UInt16, kind: UInt16, flags: UInt32, textOffset: UInt32,
    accessor:
      @convention(c) (
        UnsafeMutableRawPointer?, UnsafeRawPointer?, UnsafeRawPointer?, UInt
      ) -> Bool,
    context: UInt, text: InlineArray<40, UInt8>
  ) = (
    72, 1, 2, 0, 32,
    { out, expectedType, _, request in
      guard let out = unsafe out else { return false }
      switch request {
      case 0:  // Make one, but only for somebody who means this very protocol.
        guard let expectedType = unsafe expectedType,
          unsafe expectedType.load(as: Any.Type.self) == (any Greeter).self
        else { return false }
        unsafe out.initializeMemory(as: (any Greeter).self, to: EnglishGreeter())
        return true
      case 1:  // Say what is made, without making one.
        unsafe out.initializeMemory(as: Any.Type.self, to: (any Greeter).self)
        return true
      default: return false
      }
    },
    0,
    [
      71, 114, 101, 101, 116, 101, 114, 0,  // Greeter
      69, 110, 103, 108, 105, 115, 104, 71, 114, 101, 101, 116, 101, 114, 0,  // EnglishGreeter
      115, 99, 111, 112, 101, 61,  // scope=
      115, 105, 110, 103, 108, 101, 116, 111, 110, 0,  // singleton
      0,  // up to a multiple of 8
    ]
  )
