import BeeHive
import CContracts
import Contracts
import Glibc

/// A shop that finds out at run time what it can do.
@main
struct Host {
  static func main() async {
    do {
      try await openShop()
    } catch {
      _ = unsafe "Host: \(error)\n".withCString { unsafe write(STDERR_FILENO, $0, strlen($0)) }
      exit(EXIT_FAILURE)
    }
  }

  private static func openShop() async throws {
    // The first use finds the loaded images, so also the Store, which is linked and named nowhere here.
    let hive = Hive.process

    // Later libraries come by anybody's plain dlopen; nobody tells the Hive. The loader finds the files next to the
    // host ($ORIGIN), wherever the host is started.
    for plugin in ["libDiscounts.so", "libOldTill.so", "libGreetings.so"] {
      guard unsafe dlopen(plugin, RTLD_NOW | RTLD_LOCAL) != nil else {
        throw LoadingFailure(message: unsafe String(cString: dlerror()))
      }
    }

    if CommandLine.arguments.contains("--entries") {
      for entry in hive.entries { print(fields(of: entry)) }
      return
    }
    print("What the loaded libraries declare:")
    for entry in hive.entries { print("  \(entry)") }
    print("\nWhat they do:")
    // Starts the modules in the order of their dependencies. `try hive.validate()` before it would throw here: this
    // shop opens although its till is not in order.
    let launch = try await hive.start()
    print("  started: \(launch.started.joined(separator: ", "))")
    try sellTea(with: hive)
    await hive.stop()
  }

  /// Calls a service of each of the four libraries.
  private static func sellTea(with hive: Hive) throws {
    // Services written in C are found by name, and refused if their structure is too small.
    let ticket = try unsafe hive.service("QueueTicket", as: UnsafePointer<queue_ticket>.self)
    defer { unsafe hive.destroy(ticket, of: "QueueTicket") }
    let prices = try unsafe hive.service("PriceList", as: UnsafePointer<price_list>.self)
    let discount = try unsafe hive.service("Discount", as: UnsafePointer<discount>.self)
    guard let price = unsafe prices.pointee.cents?("tea"),
      let reduced = unsafe discount.pointee.apply?(price)
    else { throw LoadingFailure(message: "a C service left out a function") }

    // Services written in Swift are found by type.
    let greeter = try hive.service((any Greeter).self)
    let receipt = try hive.service((any Receipt).self)

    unsafe print("  libStore.so      ticket \(ticket.pointee.number), tea costs \(price) ct")
    print("  libDiscounts.so  for you \(reduced) ct")
    print("  libGreetings.so  \(greeter.greeting(for: "Ada"))")
    print("  libOldTill.so    \(receipt.line(for: "tea", cents: Int(reduced)))")
  }

  /// Returns an entry for scripts: state, kind, name, implementation and location, with tabs between them.
  private static func fields(of entry: Entry) -> String {
    let state =
      switch entry.state {
      case .bound: "bound"
      case .accepted: "unbound"
      case .rejected: "rejected"
      }
    let fields = [
      state, "\(entry.kind)", entry.name, entry.implementation ?? "-", "\(entry.source)",
    ]
    return fields.joined(separator: "\t")
  }
}

/// The reason that the host cannot go on.
struct LoadingFailure: Error, CustomStringConvertible {
  var message: String
  var description: String { message }
}
