import SwiftMetadata
import Testing

@Suite("Names in the symbols of descriptors")
struct SymbolNameTests {
  static let rows = [
    ("$s9Contracts5CodecMp", "Contracts.Codec"),
    ("$s9Contracts0A5CodecMp", "Contracts.ContractsCodec"),
    ("$s9FooBarBaz0aB4QuuxMp", "FooBarBaz.FooBarQuux"),
    ("$s4Main13HTTPServerFooMp", "Main.HTTPServerFoo"),
    ("$s9Contracts5OuterV5InnerVMn", "Contracts.Outer.Inner"),
    ("$s4Shop5OuterCAAE5InnerVMn", "Shop.Outer.Inner"),
    ("$sSa4ShopE7ForeignVMn", "Swift.Array.Foreign"),
    ("$sSQMp", "Swift.Equatable"),
    ("$sScAMp", "Swift.Actor"),
    ("$ss5ErrorMp", "Swift.Error"),
  ]

  @Test("are those that the compiler put there", arguments: rows)
  func names(symbol: String, name: String) { #expect(SymbolName.text(of: symbol) == name) }

  @Test(
    "are not guessed of other symbols",
    arguments: [
      "", "$s", "$s9Contracts", "$s99999999999999999999ContractsMp", "malloc", "$s0", "$s00",
      "$sAA",
      "$s4Main0Z5CodecMp", "$sS", "$s4ShopA", "$s5\u{fffd}Mp",
    ])
  func others(symbol: String) {
    #expect(SymbolName(symbol) == nil)
    #expect(SymbolName.text(of: symbol) == symbol)
  }
}
