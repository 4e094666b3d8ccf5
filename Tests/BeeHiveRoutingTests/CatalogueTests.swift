import BeeHiveRouting
import Foundation
import Testing

/// The catalogue of a running Hive. `SectionDumpTests` tests the catalogue of records.
@Suite("The catalogue lists every interface, word for word")
struct CatalogueTests {
  let hive = Hive()

  init() throws {
    try hive.mediator.register("till", file: "Shop/Till.swift", line: 3) { Till() }
    try hive.router.register(
      "app://shop/:id<Int>(/:tab)?from&page<Int>=1", exposure: .remote, priority: 2,
      file: "Shop/Shop.swift", line: 7
    ) { _ in "page" }
    try hive.router.register("/files/:path<Path>", file: "Shop/Shop.swift", line: 8) { _ in }
    try hive.router.register("/tags/*", file: "Shop/Shop.swift", line: 9) { _ in [1] }
  }

  @Test("For people: a line for each, targets before routes")
  func text() {
    #expect(
      hive.catalogue().description == """
        action remote till.count(sku: String, times: Int = 1) async throws -> Int         Shop/Till.swift:3
        action local  till.open(page: String?, done: @Sendable (Int) -> ()) async throws  Shop/Till.swift:3
        route  remote app://shop/:id<Int>(/:tab)?from&page<Int>=1 -> String               Shop/Shop.swift:7
        route  local  /files/:path<Path>                                                  Shop/Shop.swift:8
        route  local  /tags/* -> Array<Int>                                               Shop/Shop.swift:9
        """)
  }

  @Test("For programs: JSON with every parameter, its type and its default")
  func json() throws {
    var catalogue = hive.catalogue()
    catalogue.interfaces.removeAll { !$0.exposure.isRemote && $0.name != "/tags/*" }
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    let json = String(decoding: try encoder.encode(catalogue), as: UTF8.self)
    #expect(
      json == #"""
        {"interfaces":[{"declaration":"count(sku: String, times: Int = 1) async throws -> Int",\#
        "exposure":"remote","kind":"action","name":"till.count","origin":"Shop/Till.swift:3",\#
        "parameters":[{"isOptional":false,"name":"sku","type":"String"},\#
        {"default":"1","isOptional":true,"name":"times","type":"Int"}],"result":"Int"},\#
        {"declaration":"app://shop/:id<Int>(/:tab)?from&page<Int>=1 -> String",\#
        "exposure":"remote","kind":"route","name":"app://shop/:id<Int>(/:tab)?from&page<Int>=1",\#
        "origin":"Shop/Shop.swift:7","parameters":[\#
        {"isOptional":false,"name":"id","type":"Int"},\#
        {"isOptional":true,"name":"tab","type":"String"},\#
        {"isOptional":true,"name":"from","type":"String"},\#
        {"default":"1","isOptional":true,"name":"page","type":"Int"}],"result":"String"},\#
        {"declaration":"/tags/* -> Array<Int>","exposure":"local","kind":"route","name":"/tags/*",\#
        "origin":"Shop/Shop.swift:9",\#
        "parameters":[{"isOptional":true,"name":"*","type":"[String]"}],"result":"Array<Int>"}]}
        """#)
  }
}

private struct Till: Target {
  static let actions: [Action<Till>] = [
    Action(
      "open", [Parameter("page", String?.self), Parameter("done", (@Sendable (Int) -> Void).self)]
    ) { _, _ in },
    Action(
      "count", [Parameter("sku", String.self), Parameter("times", default: 1)], exposure: .remote
    ) { _, _ in 7 },
  ]
}
