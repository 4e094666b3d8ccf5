import Testing

@testable import BeeHive

@Suite("Type names")
struct TypeNameTests {
  @Test(
    "spellings of one name have one text",
    arguments: [
      ("Greeter", "Greeter"),
      ("Shop.Greeter", "Shop.Greeter"),
      (" Shop . Greeter\t", "Shop.Greeter"),
      ("any Greeter", "Greeter"),
      ("(any Greeter).self", "Greeter"),
      ("( any Shop.Greeter ) . self", "Shop.Greeter"),
      ("Shop.Greeter.self", "Shop.Greeter"),
      ("((Greeter))", "Greeter"),
      ("Cache<Key,Value>", "Cache<Key, Value>"),
      ("Cache < Key , any Value >", "Cache<Key, Value>"),
      ("Cache<(any Key), Value>", "Cache<(Key), Value>"),
      ("any Greeter & Closer", "Closer & Greeter"),
      ("Closer&Greeter", "Closer & Greeter"),
      ("(Key,Value)", "(Key, Value)"),
      ("Handler<(Int)->Void>", "Handler<(Int) -> Void>"),
      ("Größe", "Größe"),
      ("Shop.`hello  world`", "Shop.`hello  world`"),
      ("anyone", "anyone"),
      ("any", "any"),
      ("Shop.any", "Shop.any"),
      ("", ""),
    ])
  func text(written: String, text: String) {
    #expect(TypeName(written).text == text)
    // Normal text stays as it is.
    #expect(TypeName(text).text == text)
  }

  @Test(
    "a dotted name has a path",
    arguments: [
      ("Greeter", ["Greeter"]),
      ("Shop.Cart.Item", ["Shop", "Cart", "Item"]),
      ("Shop.Cache<Key, Shop.Value>.Slot", ["Shop", "Cache", "Slot"]),
      ("Shop.`a.b`.Größe", ["Shop", "`a.b`", "Größe"]),
      ("Handler<() -> Shop.Value>", ["Handler"]),
      ("Shop.`two words`", ["Shop", "`two\u{a0}words`"]),
      ("Shop.`class`", ["Shop", "class"]),
      ("`2d`", ["`2d`"]),
    ])
  func path(written: String, path: [String]) {
    #expect(TypeName(written).path == path)
    #expect(TypeName(written).last.map { String($0) } == path.last)
  }

  @Test(
    "any other text has none",
    arguments: [
      "", ".", "Shop.", ".Shop", "Shop..Cart", "A & B", "(A, B)", "() -> A", "[A]", "A?", "``",
      "Shop.Cart-Item", "A B", "A<B", "A<B>C", "`A", "🙂.",
    ])
  func noPath(written: String) {
    #expect(TypeName(written).path == nil)
    #expect(TypeName(written).last == nil)
  }

  @Test("a whole name is also each of its suffixes")
  func suffixes() {
    #expect(TypeName("Shop.Cart.Item").suffixes == ["Shop.Cart.Item", "Cart.Item", "Item"])
    #expect(TypeName("Shop.Box<A.B>").suffixes == ["Shop.Box<A.B>", "Box<A.B>"])
    #expect(TypeName("A.B & C.D").suffixes == ["A.B & C.D"])
  }
}
