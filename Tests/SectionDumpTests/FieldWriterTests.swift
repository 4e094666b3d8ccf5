import BinaryImage
import Foundation
import Testing

@testable import section_dump

@Suite("JSON is written as it is read")
struct FieldWriterTests {
  /// Returns the text that `body` writes.
  private func written(_ body: (inout FieldWriter) -> Void) throws -> String {
    var bytes: [UInt8] = []
    let sink = ByteSink { more in
      bytes += more
      return 0
    }
    var json = FieldWriter(sink)
    body(&json)
    sink.flush()
    return try #require(String(validating: bytes, as: UTF8.self))
  }

  /// Texts of plain letters only, and texts with a character to escape, at every position.
  static let texts =
    [
      "", "a", "BeehiveRecords", String(repeating: "x", count: 100_000), "né", "\u{202e}",
      "\u{1F41D}",
    ]
    + (0...0x7f).flatMap { code in
      let scalar = String(Unicode.Scalar(UInt8(code)))
      return [scalar, scalar + "tail", "head" + scalar]
    }

  @Test("Every text comes back, and as a key")
  func texts() throws {
    let document = try written { json in
      json.array { json in
        for text in Self.texts { json.string(text) }
        json.object { json in
          for text in Self.texts {
            json.key(text: text)
            json.boolean(true)
          }
        }
      }
    }
    let read = try #require(JSONSerialization.jsonObject(with: Data(document.utf8)) as? [Any])
    #expect(read.dropLast().map { $0 as? String } == Self.texts)
    #expect((read.last as? [String: Bool]).map { Set($0.keys) } == Set(Self.texts))
    #expect(document.unicodeScalars.allSatisfy { !$0.isUnprintable })
  }

  @Test("Commas stand between the elements of each object and array, and nowhere else")
  func commas() throws {
    let document = try written { json in
      for number in 1...2 {
        json.object { json in
          json.array(key: "empty") { _ in }
          json.array(key: "nested") { json in
            json.array { json in json.number(number) }
            json.object { json in
              json.string(key: "null", nil)
              json.number(key: "none", nil)
            }
            json.object { _ in }
            json.string("last")
          }
          json.hexadecimal(key: "address", 0x10)
        }
        json.lineBreak()
      }
    }
    let lines = (1...2).map {
      "{\"empty\":[],\"nested\":[[\($0)],{\"null\":null,\"none\":null},{},\"last\"],"
        + "\"address\":\"0x10\"}\n"
    }
    #expect(document == lines.joined())
  }
}
