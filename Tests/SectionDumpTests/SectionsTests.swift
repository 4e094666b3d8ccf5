import Foundation
import TestSupport
import Testing

@Suite("section-dump sections, hex and strings")
struct SectionsTests {
  @Test("The section table is the one that readelf prints")
  func table() throws {
    let name = try Fixtures.annotatedLibrary("table.so")
    let sections = try Tool.sections(["sections", name])

    // `[Nr] Name Type Address Off Size ES Flg Lk Inf Al`, the null section first.
    let lines = try Fixtures.tool("readelf", ["-SW", name]).split(separator: "\n")
      .filter { $0.contains("] .") || $0.contains("] Beehive") }
    #expect(lines.count == sections.count)
    #expect(sections.map { $0["index"] as? Int } == Array(1...sections.count))
    for (line, section) in zip(lines, sections) {
      let words = try #require(line.split(separator: "]").last).split(separator: " ")
      #expect(section["name"] as? String == String(words[0]))
      #expect(section["address"] as? String == "0x" + trimmed(words[2]))
      #expect(section["size"] as? Int == Int(words[4], radix: 16))
      #expect(section["segment"] is NSNull)
      // readelf knows `R` only if the file names GNU as its system; elsewhere it prints `o`.
      let flags = words.count > 9 ? words[6].replacingOccurrences(of: "o", with: "R") : ""
      #expect(section["flags"] as? String == flags, "\(line)")
      #expect(section["type"] as? String == String(words[1]))
      #expect(section["entrySize"] as? Int == Int(words[5], radix: 16))
      #expect(section["link"] as? Int == Int(words[words.count - 3]))
      #expect(section["alignment"] as? Int == Int(words[words.count - 1]))
      if words[1] != "NOBITS" {
        #expect(section["offset"] as? String == "0x" + trimmed(words[3]))
      } else {
        #expect(section["offset"] is NSNull)
      }
    }
  }

  private func trimmed(_ digits: Substring) -> String {
    let rest = digits.drop { $0 == "0" }
    return rest.isEmpty ? "0" : String(rest)
  }
}
