/// One entry that a generated library may have, with its problem by the rules in `CSupport/RecordLayout.md` and `Docs`.
/// Only this test states the rules in this form.
struct PlantedEntry {
  /// The first half of a record's head.
  struct Head {
    var size = UInt32(PlantedLibrary.recordSize)
    var version: UInt16 = 1
    var kind: UInt16 = 1
    var textOffset: UInt32 = 32

    var bytes: [UInt8] {
      func little(_ value: some FixedWidthInteger) -> [UInt8] {
        (0..<value.bitWidth / 8).map { UInt8(truncatingIfNeeded: value >> ($0 * 8)) }
      }
      return little(size) + little(version) + little(kind) + little(UInt32(0)) + little(textOffset)
    }
  }

  var text: [UInt8]
  /// The code that always rejects the entry; nil for a good entry.
  var code: String?
  /// The identities that make two entries duplicates.
  var identities: [String] = []
  /// The head of a typed record.
  var head: Head?
  /// The name of a module, the modules that it requires, and the modules that it only follows.
  var order: (module: String, requires: [String], after: [String])?
  /// The structure that the context must lead to; nil if the entry is not made in C.
  var abi: String?

  init(_ text: String, _ identities: String..., code: String? = nil) {
    (self.text, self.identities, self.code) = (Array(text.utf8), identities, code)
  }

  static let modules: [PlantedEntry] =
    ["A", "B", "Shop.Cart", "Shop.Cart.Item", "cafe\u{301}"].map { .init($0, "module \($0)") } + [
      .init("", code: "empty-name"), .init(bytes: [0x41, 0xff, 0x42], code: "invalid-utf8"),
      .init(bytes: Array(repeating: 0x41, count: PlantedLibrary.textSize - 1), "module long"),
    ]

  static let services: [PlantedEntry] = [
    .init(#"{ "S" : "A" }"#, "service S nil 0 swift"),
    .init(#"{"S":"B"}"#, "service S nil 0 swift"),
    .init(#"{ "\u0053" : "C" }"#, "service S nil 0 swift"),
    .init(#"{"T":"Cache<A, B>"}"#, "service T nil 0 swift"),
    .init("{\n\"U\" : \"V\" }", "service U nil 0 swift"),
    .init(#"{"":"B"}"#, code: "empty-name"), .init(#"{"S":""}"#, code: "empty-name"),
    .init("Home", code: "malformed-json"), .init("{}", code: "malformed-json"),
    .init(#"{"A":"B","C":"D"}"#, code: "several-json-keys"),
    .init(bytes: Array(#"{"A":"B"#.utf8) + [0xff], code: "invalid-utf8"),
  ]

  static let records: [PlantedEntry] =
    good + ordered + badHeads + badNames + badAttributes(.module) + badAttributes(.service)
    + routing

  private init(bytes: [UInt8], _ identities: String..., code: String? = nil) {
    (text, self.identities, self.code) = (bytes, identities, code)
  }

  /// Makes a typed record of these fields.
  private init(
    _ kind: Kind, _ fields: [String], _ identities: [String] = [], code: String? = nil
  ) {
    text = fields.flatMap { Array($0.utf8) + [0] }
    (self.identities, self.code) = (identities, code)
    abi = fields.first { $0.hasPrefix("abi=") }.map { String($0.dropFirst(4)) }
    head = Head(kind: kind.rawValue)
  }

  /// Makes a module that starts after others.
  private init(_ module: String, requires: [String] = [], after: [String] = []) {
    let attributes = requires.map { "requires=\($0)" } + after.map { "after=\($0)" }
    self.init(.module, [module, ""] + attributes, ["module \(module)"])
    order = (module, requires, after)
  }

  private enum Kind: UInt16 {
    case module = 1
    case service, target, route
    case theirs = 0x8001
  }

  private static let good: [PlantedEntry] = [
    .init(.module, ["A"], ["module A"]), .init(.module, ["C", "", "level=basic"], ["module C"]),
    .init(.module, ["D", "", "async=true", "priority=-5", "version=1.2"], ["module D"]),
    .init(.module, ["E", "&ops", "abi=c-module", "level=normal"], ["module E"]),
    .init(.module, ["A", "", "scope=weak"], ["module A"]),
    .init(.service, ["S", "X"], ["service S nil 0 swift"]),
    .init(.service, ["S", "X", "name=en"], ["service S en 0 swift"]),
    .init(.service, ["S", "Y", "priority=5"], ["service S nil 5 swift"]),
    .init(
      .service, ["S", "Z", "abi=c-table", "scope=singleton"], ["service S nil 0 c"]),
    .init(.service, ["S", "Z", "abi=other-table"], ["service S nil 0 c"]),
    .init(.service, ["T", "Z", "abi=c-factory", "colour="], ["service T nil 0 c"]),
    .init(
      .target, ["shop", "", "abi=c-target", "action=stock(sku: String) -> Int"], ["target shop"]),
    .init(.target, ["shop", "", "action=price(of: Item?) async throws -> Price"], ["target shop"]),
    .init(.route, ["app://a/:id", "f", "abi=c-route"], ["route a/: 0"]),
    .init(.route, ["app://a/:other", "f", "remote=elevated"], ["route a/: 0"]),
    .init(.route, ["app://a/:id", "f", "priority=2", "returns=Page"], ["route a/: 2"]),
    .init(.route, ["app://a(/:id)?q<Int>", "f"], ["route a 0", "route a/: 0"]),
    .init(.route, ["app://a", "f", "match=prefix"], ["route a/* 0"]),
    .init(.route, ["app://a/*rest", "f", "match=exact"], ["route a/* 0"]),
    .init(.route, ["APP://a/:name", "f", "priority=2"], ["route a/: 2"]),
    .init(.route, ["app://b/:id<Sometype>", "f"], ["route b/:<Sometype> 0"]),
    .init(.route, ["app://b/:id<Int>?x", "f"], ["route b/:<Int> 0"]),
    .init(.route, ["app://b/:number<int>?y", "f"], ["route b/:<Int> 0"]),
    .init(.theirs, ["anything", "", "scope=bizarre", "level=x"]),
  ]

  /// The modules that start after others, in cycles or after missing modules.
  static let orderedNames = ["P", "Q", "R", "V", "W"]

  private static let ordered: [PlantedEntry] = [
    .init("P", requires: ["Q"]), .init("P", after: ["R", "W"]), .init("P"),
    .init("Q", requires: ["R"]), .init("Q", after: ["P"]), .init("Q", requires: ["V", "P"]),
    .init("R", requires: ["P"]), .init("R", after: ["Q"]), .init("R"),
    .init("V", requires: ["V"]), .init("V", after: ["V"]),
    .init("V", requires: ["W"], after: ["P"]),
    .init("W", requires: ["nowhere"]), .init("W", requires: ["P"], after: ["nowhere"]), .init("W"),
  ]

  private static let badHeads: [PlantedEntry] = [
    (Head(size: 24), "bad-record-size"), (Head(size: 260), "bad-record-size"),
    (Head(size: 1 << 20), "bad-record-size"), (Head(version: 7), "unknown-version"),
    (Head(kind: 0), "unknown-kind"), (Head(kind: 77), "unknown-kind"),
    (Head(textOffset: 31), "bad-text-offset"), (Head(textOffset: 256), "bad-text-offset"),
  ].map { head, code in
    var entry = PlantedEntry(.module, ["A"], code: code)
    entry.head = head
    return entry
  }

  private static let badNames: [PlantedEntry] = {
    var unterminated = PlantedEntry(.module, [], code: "unterminated-text")
    unterminated.text = Array(repeating: 0x41, count: PlantedLibrary.recordSize - 32)
    var invalid = PlantedEntry(.service, [], code: "invalid-utf8")
    invalid.text = [0xc3, 0x28, 0, 0x41, 0]
    var implementation = invalid
    implementation.text = [0x41, 0, 0xff, 0]
    var attribute = invalid
    attribute.text = Array("A\0B\0name=".utf8) + [0xff, 0]
    return [
      unterminated, invalid, implementation, attribute, .init(.target, [""], code: "empty-name"),
    ]
  }()

  private static func badAttributes(_ kind: Kind) -> [PlantedEntry] {
    [
      "nothing", "=x", "priority=much", "priority=99999999999", "name=", "requires=",
      "level=basics", "level=", "async=yes", "scope=singelton", "scope=", "abi=",
      "version=", "version=new", "version=1..2", "requires=A >=new", "requires=A >= 1",
      "requires=A <1 >2",
    ].map { .init(kind, ["A", "B", $0], code: "bad-attribute") } + [
      .init(
        kind, ["A", "B"] + (kind == .service ? ["shared=x"] : ["name=a", "name=b"]),
        code: "bad-attribute")
    ]
  }

  private static let routing: [PlantedEntry] = [
    .init(.route, ["app://x/(y", "f"], code: "bad-pattern"),
    .init(.route, ["app://x/:", "f"], code: "bad-pattern"),
    .init(.route, ["app://x/a b", "f", "abi=c-route"], code: "bad-pattern"),
    .init(.route, ["app://x?n<Int>=zz", "f"], code: "bad-pattern"),
    .init(.route, ["app://x/y", "f", "match=suffix"], code: "bad-attribute"),
    .init(.route, ["app://x/y", "f", "remote=yes"], code: "bad-attribute"),
    .init(
      .route, ["app://x/y", "f", "abi=c-route", "returns=Page"], code: "unknown-type"),
    .init(.target, ["t", "", "action=stock"], code: "bad-action"),
    .init(.target, ["t", "", "action=a(", "abi=c-target"], code: "bad-action"),
    .init(.target, ["t", "", "action=a()", "action=a(b: Int)"], code: "bad-action"),
    .init(
      .target, ["t", "", "abi=c-target", "action=a(b: Int = zz)"], code: "bad-action"),
    .init(
      .target, ["t", "", "abi=c-target", "action=a(b: Item)"], code: "unknown-type"),
    .init(.target, ["t", "", "abi=c-target", "action=a() -> Item"], code: "unknown-type"),
  ]
}
