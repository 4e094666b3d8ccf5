import Foundation
import Testing

/// Modules of one process that were declared in every way there is: C macro, Swift macro, file,
/// call.
@Suite struct OrderTests {
  private static let plugin = """
    import BeeHive
    import BeeHiveAnnotations

    @BeeHiveModule(priority: 6) struct SwiftSix: Module {}
    @BeeHiveModule(priority: 2, requires: "c_one") struct SwiftTwo: Module {}
    @BeeHiveModule(level: .basic, priority: -1) struct SwiftBasic: Module {}
    """

  private static let library = """
    #include <BeeHive.h>
    static bool begin(const beehive_context *context) {
      (void)context;
      return true;
    }
    static const beehive_module_operations operations = { .set_up = begin };
    BEEHIVE_MODULE(c_five, &operations, BEEHIVE_PRIORITY(5));
    BEEHIVE_MODULE(c_one, &operations, BEEHIVE_PRIORITY(1) BEEHIVE_REQUIRES("file_four"));
    """

  /// Loads its arguments in their order. For the arguments `file` and `call` it registers a module.
  private static let host = #"""
    import BeeHive
    import Glibc

    struct File: Module {}
    struct Call: Module {}

    @main enum Host {
      static func main() async throws {
        let hive = Hive.process
        hive.bind("file_four") { _ in File() as any Module }
        for way in CommandLine.arguments.dropFirst() {
          switch way {
          case "call":
            try await hive.register(module: "call_three", priority: 3) { _ -> any Module in Call() }
          case "file":
            let four = Registrations.Module(moduleClass: "file_four", modulePriority: 4)
            try hive.register(Registrations(moduleClasses: [four]), file: "modules.json")
          default:
            guard dlopen(way, RTLD_NOW) != nil else { return print(String(cString: dlerror())) }
          }
        }
        print(try await hive.start().started.joined(separator: " "))
        print(await hive.stop().count)
      }
    }
    """#

  @Test func theyHaveOneOrderWhicheverCameFirst() throws {
    let swift = try SwiftCompiler.plugin(Self.plugin, .release)
    let c = try SwiftCompiler.library(ofC: Self.library)
    let host = try SwiftCompiler.program(Self.host)
    let ways = [swift, c, "file", "call"]
    for first in ways.indices {
      let outcome = try Command.run(host, Array(ways[first...] + ways[..<first]))
      #expect(outcome.status == 0, "\(outcome.errors)")
      #expect(
        outcome.output == """
          Shop.SwiftBasic Shop.SwiftSix c_five file_four call_three c_one Shop.SwiftTwo
          0

          """)
    }
  }
}
