// A good plugin in Swift: it conforms to the shop's contracts, as they are today.
import Contracts

struct PaperReceipt: Receipt {
  func line(for item: String, cents: Int) -> String { "\(item) \(cents) ct" }
}

@_cdecl("receipts_set_up")
func setUp() -> Bool {
  let receipt: any Receipt = PaperReceipt()
  print("receipts are printed: \(receipt.line(for: "tea", cents: 420))")
  return true
}
