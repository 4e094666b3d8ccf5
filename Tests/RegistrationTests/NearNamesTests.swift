import Registration
import Testing

@Suite("Names that come near to one that was asked for")
struct NearNamesTests {
  @Test("The three nearest are told, the same ones in whatever order they come")
  func three() {
    let names = ["Shop.Cart", "shop.card", "Shop.Car", "Shop.Cartel", "Other.Thing", "Shop.Cat"]
    for names in [names, names.reversed(), names + names] {
      #expect(nearest(to: "Shop.Card", in: names) == ["shop.card", "Shop.Car", "Shop.Cart"])
    }
  }

  @Test("In words, with what a terminal would obey written out")
  func words() {
    #expect(near("log", in: ["net", "log"]) == "")
    #expect(near("log", in: ["logs", "net"]) == "; did you mean logs?")
    #expect(near("log", in: ["logs", "lo\u{1b}"]) == #"; did you mean lo\x1b or logs?"#)
    #expect(near("log", in: ["lag", "leg", "lug"]) == "; did you mean lag, leg or lug?")
  }
}
