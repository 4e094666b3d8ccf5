import Testing

/// Whatever a library claims, the host lives, reports each bad record, and has the good ones.
@Suite("A library of records that are wild in every field") struct HostileLibraryTests {
  @Test("leaves the host alive; each record is named, and each good one serves")
  func plain() throws { try check() }

  @Test("The same under the address sanitizer", .needsSanitizedHosts)
  func sanitized() throws { try check(under: .address) }

  private func check(under sanitizer: Sanitizer? = nil) throws {
    let library = HostileLibrary()
    let workshop = try Workshop()
    try workshop.library("hostile", library.source, "-Wno-int-conversion", "-Wno-everything")
    let uses = library.wilds.map(\.step).filter { $0 != "entries" }
    let goods = library.wilds.map { "speak=G\($0.number)" }
    let said = try Program.host(
      ["open=./libhostile.so", "reasons"] + uses + ["start", "reasons"] + goods, in: workshop,
      under: sanitizer)
    #expect(said.suffix(goods.count).allSatisfy { $0 == "good" })
    for wild in library.wilds {
      #expect(said.contains(where: wild.isNamed), "\(wild.number) \(wild.about)")
    }
  }

  @Test(
    "A record of a size that cannot be: those before it serve, and what was not read is said",
    arguments: ["0", "8", "31", "33", "100", "0x7ffffff8", "0xffffffff"])
  func size(_ size: String) throws {
    let said = try Self.host(size)
    #expect(
      said.contains { $0.contains("claims a size of") && $0.hasSuffix("bytes were not read") })
  }

  @Test(
    "A record of another size than its own", arguments: ["40", "48", "88", "104", "136", "192"])
  func otherSize(_ size: String) throws {
    let said = try Self.host(size)
    #expect(said.contains { $0.hasPrefix("rejected") && $0.contains("libsize.so") }, "\(said)")
  }

  /// Returns a host's output about a library: a record of this size between two good ones.
  private static func host(_ size: String) throws -> [String] {
    let workshop = try Workshop()
    try workshop.library(
      "size",
      Source.record + Source.speaker("Before")
        + """

        static const struct head wild RECORD = {\(size), 1, 2, 0, 32, 0, 0, {[0 ... 63] = 'x'}};
        BEEHIVE_SERVICE(After, T, &speaker);
        """)
    let said = try Program.host("open=./libsize.so", "reasons", "speak=Before", in: workshop)
    #expect(said.last == "hello")
    return said
  }
}
