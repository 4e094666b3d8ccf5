import Registration
import TestSupport
import Testing

@Suite("What services need is judged by names, as a lookup would answer", .mayHang)
struct ServiceNeedsTests {
  /// Returns the entries of a text: names with attributes. Names of modules begin with a small letter; `+` is a blank.
  private static func needs(_ text: String) throws -> ServiceNeeds {
    let members = try text.split(separator: ";").map { text -> ServiceNeeds.Member in
      let words = text.split(separator: " ").map { String($0.map { $0 == "+" ? " " : $0 }) }
      let kind: RecordKind = words[0].first?.isLowercase == true ? .module : .service
      let attributes = try Attributes(texts: Array(words.dropFirst()), of: kind, named: words[0])
      return (kind, words[0], attributes)
    }
    return ServiceNeeds(of: members)
  }

  /// Returns each fault with its positions, then the needs that nothing meets.
  private static func found(_ text: String) throws -> [String] {
    let needs = try needs(text)
    let faults = needs.faults { "\($0)" }
    return faults.map { "\($0.code)\($0.positions)" }
      + needs.answers.joined().filter { $0.service == nil }.map { "unmet \($0.need)" }
  }

  @Test(
    arguments: [
      // An entry that outlives a scope may not need a scoped one, directly or through a transient one.
      ("Audit scope=singleton needs=Conn; Conn scope=scoped", ["scoped-need[0, 1]"]),
      ("Audit scope=weak needs=Conn; Conn scope=scoped", ["scoped-need[0, 1]"]),
      ("shop needs=Conn; Conn scope=scoped", ["scoped-need[0, 1]"]),
      ("shop needs=M; M needs=Box; Box needs=Conn; Conn scope=scoped", ["scoped-need[0, 3]"]),
      ("Mail needs=Conn; Cart scope=scoped needs=Conn; Conn scope=scoped", []),
      ("m needs=B; B scope=weak needs=Conn; Conn scope=scoped", ["scoped-need[1, 2]"]),
      ("m needs=T abi=c-module; T scope=scoped abi=c-table", []),
      // Either name may be qualified in Swift. In C a name means itself, and a service in C.
      ("m needs=Shop.Conn; Conn scope=scoped", ["scoped-need[0, 1]"]),
      ("m needs=any+Conn; Shop.Conn scope=scoped", ["scoped-need[0, 1]"]),
      ("m needs=Box<any+A>; Box<any+A> scope=scoped", ["scoped-need[0, 1]"]),
      ("m needs=Conn abi=c-module; Conn scope=scoped abi=c-factory", ["scoped-need[0, 1]"]),
      ("m needs=Conn abi=c-module; Conn scope=scoped", ["unmet Conn"]),
      ("m needs=Conn; Conn scope=scoped abi=c-factory", ["unmet Conn"]),
      ("m needs=Conn abi=c-module; Shop.Conn scope=scoped abi=c-factory", ["unmet Conn"]),
      ("m needs=onn; Conn scope=scoped", ["unmet onn"]),
      // The largest priority answers, and services without a given name go first. Only certain faults are found.
      ("m needs=Conn; Conn scope=scoped; Conn priority=1", []),
      ("m needs=Conn; Conn scope=scoped priority=2; Conn", ["scoped-need[0, 1]"]),
      ("m needs=Conn; Conn scope=scoped name=a priority=2; Conn", []),
      ("m needs=Conn; Conn scope=scoped name=a", ["scoped-need[0, 1]"]),
      ("m needs=Conn; Conn scope=scoped; Conn scope=scoped", []),
      ("m needs=Conn; Bank.Conn scope=scoped; Shop.Conn scope=scoped", []),
      // Cycles are found in all scopes.
      ("A scope=singleton needs=B; B needs=A needs=C; C", ["cycle[0, 1]"]),
      ("A needs=A", ["cycle[0]"]),
    ] as [(String, [String])])
  func faults(entries: String, expected: [String]) throws {
    #expect(try Self.found(entries) == expected, "\(entries)")
  }

  @Test("says both places and what to do")
  func sentences() throws {
    let text = "A scope=singleton needs=M; M needs=Conn; Conn scope=scoped; B needs=C; C needs=B"
    let faults = try Self.needs(text).faults { "lib\($0).so" }.map(\.conflict)
    #expect(
      faults.map { "\($0.message): \($0.remedy)" } == [
        "singleton service A needs M (lib1.so), and through it the scoped service Conn (lib2.so), "
          + "which A would outlive: let it open a scope and ask the scope, or make it scoped too",
        "services B → C → B need each other, so none of them can be made (lib3.so, lib4.so): "
          + "drop one of these needs",
      ])
  }

  @Test("takes time by the number of entries, however alike their names are")
  func growth() throws {
    let alike = (0..<5_000).map { "S\($0).A needs=A; A priority=\($0) needs=N\($0).A" }
    #expect(try Self.found(alike.joined(separator: ";")) == ["cycle[9999]"])
    let chain = (0..<5_000).map { "S\($0) needs=S\($0 + 1);" }.joined()
    #expect(try Self.found(chain + "S5000 scope=scoped; m needs=S0") == ["scoped-need[5001, 5000]"])
  }
}
