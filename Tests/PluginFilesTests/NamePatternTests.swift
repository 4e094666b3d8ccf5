import BinaryImage
import TestSupport
import Testing

@testable import PluginFiles

@Suite("Patterns for names")
struct NamePatternTests {
  @Test(
    "What a pattern matches",
    arguments: [
      ("", "", true), ("", "a", false), ("*", "", true), ("*", "Shop.Module", true),
      ("Shop.*", "Shop.Module", true), ("Shop.*", "Shop", false), ("*Module", "Shop.Module", true),
      ("*.*.*", "a.b", false), ("*.*.*", "a.b.c", true), ("?", "e", true), ("?", "", false),
      ("??", "a", false), ("[a-c]x", "bx", true), ("[a-c]x", "dx", false), ("[!a-c]x", "dx", true),
      ("[^a-c]x", "ax", false), ("[]]", "]", true), ("[]-a]", "^", true), ("[a-]", "-", true),
      ("[", "[", true), ("[a", "[a", true), (#"\*"#, "*", true), (#"\*"#, "a", false),
      ("a*b*c", "aXbYbZc", true), ("a*b*c", "aXbYbZ", false),
      ("Cache<*>", "Cache<Key, Value>", true), ("*🐝", "die 🐝", true),
    ])
  func matches(_ pattern: String, _ name: String, _ expected: Bool) {
    #expect(name.isMatched(by: pattern) == expected)
  }

  @Test("A name that is made to be slow is not", .mayHang)
  func hostile() {
    let pattern = String(repeating: "*a", count: 50) + "b"
    #expect(!String(repeating: "a", count: 20_000).isMatched(by: pattern))
  }
}
