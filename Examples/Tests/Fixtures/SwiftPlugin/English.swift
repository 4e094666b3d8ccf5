internal import Glibc
internal import Synchronization
internal import TestContracts

/// A singleton that says how often it was made.
final class English: Greeter {
  private static let made = Atomic<Int>(0)

  init() {
    // Long enough for a second thread to arrive while the first is here.
    usleep(20_000)
    Self.made.wrappingAdd(1, ordering: .relaxed)
  }

  func greet() -> String { "hello, made \(Self.made.load(ordering: .relaxed))" }

  // What the macro of BeeHiveAnnotations writes, by hand: 32 bytes of head, then
  // "Greeter" NUL "English" NUL "scope=singleton" NUL.
  @section("BeehiveRecords") @used nonisolated private static let record: Record = (
    64, 1, 2, 0, 32,
    { out, expected, _, request in
      unsafe English.answer(out, expected, request)
    }, 0,
    [
      71, 114, 101, 101, 116, 101, 114, 0, 69, 110, 103, 108, 105, 115, 104, 0,
      115, 99, 111, 112, 101, 61, 115, 105, 110, 103, 108, 101, 116, 111, 110, 0,
    ]
  )

  private static func answer(
    _ out: UnsafeMutableRawPointer?, _ expected: UnsafeRawPointer?, _ request: UInt
  ) -> Bool {
    switch request {
    case 0:
      // Sound: the accessor's contract says that `expected` leads to an `Any.Type`, and that `out` is
      // storage for a value of it.
      guard let out = unsafe out,
        let type = unsafe expected?.assumingMemoryBound(to: Any.Type.self).pointee,
        type == (any Greeter).self
      else { return false }
      unsafe out.initializeMemory(as: (any Greeter).self, to: English())
      return true
    case 1:
      guard let out = unsafe out else { return false }
      unsafe out.initializeMemory(as: Any.Type.self, to: (any Greeter).self)
      return true
    default: return false
    }
  }
}

private typealias Record = (
  UInt32, UInt16, UInt16, UInt32, UInt32,
  @convention(c) (UnsafeMutableRawPointer?, UnsafeRawPointer?, UnsafeRawPointer?, UInt) -> Bool,
  UInt, InlineArray<32, UInt8>
)
