import TestSupport
import Testing

@testable import section_dump

@Suite("Patterns for names")
struct NamePatternTests {
  @Test(
    "What a pattern matches",
    arguments: [
      ("", "", true), ("", "a", false), ("*", "", true), ("*", "Shop.Module", true),
      ("Shop.*", "Shop.Module", true), ("Shop.*", "Shop", false), ("*Module", "Shop.Module", true),
      ("*.*.*", "a.b", false), ("*.*.*", "a.b.c", true), ("?", "é", true), ("?", "", false),
      ("??", "a", false), ("[a-c]x", "bx", true), ("[a-c]x", "dx", false), ("[!a-c]x", "dx", true),
      ("[^a-c]x", "ax", false), ("[]]", "]", true), ("[]-a]", "^", true), ("[a-]", "-", true),
      ("[", "[", true), ("[a", "[a", true), (#"\*"#, "*", true), (#"\*"#, "a", false),
      (#"\"#, #"\"#, true), ("a*b*c", "aXbYbZc", true), ("a*b*c", "aXbYbZ", false),
      ("Cache<*>", "Cache<Key, Value>", true), ("*🐝", "die 🐝", true),
    ])
  func matches(_ pattern: String, _ name: String, _ expected: Bool) {
    #expect(NamePattern(pattern).matches(name) == expected)
  }

  @Test("A name that is made to be slow is not", .mayHang)
  func hostile() {
    let pattern = NamePattern(String(repeating: "*a", count: 50) + "b")
    #expect(!pattern.matches(String(repeating: "a", count: 20_000)))
  }
}
