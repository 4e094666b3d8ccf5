import Registration
import Testing

@Suite("What a route or a target says by itself is judged when its record is read")
struct RoutingRulesTests {
  @Test(
    "Types that every process has: a default that they do not hold, and where they cannot be",
    arguments: [
      (4, ["app://y?n<Int>=zz"], Rejection.Reason.badPattern, #"the default of n is no Int: "zz""#),
      (4, ["app://y?n<Bool>=maybe"], .badPattern, "the default of n is no Bool"),
      (4, ["app://y?n<Double>=1e999"], .badPattern, "the default of n is no Double"),
      (4, ["app://y?n<float>=nan"], .badPattern, "the default of n is no float"),
      (4, ["app://y?n<UUID>=7"], .badPattern, "the default of n is no UUID"),
      (4, ["app://y?q<Path>"], .badPattern, "a Path takes what is left of the path"),
      (4, ["app://y?n<Foo>=zz&m<Int>=%2B7&s=&b<Bool>=&u<Double?>=1"], nil, ""),
      (3, ["t", "", "abi=c-target", "action=a(x: Int = zz)"], .badAction, "of x is no Int"),
      (3, ["t", "", "abi=c-target", "action=a(x: Bool? = 2)"], .badAction, "of x is no Bool"),
      (3, ["t", "", "abi=c-target", #"action=a(x: Int = "5", s: String = zz)"#], nil, ""),
      (3, ["t", "", "action=a(x: Int = .zero)"], nil, ""),
      (3, ["t", "", "action=remote nativeX()"], .badAction, "are never remote"),
      (3, ["t", "", "action=elevated %6eativeX()"], .badAction, "byte"),
      (3, ["t", "", "action=nativeX()"], nil, ""),
    ] as [(UInt16, [String], Rejection.Reason?, String)])
  func judged(_ kind: UInt16, _ texts: [String], _ reason: Rejection.Reason?, _ text: String) throws
  {
    var image = HandmadeImage()
    let table = image.map([1, 2, 3, 4])
    image.addSection("BeehiveRecords", image.record(kind: kind, texts, context: table))
    let scan = try Scan(of: image)
    #expect(scan.records.count == (reason == nil ? 1 : 0))
    #expect(scan.rejections.map(\.reason) == (reason.map { [$0] } ?? []))
    let message = scan.rejections.first?.message ?? ""
    #expect(text.isEmpty || message.contains(text), "\(message)")
  }
}
