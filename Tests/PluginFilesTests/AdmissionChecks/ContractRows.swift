import Foundation
import PluginFiles
import TestSupport
import Testing

/// Plugins that were built against other contracts.
extension AdmissionChecksTests {
  private static let greeter = """
    #include <BeeHive.h>
    static const struct { int (*greet)(void); } table;
    BEEHIVE_SERVICE(Greeter, English, &table, "");
    """

  static let contracts: [Row] = [
    Row(
      "a table that is smaller than the host asks for", "contract-drift",
      ["expected 24 bytes", "found 8 bytes"],
      policy: policy { $0.tables = [.init(service: "Greeter", size: 24)] }
    ) { try $0.plugin("x", greeter) },
    Row(
      "a table of which the order cannot be seen, where that is refused", "contract-not-visible",
      policy: policy {
        $0.tables = [.init(service: "Greeter", size: 8)]
        $0.unseenContracts = .refuse
      }
    ) { try $0.plugin("x", greeter) },
    Row(
      "a table of which the order cannot be seen",
      policy: policy { $0.tables = [.init(service: "Greeter", size: 8)] }
    ) { try $0.plugin("x", greeter) },
    Row(
      "a table that only the first of two requests is for", "contract-drift", ["expected 24 bytes"],
      policy: policy { $0.tables = [8, 24].map { .init(service: "Greeter", size: $0) } }
    ) { try $0.plugin("x", greeter) },
    Row(
      "such a table in a library that comes along", "contract-drift",
      ["/beside/libalong.so, which it brings along: the table", "found 8 bytes"],
      policy: policy { $0.tables = [.init(service: "Greeter", size: 24)] }
    ) { try bringAlong($0, in: "beside", "\(greeter)\n\(along)") },
  ]
}
