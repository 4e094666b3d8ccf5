import BeeHiveAnnotations
import Testing

/// The answers of an accessor that the macros wrote, to any request.
@Suite struct AnnotatedEntryTests {
  private protocol Greeter {
    var greeting: String { get }
  }

  private struct English: Greeter {
    var greeting: String { "Hello" }
  }

  private protocol Stranger {}

  /// Requests a value of the type that a host expects. A false result leaves `out` untouched.
  private static func ask(_ request: UInt, expecting type: Any.Type?, out: UnsafeMutableRawPointer?)
    -> Bool
  {
    let make: () -> any Greeter = { English() }
    guard var type else { return AnnotatedEntry.answer(request, out, nil, make) }
    return unsafe withUnsafePointer(to: &type) { type in
      AnnotatedEntry.answer(request, out, type, make)
    }
  }

  @Test func theTypeThatIsMadeIsMade() {
    unsafe withUnsafeTemporaryAllocation(of: (any Greeter).self, capacity: 1) { storage in
      let place = UnsafeMutableRawPointer(storage.baseAddress)
      guard unsafe Self.ask(0, expecting: (any Greeter).self, out: place) else {
        Issue.record("refused")
        return
      }
      #expect(unsafe storage.moveElement(from: 0).greeting == "Hello")
    }
  }

  @Test func theTypeThatIsMadeIsNamed() {
    var type: Any.Type = Int.self
    let isAnswered = unsafe withUnsafeMutableBytes(of: &type) {
      unsafe Self.ask(1, expecting: nil, out: $0.baseAddress)
    }
    #expect(isAnswered)
    let isGreeter = type == (any Greeter).self
    #expect(isGreeter)
  }

  static let refused: [(UInt, Any.Type?, hasPlace: Bool)] = [
    (0, (any Stranger).self, true),
    (0, English.self, true),  // what it is, not what it serves as
    (0, nil, true),
    (0, (any Greeter).self, false),
    (1, (any Greeter).self, false),
    (2, (any Greeter).self, true),
    (.max, (any Greeter).self, true),
  ]

  @Test(arguments: refused.indices)
  func everythingElseIsRefusedAndNothingIsWritten(index: Int) {
    let (request, type, hasPlace) = Self.refused[index]
    var words: [UInt] = Array(repeating: 0x5a5a, count: 8)
    let isAnswered = unsafe words.withUnsafeMutableBytes {
      unsafe Self.ask(request, expecting: type, out: hasPlace ? $0.baseAddress : nil)
    }
    #expect(!isAnswered)
    #expect(words.allSatisfy { $0 == 0x5a5a })
  }
}
