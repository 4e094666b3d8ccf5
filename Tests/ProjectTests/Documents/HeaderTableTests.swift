import TestSupport
import Testing

@Suite("Docs/header.md has the macros of the header")
struct HeaderTableTests {
  @Test("each macro that authors write has a row, and each row a macro")
  func rows() throws {
    let header = try Repository.text("CSupport/CBeeHive/include/beehive/macros.h")
    let defined = header.matches(of: #/(?m)^#define (B\w*[A-Za-z])\b/#).map { String($0.output.1) }
    // What these are made of.
    let parts: Set = ["BEEHIVE_EXPANDED_TEXT", "BEEHIVE_MACROS_H"]
    let page = Markdown(text: try Repository.text("Docs/header.md"))
    let rows = page.rows.compactMap { row in
      row.firstMatch(of: #/^\| `(\w+)/#).map { String($0.output.1) }
    }
    #expect(!rows.isEmpty)
    #expect(Set(rows) == Set(defined).subtracting(parts))
  }
}
