import BeeHiveRouting
import CRoutes
import Testing

/// What swift-testing tests of its records: they are found in the image, and what cannot be is told apart.
@Suite("swift-testing")
struct SwiftTestingTests {
  /// The records of `Tests/Fixtures/CRoutes`, by kind and name.
  private static let records = [
    "route croutes://:", "route croutes://echo/:n<Int>/*", "route croutes://files",
    "route croutes://gone/:id",
    "route croutes://stock/:sku?count<Int>", "route croutes://twin/:first",
    "route croutes://twin/:second", "target c_lost", "target c_odd", "target c_page",
    "target c_shop",
  ]

  @Test(
    "Every record of the image is found by its kind, once, with its place; none is registered by a call"
  )
  func testDiscovery() throws {
    c_routes_link()
    let hive = Hive.process
    for _ in 0..<2 {
      _ = hive.router.routes
      let found = hive.entries.filter { $0.name.hasPrefix("croutes:") || $0.name.hasPrefix("c_") }
      #expect(found.map { "\($0.kind) \($0.name)" }.sorted() == Self.records)
      for entry in found {
        guard case .image(let origin) = entry.source else {
          Issue.record("\(entry.name) is of \(entry.source)")
          continue
        }
        #expect(origin.description.contains("BeehiveRecords["))
      }
      #expect(Set(found.map(\.source)).count == found.count)
    }
    #expect(Hive().router.routes.isEmpty && Hive().mediator.declarations.isEmpty)
  }
}
