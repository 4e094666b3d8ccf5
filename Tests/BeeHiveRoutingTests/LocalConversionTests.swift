import BeeHive
import BeeHiveRouting
import Testing

/// Calls from code convert their arguments as calls by URL do.
@Suite struct LocalConversionTests {
  /// A target whose actions answer with their argument.
  private struct Scale: Target {
    static let actions: [Action<Scale>] = [
      action(Double.self), action(Float.self), action(Int.self), action(Int32.self),
      action(UInt64.self), action(Bool.self), action(String.self), action(Currency.self),
      action(Double?.self), action([Double].self), action(UUIDValue.self),
    ]

    static func action<Value: Sendable>(_ type: Value.Type) -> Action<Scale> {
      Action("\(type)", [Parameter("x", type)], exposure: .remote) { _, arguments in
        let value: Value = try arguments["x"]
        return "\(value)"
      }
    }
  }

  private let mediator = Mediator()

  init() throws { try mediator.register("scale") { Scale() } }

  private func weigh(_ value: any Sendable, as type: Any.Type) async throws -> String {
    try await mediator.perform("scale", "\(type)", ["x": value])
  }

  @Test("A Double is made of 2, an enum of its name, a number of its digits")
  func converts() async throws {
    #expect(try await weigh(2, as: Double.self) == "2.0")
    #expect(try await weigh(2, as: Double?.self) == "Optional(2.0)")
    #expect(try await weigh([1, 2], as: [Double].self) == "[1.0, 2.0]")
    #expect(try await weigh("yen", as: Currency.self) == "yen")
    #expect(try await weigh("7", as: Int.self) == "7")
    #expect(try await weigh(7, as: Int32.self) == "7")
    #expect(try await weigh(9_007_199_254_740_993, as: UInt64.self) == "9007199254740993")
    #expect(try await weigh(0.1, as: Float.self) == "0.1")
    #expect(try await weigh("true", as: Bool.self) == "true")
    let uuid = "621425b8-42d1-4ab4-9a58-1e69d708a84b"
    #expect(try await weigh(uuid, as: UUIDValue.self) == uuid.uppercased())
  }

  @Test(
    "What would lose something is refused, with both types",
    arguments: [
      (2.5, Int.self), (9_007_199_254_740_993, Double.self), (16_777_217, Float.self),
      (1.0 / 3, Float.self), (1 << 40, Int32.self), (-1, UInt64.self), (2, Bool.self),
      ("dollar", Currency.self), ("2.5", Int.self), (7, String.self),
      (Currency.yen, String.self), (Int?.none as any Sendable, Double.self),
    ] as [(any Sendable, Any.Type)])
  func lossless(value: any Sendable, type: Any.Type) async {
    let error = await #expect(throws: RoutingError.self) { try await weigh(value, as: type) }
    #expect(error?.code == .wrongParameter && error?.key == "x")
    let given =
      (value as? String).map { "the text \"\($0)\"" } ?? "a value of type \(Swift.type(of: value))"
    #expect(error?.message.contains("is to be of type \(type)") == true, "\(error?.message ?? "")")
    #expect(error?.message.hasSuffix("and is given \(given)") == true, "\(error?.message ?? "")")
  }

  @Test func `A URL and a call from code give the same value`() async throws {
    let hive = Hive()
    try hive.mediator.register("scale") { Scale() }
    for (text, type) in [("2", "Double"), ("yen", "Currency"), ("1", "Bool"), ("007", "Int")] {
      let local: String = try await mediator.perform("scale", type, ["x": text])
      let remote =
        try await hive.router.open("app://scale/\(type)?x=\(text)", origin: .remote) as? String
      #expect(local == remote)
    }
  }

  @Test func `Nil is not given: the default takes its place`() async throws {
    try mediator.register("shop") { ShopTarget() }
    let currency: Currency? = nil
    let price: Price = try await mediator.perform(
      "shop", "price", Arguments(given: ["sku": "a", "currency": currency, "count": 2]))
    #expect(price == Price(cents: 200, currency: .euro))
  }
}
