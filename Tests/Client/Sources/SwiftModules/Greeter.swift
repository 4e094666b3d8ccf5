/// The service that the client asks for.
public protocol Greeter: Sendable {
  /// A greeting.
  var greeting: String { get }
}

struct Neighbour: Greeter { let greeting = "hello from a release build" }

@section("BeehiveRecords") @used
nonisolated private let record:
  (
    size: UInt32, version: UInt16, kind: UInt16, flags: UInt32, textOffset: UInt32,
    accessor:
      @convention(c) (
        UnsafeMutableRawPointer?, UnsafeRawPointer?, UnsafeRawPointer?, UInt
      ) -> Bool,
    context: UInt, text: InlineArray<16, UInt8>
  ) = (
    48, 1, 2, 0, 32,
    { out, expectedType, _, request in
      guard let out else { return false }
      switch request {
      case 0:
        guard let expectedType, expectedType.load(as: Any.Type.self) == (any Greeter).self
        else { return false }
        out.initializeMemory(as: (any Greeter).self, to: Neighbour())
        return true
      case 1:
        out.initializeMemory(as: Any.Type.self, to: (any Greeter).self)
        return true
      default: return false
      }
    },
    0,
    [
      71, 114, 101, 101, 116, 101, 114, 0,  // Greeter
      0, 0, 0, 0, 0, 0, 0, 0,
    ]
  )
