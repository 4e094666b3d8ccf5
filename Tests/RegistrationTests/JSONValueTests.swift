import Foundation
import Registration
import Testing

@Suite("Values of JSON")
struct JSONValueTests {
  @Test("are written as other readers read them")
  func text() throws {
    let value = JSONValue.object([
      ("a\"", .array([.null, .boolean(true), .integer(.min), .string("\\\n\u{7}ä")])),
      ("b", .object([])), ("c", .array([])),
    ])
    #expect(!value.text.contains("\n"))
    let read = try JSONSerialization.jsonObject(with: Data(value.text.utf8)) as? NSDictionary
    let expected: NSDictionary = [
      "a\"": [NSNull(), true, Int64.min, "\\\n\u{7}ä"] as [Any], "b": [String: Any](),
      "c": [Any](),
    ]
    #expect(read == expected)
  }
}
