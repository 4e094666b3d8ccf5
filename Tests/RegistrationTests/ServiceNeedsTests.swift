import Registration
import Testing

@Suite("What services need is judged by names, as a lookup would answer", .timeLimit(.minutes(5)))
struct ServiceNeedsTests {
  /// The member of a text: its kind, its name and its attributes.
  private func member(_ text: String) throws -> ServiceNeeds.Member {
    let words = text.split(separator: ",").map(String.init)
    let kind: RecordKind = words[0] == "module" ? .module : .service
    let attributes = try Attributes(texts: Array(words.dropFirst(2)), of: kind, named: words[1])
    return (kind, words[1], attributes)
  }

  /// What is found among entries: each fault with the positions that it concerns, then needs that nobody meets.
  private func found(_ texts: [String]) throws -> [String] {
    let needs = ServiceNeeds(of: try texts.map(member))
    let faults = needs.faults { "at \($0)" }.map { fault in
      "\(fault.code) \(fault.positions.map(String.init).joined(separator: " "))"
    }
    let unmet = needs.answers.enumerated().flatMap { position, answers in
      answers.filter { $0.service == nil }.map { "unmet \(position) \($0.need)" }
    }
    return faults + unmet
  }

  private static let scoped = "service,Conn,scope=scoped"
  private static let inC = "abi=c-factory"

  @Test(
    arguments: [
      // What outlives a scope may not need what lives in one, directly or through what is made anew.
      (["service,Audit,scope=singleton,needs=Conn", scoped], ["scoped-need 0 1"]),
      (["service,Audit,scope=weak,needs=Conn", scoped], ["scoped-need 0 1"]),
      (["module,shop,needs=Conn", scoped], ["scoped-need 0 1"]),
      (
        [
          "service,Audit,scope=singleton,needs=Mail", "service,Mail,needs=Box",
          "service,Box,needs=Conn", scoped,
        ],
        ["scoped-need 0 3"]
      ),
      (["service,Mail,needs=Conn", "service,Cart,scope=scoped,needs=Conn", scoped], []),
      (
        ["service,A,scope=singleton,needs=B", "service,B,scope=singleton,needs=Conn", scoped],
        ["scoped-need 1 2"]
      ),
      (
        ["service,A,scope=singleton,needs=T,\(inC)", "service,T,scope=scoped,abi=c-table"], []
      ),
      // Either name may be qualified in Swift; in C a name means itself, and a service in C.
      (["module,m,needs=Shop.Conn", scoped], ["scoped-need 0 1"]),
      (["module,m,needs=any Conn", "service,Shop.Conn,scope=scoped"], ["scoped-need 0 1"]),
      (["module,m,needs=Box<any A>", "service,Box<any A>,scope=scoped"], ["scoped-need 0 1"]),
      (["module,m,needs=Conn,\(inC)", scoped], ["unmet 0 Conn"]),
      (["module,m,needs=Conn", scoped + ",\(inC)"], ["unmet 0 Conn"]),
      (["module,m,needs=Conn,\(inC)", "service,Shop.Conn,scope=scoped,\(inC)"], ["unmet 0 Conn"]),
      (["module,m,needs=onn", scoped], ["unmet 0 onn"]),
      // The largest priority answers, and first what has no given name; nothing is said of what is not certain.
      (["module,m,needs=Conn", scoped, "service,Conn,priority=1"], []),
      (
        ["module,m,needs=Conn", scoped + ",priority=2", "service,Conn,priority=1"],
        ["scoped-need 0 1"]
      ),
      (["module,m,needs=Conn", scoped + ",name=a,priority=2", "service,Conn"], []),
      (["module,m,needs=Conn", scoped + ",name=a"], ["scoped-need 0 1"]),
      (["module,m,needs=Conn", scoped, scoped], []),
      (
        [
          "module,m,needs=Conn", "service,Bank.Conn,scope=scoped", "service,Shop.Conn,scope=scoped",
        ], []
      ),
      // Cycles, whatever the scopes are.
      (
        ["service,A,scope=singleton,needs=B", "service,B,needs=A,needs=Conn", scoped],
        ["scoped-need 0 2", "cycle 0 1"]
      ),
      (["service,A,needs=A"], ["cycle 0"]),
    ] as [([String], [String])])
  func faults(entries: [String], expected: [String]) throws {
    #expect(try found(entries) == expected, "\(entries)")
  }

  @Test("says both places and what to do")
  func sentences() throws {
    let texts = [
      "service,Audit,scope=singleton,needs=Mail", "service,Mail,needs=Conn", Self.scoped,
      "module,shop,needs=Conn", "service,A,needs=B", "service,B,needs=A",
    ]
    let faults = ServiceNeeds(of: try texts.map(member)).faults { "lib\($0).so" }
    #expect(
      faults.map(\.conflict.message) == [
        "singleton service Audit needs Mail (lib1.so), and through it the scoped service Conn (lib2.so), "
          + "which it would outlive",
        "module shop needs the scoped service Conn (lib2.so), which it would outlive",
        "services A → B → A need each other, so none of them can be made (lib4.so, lib5.so)",
      ])
    #expect(
      faults.map(\.conflict.remedy) == [
        "let it open a scope and ask that, or make it scoped too",
        "let it open a scope and ask that",
        "drop one of these needs",
      ])
  }

  @Test("takes time by the number of entries, however alike their names are")
  func growth() throws {
    let alike = (0..<20_000).flatMap {
      ["service,s\($0).a,needs=a", "service,a,priority=\($0),needs=n\($0).a"]
    }
    #expect(try found(alike) == ["cycle 39999"])
    let chain = (0..<20_000).map { "service,s\($0),needs=s\($0 + 1)" }
    let last = ["service,s20000,scope=scoped", "service,top,scope=singleton,needs=s0"]
    #expect(try found(chain + last) == ["scoped-need 20001 20000"])
  }
}
