import BinaryImage
import Registration
import Testing

@Suite("BeehiveRecords")
struct RecordGrammarTests {
  /// An image that makes records.
  private let blank = HandmadeImage()

  @Test("A record is read whole in every word size and byte order", arguments: Shape.all)
  func shapes(_ shape: Shape) throws {
    var image = shape.image
    let table = image.map([1, 2, 3, 4])
    image.addSection(
      "BeehiveRecords",
      image.record(
        kind: 1,
        ["audio", "&audio_operations", "priority=-10", "requires=log", "level=basic", "after=net"],
        accessor: table, context: table + 1)
        + image.record(
          kind: 2, ["Greeter", "", "scope=singleton", "name=en", "abi=c", "color=a=b"],
          context: table)
    )

    let scan = try Scan(of: image)

    #expect(scan.rejections.isEmpty)
    try #require(scan.records.count == 2)
    let audio = scan.records[0]
    #expect(audio.kind == .module)
    #expect(audio.name == "audio")
    #expect(audio.implementation == "audio_operations")
    #expect(audio.encoding == .inline)
    #expect(audio.resolution == .none)
    #expect(audio.accessor?.target == .address(VirtualAddress(rawValue: table)))
    #expect(audio.context?.target == .address(VirtualAddress(rawValue: table + 1)))
    #expect(audio.attributes.texts == ["priority=-10", "level=basic", "requires=log", "after=net"])
    let greeter = scan.records[1]
    #expect(greeter.implementation == nil)
    #expect(greeter.accessor?.target == .null)
    #expect(greeter.attributes.texts == ["scope=singleton", "name=en", "abi=c", "color=a=b"])
    #expect(greeter.origin.index == 1)
  }

  @Test("requires and after repeat, with versions; an attribute that a macro left empty is nothing")
  func repeated() throws {
    let fields = ["version=2.0.1", "requires=x >=1.2 <2", "", "requires=y", "after=v", "after=w"]
    let scan = try HandmadeImage.scan(records: blank.record(["A", "B"] + fields + ["k=1", "k=2"]))
    let attributes = try #require(scan.records.first?.attributes)

    #expect(attributes.version == "2.0.1")
    #expect(attributes.requires == ["x >=1.2 <2", "y"] && attributes.requiredNames == ["x", "y"])
    #expect(attributes.after == ["v", "w"])
    #expect(attributes.others.map(\.value) == ["2.0.1", "1", "2"])
  }

  @Test(
    "A need is the name of a type, or of a template in C++",
    arguments: [["needs=any Shop.Log & Mail"], ["needs=Box<Log, 1>"], ["needs=Box<int>", "abi=c"]])
  func needs(fields: [String]) throws {
    let record = blank.record(["A", "a"] + fields, context: HandmadeImage.base)
    let scan = try HandmadeImage.scan(records: record)
    #expect(scan.records.first?.attributes.needs.count == 1, "\(scan.rejections)")
  }

  @Test("Padding words between records are passed over and not counted")
  func padding() throws {
    let zeros = [UInt8](repeating: 0, count: 24)
    let scan = try HandmadeImage.scan(
      records: zeros + blank.record(["A", "a"]) + zeros + blank.record(["B", "b"]) + [0, 0, 0])

    #expect(scan.records.map(\.name) == ["A", "B"])
    #expect(scan.records.map(\.origin.index) == [0, 1])
    #expect(scan.rejections.isEmpty)
  }

  @Test("A longer head of a later writer still leads to the text")
  func longerHead() throws {
    let text = [UInt8](repeating: 0xee, count: 16) + Array("New\0new\0".utf8)
    let scan = try HandmadeImage.scan(records: blank.record(text: text, textOffset: 48))

    #expect(scan.records.map(\.name) == ["New"])
  }

  @Test("Kinds of third parties are kept for tools", arguments: [0x8000, 0xffff] as [UInt16])
  func thirdParty(kind: UInt16) throws {
    let scan = try HandmadeImage.scan(records: blank.record(kind: kind, ["Theirs", ""]))
    let record = try #require(scan.records.first)

    #expect(record.kind.isThirdParty)
    #expect(!record.kind.isKnown)
  }

  @Test("An image says once who it is; a second identity is rejected, and hides nothing")
  func identities() throws {
    let scan = try HandmadeImage.scan(
      records: blank.record(kind: 5, ["com.example.greet", "", "version=1.4.2", "name[de]=Gruss"])
        + blank.record(kind: 5, ["com.example.other", "", "version=2"]) + blank.record(["A", "a"]))
    #expect(scan.records.map(\.name) == ["com.example.greet", "A"])
    #expect(scan.records[0].attributes.texts == ["version=1.4.2", "name[de]=Gruss"])
    #expect(!scan.records[0].kind.isRegistered && scan.records[1].kind.isRegistered)
    #expect(scan.rejections.map(\.reason) == [.badIdentity])
    #expect(scan.rejections[0].message.contains("after com.example.greet"))
  }

  static let faults: [Fault] =
    [
      Fault("version 2", .unknownVersion, "version 2") { $0.record(["A", "a"], version: 2) },
      Fault("version 0", .unknownVersion, "version 0") { $0.record(["A", "a"], version: 0) },
      Fault("kind 0", .unknownKind, "kind 0") { $0.record(kind: 0, ["A", "a"]) },
      Fault("kind 6", .unknownKind, "kind 6") { $0.record(kind: 6, ["A", "a"]) },
      Fault("kind 0x7fff", .unknownKind, "kind 32767") { $0.record(kind: 0x7fff, ["A", "a"]) },
      Fault("an identity without version", .badIdentity, "no version", name: "a.b") {
        $0.record(kind: 5, ["a.b", ""])
      },
      Fault("an identity of another version", .badAttribute, "no version", name: "a.b") {
        $0.record(kind: 5, ["a.b", "", "version=new"])
      },
      Fault("an id of one part", .badIdentity, "name in reverse", name: "greet") {
        $0.record(kind: 5, ["greet", "", "version=1"])
      },
      Fault("an id with an empty part", .badIdentity, "name in reverse", name: "a..b") {
        $0.record(kind: 5, ["a..b", "", "version=1"])
      },
      Fault("an id that is a path", .badIdentity, "name in reverse", name: "a/b.c") {
        $0.record(kind: 5, ["a/b.c", "", "version=1"])
      },
      Fault("two licences", .badAttribute, "second", name: "a.b") {
        $0.record(kind: 5, ["a.b", "", "version=1", "licence=MIT", "licence=ISC"])
      },
      Fault("text in the head", .badTextOffset, "byte 31") {
        $0.record(["A", "a"], textOffset: 31)
      },
      Fault("text behind the end", .badTextOffset, "byte 40") {
        $0.record(["A", "a"], textOffset: 40)
      },
      Fault("text far away", .badTextOffset, "4294967295") {
        $0.record(["A", "a"], textOffset: .max)
      },
      Fault("no text at all", .badTextOffset, "no text") { $0.record([]) },
      Fault("empty name", .emptyName, "service") { $0.record(["", "a"]) },
      Fault("name no UTF-8", .invalidUTF8, "the name") { $0.record(text: [0x41, 0xff, 0, 0]) },
      Fault(
        "implementation no UTF-8", .invalidUTF8, "the implementation", name: "A"
      ) { $0.record(text: [0x41, 0, 0xff, 0]) },
      Fault(
        "attribute no UTF-8", .invalidUTF8, "an attribute", name: "A"
      ) { $0.record(text: [0x41, 0, 0, 0x6b, 0x3d, 0xff, 0]) },
      Fault(
        "text without NUL", .unterminatedText, "40 bytes were skipped"
      ) { $0.record(text: Array("Endless!".utf8)) },
      Fault(
        "last attribute without NUL", .unterminatedText, "40 bytes were skipped"
      ) { $0.record(text: Array("A\0a\0ab=c".utf8)) },
      Fault(
        "size 36", .badRecordSize, "multiple of 8", stops: true
      ) { $0.record(["A", "a"], size: 36) },
      Fault(
        "size past the end", .badRecordSize, "are left", stops: true
      ) { $0.record(["A", "a"], size: 1 << 20) },
      Fault(
        "largest size", .badRecordSize, "4294967288", stops: true
      ) { $0.record(["A", "a"], size: 0xffff_fff8) },
    ]
    + (1...31).map { size in
      Fault(
        "size \(size)", .badRecordSize, "size of \(size) byte", stops: true
      ) { $0.record(["A", "a"], size: UInt32(size)) }
    }
    + [
      "loud", "=value", "priority=", "priority=high", "priority=1.5", "priority= 1",
      "priority=2147483648", "priority=-2147483649", "level=", "scope=", "name=", "abi=",
      "requires=", "after=",
    ].map { attribute in
      Fault(
        attribute, .badAttribute, "\"\(attribute)\"", name: "A"
      ) { $0.record(["A", "a", attribute, "requires=x"]) }
    }
    + (["Log >=1", "Log <2", "Log>=1", "Log 1.2", "Log^1"].map { ["needs=\($0)"] }
    + ["Log Mail", "Log,Mail", "Log\n", "Log>1", "<"].map { ["needs=\($0)", "abi=c-table"] }).map {
      fields in
      Fault(
        "\(fields)", .badAttribute, "\"\(fields[0])\" names no service", name: "A"
      ) { $0.record(["A", "a", "needs=Log"] + fields) }
    }
    + ["priority=1", "level=basic", "scope=weak", "name=x", "abi=c", "shared=x"].map { attribute in
      Fault(
        "\(attribute) twice", .badAttribute, "\"\(attribute)\" is the second", name: "A"
      ) { $0.record(["A", "a", attribute, attribute]) }
    }

  @Test("A malformed record has its own reason and leaves its neighbours alone", arguments: faults)
  func malformed(_ fault: Fault) throws { try fault.check() }

  @Test("Bytes behind the last record that are no record are refused", arguments: 1...7)
  func rest(count: Int) throws {
    let scan = try HandmadeImage.scan(
      records: blank.record(["Good", ""]) + [UInt8](repeating: 1, count: count))

    #expect(scan.records.map(\.name) == ["Good"])
    #expect(scan.rejections.map(\.reason) == [.badRecordSize])
  }

  @Test("The limits of a priority are numbers", arguments: [Int32.min, -1, 0, 1, .max])
  func priority(_ value: Int32) throws {
    let scan = try HandmadeImage.scan(records: blank.record(["A", "a", "priority=\(value)"]))

    #expect(scan.records.first?.attributes.priority == Int(value))
  }
}
