import BeeHiveRouting
import Foundation
import TestSupport
import Testing

@Suite("A route of an image is unbound until the types that it names are defined", .serialized)
struct UnboundRoutesTests {
  /// Returns a Hive of one library in C, whose routes name types.
  private func hive(_ routes: String...) throws -> Hive {
    let source = """
      #include <BeeHive.h>
      static bool answer(const beehive_call *call, beehive_reply *reply) {
        beehive_reply_text(reply, "answered");
        return true;
      }

      """
    let library = try Compiler.library(
      source + routes.map { "BEEHIVE_ROUTE(\"\($0)\", answer);" }.joined(separator: "\n"),
      as: "typed.so")
    // Sound: the library runs nothing when it is loaded, and stays.
    try OpenLibrary.keep(library)
    let hive = Hive(imagesWhere: { $0 == library })
    _ = hive.router.routes
    return hive
  }

  @Test("The reason is listed, and what opens its URL reads it; a definition binds it")
  func defined() async throws {
    let (path, query) = ("typed://a/:m<Moon>", "typed://b?m<Moon>=5")
    let hive = try hive(path, query, "typed://c/:n<Int>")
    let unbound = [path: "accepted unknown-type", query: "accepted unknown-type"]
    #expect(hive.states == unbound.merging(["typed://c/:n<Int>": "bound"]) { $1 })
    #expect(throws: ValidationError.self) { try hive.validate() }
    #expect(hive.report().entries.map(\.state) == ["accepted", "accepted", "bound"])
    let error = hive.calls.explain("typed://a/5").error
    #expect(error?.code == .noRoute)
    #expect(error?.message.contains("is unbound: the pattern typed://a/:m<Moon> names") == true)
    try hive.router.define("Sun") { Int($0) }
    #expect(hive.states.filter { $0.value != "bound" } == unbound)

    try hive.router.define("Moon") { Int($0) }

    #expect(hive.states.values.allSatisfy { $0 == "bound" }, "\(hive.states)")
    try hive.validate()
    #expect(hive.report().isClean)
    #expect(await hive.router.answer("typed://a/5") == "answered")
    #expect(await hive.router.answer("typed://b") == "answered")
    #expect(!hive.router.canOpen("typed://a/x"))
  }

  @Test("A default that the type does not take is a reason of its own, for good")
  func badDefault() throws {
    let hive = try hive("typed://d?m<Moon>=x")
    try hive.router.define("Moon") { Int($0) }
    #expect(hive.states == ["typed://d?m<Moon>=x": "rejected bad-pattern"])
    #expect(throws: ValidationError.self) { try hive.validate() }
  }

  @Test("A type that is taken back leaves the routes that have it, and may be defined anew")
  func takenBack() async throws {
    let hive = try hive("typed://e/:m<Moon>?n<Moon?>")
    let first = try hive.router.define("Moon") { Int($0) }
    first.cancel()
    #expect(await hive.router.answer("typed://e/5?n=6") == "answered")
    try hive.router.define("Moon") { Int($0) }
    first.cancel()
    #expect(throws: RoutingError.self) { try hive.router.define("Moon") { Int($0) } }
  }
}
