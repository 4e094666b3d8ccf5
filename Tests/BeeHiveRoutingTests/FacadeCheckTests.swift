import BeeHiveRouting
import Testing

/// A facade is compiled without its target; a host that has both can compare them.
@Suite struct FacadeCheckTests {
  /// A facade as `@Facade` writes it, with these declarations.
  private struct Fitting: FacadeCalls {
    static let target = "shop"
    static let declarations = [
      "price(sku: String, currency: Currency?) async throws -> Price",
      "nothing() async throws -> Price?",
    ]
    init(_ mediator: Mediator) {}
  }

  private struct Wrong: FacadeCalls {
    static let target = "shop"
    static let declarations = [
      "missing() async throws", "price(sku: String?, color: Int) async throws -> Price",
      "nothing() async throws -> Price?",
    ]
    init(_ mediator: Mediator) {}
  }

  private struct Homeless: FacadeCalls {
    static let target = "account"
    static let declarations = ["missing() async throws", "open() async throws"]
    init(_ mediator: Mediator) {}
  }

  private let mediator = Mediator()

  init() throws { try mediator.register("shop") { ShopTarget() } }

  @Test func `A facade that fits its target passes`() throws {
    try mediator.check(Fitting.self)
  }

  @Test("Every function that the target cannot answer is named at once")
  func lacking() {
    expectError(
      .noAction, saying: "has no action missing", "declares no parameter color",
      "needs the parameter sku"
    ) { try mediator.check(Wrong.self) }
  }

  @Test func `A facade of a target that is not there says so once`() {
    let error = #expect(throws: RoutingError.self) { try mediator.check(Homeless.self) }
    #expect(error?.code == .noTarget)
    #expect(error?.message.matches(of: /no target is named account/).count == 1)
  }
}
