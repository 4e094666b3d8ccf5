// Built against last year's contracts, when a greeter said goodbye too.
import Contracts

struct Flyer: Greeter {
  func farewell(for customer: String) -> String { "Goodbye, \(customer)." }
  func greeting(for customer: String) -> String { "Have a flyer, \(customer)." }
}

@_cdecl("flyers_set_up")
func setUp() -> Bool {
  let greeter: any Greeter = Flyer()
  print(greeter.greeting(for: "Ada"))
  return true
}
