import BinaryImage
import Registration
import Testing

@Suite("BeehiveMods and BeehiveServices")
struct PointerEntriesTests {
  @Test("Modules and services are read in every word size and byte order", arguments: Shape.all)
  func shapes(_ shape: Shape) throws {
    var image = shape.image
    let module = image.map("Shop.ShopModule")
    let service = image.map(#"{ "Shop.HomeService" : "Shop.HomeViewModel" }"#)
    image.addSection("BeehiveServices", pointers: [service])
    image.addSection("BeehiveMods", pointers: [module])

    let scan = try Scan(of: image)

    #expect(scan.rejections.isEmpty)
    #expect(scan.records.map(\.kind) == [.module, .service])
    #expect(scan.records.map(\.name) == ["Shop.ShopModule", "Shop.HomeService"])
    #expect(scan.records.map(\.implementation) == [nil, "Shop.HomeViewModel"])
    #expect(scan.records.allSatisfy { $0.encoding == .pointer && $0.resolution == .absolute })
    #expect(scan.records.allSatisfy { $0.attributes == Attributes() && $0.accessor == nil })
  }

  @Test("An entry knows its image, section, slot, address and file offset")
  func origin() throws {
    var image = HandmadeImage()
    let name = image.map("A")
    image.addSection("BeehiveMods", pointers: [name, name])
    let start = image.table[0].address.rawValue

    let origin = try #require(try Scan(of: image).records.last?.origin)

    #expect(origin.image == "/tmp/libhand.so")
    #expect(origin.section == "BeehiveMods")
    #expect(origin.index == 1)
    #expect(origin.address.rawValue == start + 8)
    #expect(origin.offset?.rawValue == start + 8 - HandmadeImage.base)
  }

  @Test("Slots are counted over all sections of one name, null slots included")
  func concatenation() throws {
    let scan = try HandmadeImage.scan { image in
      let (first, second) = (image.map("First"), image.map("Second"))
      image.addSection("BeehiveMods", pointers: [first, 0])
      image.addSection("BeehiveMods", pointers: [0, second])
    }

    #expect(scan.records.map(\.origin.index) == [0, 3])
    #expect(scan.rejections.map(\.origin.index) == [1, 2])
    #expect(scan.rejections.map(\.reason) == [.nullPointer, .nullPointer])
  }

  @Test("Nulls that align pointers of four bytes to eight are no entries, others are faults")
  func padding() throws {
    var image = HandmadeImage(bits: 32)
    let (first, second) = (image.map("First"), image.map("Second"))
    image.addSection("BeehiveMods", pointers: [first, 0, 0, 0, first, second])

    let scan = try Scan(of: image)

    #expect(scan.records.map(\.name) == ["First", "First", "Second"])
    #expect(scan.records.map(\.origin.index) == [0, 4, 5])
    #expect(scan.rejections.map(\.origin.index) == [2])
  }

  private static func slot(
    _ description: String, _ reason: Rejection.Reason, _ message: String,
    target: PointerValue.Target? = nil, section: String = "BeehiveMods",
    make: @escaping @Sendable (inout HandmadeImage) -> UInt64
  ) -> Fault {
    Fault(description, reason, message, target: target, section: section) { image in
      let address = make(&image)
      return image.word(address, size: 8)
    }
  }

  static let faults: [Fault] = [
    slot("null", .nullPointer, "null pointer") { _ in 0 },
    slot("outside the image", .pointerOutsideImage, "0xdead0000") { _ in 0xdead_0000 },
    slot(
      "foreign", .pointerOutsideImage, "0x7f001000",
      target: .foreign(RuntimeAddress(rawValue: 0x7f00_1000))
    ) { _ in 1 },
    slot(
      "imported", .unresolvedPointer, "shop_name", target: .imported(symbol: "shop_name")
    ) { _ in 0 },
    slot(
      "unresolvable", .unresolvedPointer, "IRELATIVE",
      target: .unresolvable("is computed by a resolver (IRELATIVE)")
    ) { _ in 0 },
    slot("longer than the limit", .unterminatedText, "NUL") {
      $0.map(String(repeating: "x", count: 20_000))
    },
    slot("no UTF-8", .invalidUTF8, "byte 2") { $0.map([0x41, 0x42, 0xff, 0]) },
    slot("cut-off UTF-8", .invalidUTF8, "byte 1") { $0.map([0x41, 0xe2, 0x82, 0]) },
    slot("empty", .emptyName, "empty name") { $0.map("") },
    service("no JSON", "Shop", .malformedJSON, "expected {"),
    service("empty text", "", .malformedJSON, "expected {"),
    service("empty object", "{}", .malformedJSON, "expected a string"),
    service("several keys", #"{"A":"B","C":"D"}"#, .severalJSONKeys, "several"),
    service("empty service", #"{"":"B"}"#, .emptyName, "no service"),
    service("empty implementation", #"{"A":""}"#, .emptyName, "implementation of A"),
    slot(
      "service, no UTF-8", .invalidUTF8, "byte 3", section: "BeehiveServices"
    ) { $0.map(Array(#"{"A"#.utf8) + [0xc0] + Array(#"":"B"}"#.utf8) + [0]) },
  ]

  static func service(
    _ name: String, _ text: String, _ reason: Rejection.Reason, _ message: String
  ) -> Fault {
    slot("service, \(name)", reason, message, section: "BeehiveServices") { $0.map(text) }
  }

  @Test("A malformed slot has its own reason and leaves its neighbours alone", arguments: faults)
  func malformed(_ fault: Fault) throws { try fault.check() }

  @Test("A text that the end of the mapping cuts off is unterminated")
  func unterminated() throws {
    let scan = try HandmadeImage.scan { image in
      let good = image.map("Good")
      image.addSection("BeehiveMods", pointers: [good, image.nextAddress(behind: 16)])
      _ = image.map(Array("NoEnd".utf8))
    }

    #expect(scan.records.map(\.name) == ["Good"])
    #expect(scan.rejections.map(\.reason) == [.unterminatedText])
  }

  @Test("A section of odd size: its whole slots are read, the rest is refused", arguments: 1...7)
  func oddSize(rest: Int) throws {
    var image = HandmadeImage()
    let good = image.map("Good")
    image.addSection("BeehiveMods", pointers: [good], rest: [UInt8](repeating: 1, count: rest))

    let scan = try Scan(of: image)

    #expect(scan.records.map(\.name) == ["Good"])
    #expect(scan.rejections.map(\.reason) == [.oddSectionSize])
    #expect(scan.rejections.map(\.origin.index) == [1])
    #expect(scan.rejections.allSatisfy { $0.message.contains("\(rest) byte") })
  }

  @Test("A section without bytes in this file hides no other section")
  func unreadable() throws {
    var image = HandmadeImage()
    let good = image.map("Good")
    image.addSection("BeehiveMods", pointers: [good])
    image.addSection("BeehiveMods", pointers: [good])
    image.unreadable = [0]

    let scan = try Scan(of: image)

    #expect(scan.records.map(\.name) == ["Good"])
    #expect(scan.rejections.map(\.reason) == [.unreadableSection])
    #expect(scan.rejections.map(\.message) == ["has no bytes in this file"])
  }
}

extension HandmadeImage {
  /// Returns the address after a section of `size` bytes that is about to be added.
  fileprivate func nextAddress(behind size: UInt64) -> UInt64 {
    Self.base + (UInt64(bytes.count) + 7) / 8 * 8 + size
  }
}
