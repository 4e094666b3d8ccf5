import Registration
import Testing

@Suite("Names that come near to one that was asked for")
struct SimilarNamesTests {
  @Test("The three nearest are told, the same ones in whatever order they come")
  func nearest() {
    let names = ["Shop.Cart", "shop.card", "Shop.Car", "Shop.Cartel", "Other.Thing", "Shop.Cat"]
    let kept = [names, names.reversed()].map { names in
      var similar = SimilarNames()
      for name in names { similar.consider(name, for: "Shop.Card") }
      return similar.names.map(\.text)
    }
    #expect(kept[0] == ["shop.card", "Shop.Car", "Shop.Cart"])
    #expect(kept[1] == kept[0])
  }
}
