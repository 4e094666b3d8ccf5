import BinaryImage
import Registration
import TestSupport
import Testing

@Suite("The scan of an image")
struct ScanTests {
  @Test("An image without the sections declares nothing, and nothing is wrong with it")
  func empty() throws {
    var image = HandmadeImage()
    image.addSection(".data", [1, 2, 3])
    image.addSection("BeehiveMods", [])

    let scan = try Scan(of: image)

    #expect(scan.records.isEmpty)
    #expect(scan.rejections.isEmpty)
  }

  @Test("Entries come by section, Mods, Services, Records, whatever the order in the file")
  func order() throws {
    var image = HandmadeImage()
    image.addSection("BeehiveRecords", image.record(["C", "c"]) + image.record(["D", "d"]))
    let service = image.map(#"{"B":"b"}"#)
    image.addSection("BeehiveServices", pointers: [service])
    let module = image.map("A")
    image.addSection("BeehiveMods", pointers: [module])

    #expect(try Scan(of: image).records.map(\.name) == ["A", "B", "C", "D"])
  }

  @Test("A rejection reads as a sentence that says where")
  func description() throws {
    var image = HandmadeImage()
    image.addSection("BeehiveMods", pointers: [0])

    let rejection = try #require(try Scan(of: image).rejections.first)

    #expect(
      rejection.description == "libhand.so BeehiveMods[0] at 0x1000: "
        + "holds a null pointer; remove the entry or point it at a text")
  }

  @Test("A section of nothing but faults is reported within bounds, and its last slot is read")
  func manyFaults() throws {
    var image = HandmadeImage()
    let good = image.map("Good")
    image.addSection("BeehiveMods", pointers: [UInt64](repeating: 0, count: 5000) + [good])

    let scan = try Scan(of: image)

    #expect(scan.records.map(\.origin.index) == [5000])
    #expect(scan.rejections.count == 1025)
    #expect(scan.rejections.last?.reason == .limitExceeded)
    #expect(scan.rejections.last?.message.hasPrefix("3976 more entries") == true)
  }

  @Test("Many slots that share one long text cannot fill the memory")
  func amplification() throws {
    var image = HandmadeImage()
    let long = image.map(String(repeating: "x", count: 16_000))
    image.addSection("BeehiveMods", pointers: [UInt64](repeating: long, count: 20_000))

    let scan = try Scan(of: image)

    #expect(scan.records.count == ((1 << 18) + 8 * 8 * 20_000) / 16_000 + 1)
    #expect(scan.rejections.map(\.reason) == [.limitExceeded])
  }

  @Test("Whatever bytes are flipped, every slot is accounted for", arguments: Shape.all)
  func flippedBytes(_ shape: Shape) throws {
    var valid = shape.image
    let names = ["Shop.ShopModule", "Log"].map { valid.map($0) }
    let services = [#"{ "A" : "B" }"#, #"{"\ud83d\udc1d":"C\n"}"#].map { valid.map($0) }
    valid.addSection("BeehiveMods", pointers: names)
    valid.addSection("BeehiveServices", pointers: services)
    valid.addSection(
      "BeehiveRecords",
      valid.record(kind: 1, ["audio", "&operations", "priority=10", "requires=log"])
        + valid.record(["Greeter", "English", "scope=singleton"])
        + valid.record(kind: 0x8001, ["Theirs", ""]))
    #expect(try Scan(of: valid).records.count == 7)
    #expect(try Scan(of: valid).rejections.isEmpty)

    var random = SeededGenerator(seed: 0x1bee)
    for _ in 0..<Effort.times(300, full: 5_000) {
      var image = valid
      for _ in 0...Int.random(in: 0..<4, using: &random) {
        let place = Int.random(in: 0..<image.bytes.count, using: &random)
        image.bytes[place] = UInt8.random(in: .min ... .max, using: &random)
      }
      let scan = try Scan(of: image)
      // Each pointer slot is accounted for; records may merge with what follows them.
      let pointerSlots =
        scan.records.count { $0.encoding == .pointer }
        + scan.rejections.count { $0.origin.section != "BeehiveRecords" }
      #expect(pointerSlots == 4)
      #expect(scan.records.allSatisfy { !$0.name.isEmpty })
      #expect(scan.rejections.allSatisfy { !$0.message.isEmpty })
    }
  }
}
