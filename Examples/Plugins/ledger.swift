// A good plugin in Swift, which needs the receipts.
import Contracts

struct Bookkeeper: Greeter {
  func greeting(for customer: String) -> String { "\(customer) is in the ledger" }
}

@_cdecl("ledger_set_up")
func setUp() -> Bool {
  let greeter: any Greeter = Bookkeeper()
  print(greeter.greeting(for: "Ada"))
  return true
}
