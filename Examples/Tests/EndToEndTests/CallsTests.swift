import Foundation
import Testing

/// Every function of runtime.h, called wherever code of a host may be: each comes back with an answer or an error.
@Suite struct CallsTests {
  /// The place of the calls.
  enum Place: String, CaseIterable, CustomTestStringConvertible {
    case main, thread, pool, setUp, initialize, splash, tearDown, unmount, event, create, destroy,
      atexit, child, mainActor, constructor, destructor

    var testDescription: String { rawValue }

    /// Whether the main thread waits in the Hive, and so serves the main actor of a module, or is free.
    var servesMainActor: Bool { ![.thread, .pool].contains(self) }
  }

  @Test("It comes back", .mayHang, arguments: Place.allCases)
  func comesBack(place: Place) throws {
    let workshop = try Workshop()
    let host = try workshop.hostInC(
      Workshop.prologueInC + Repository.fixture("Hosts/calls.c"), ["-rdynamic", "-lTestContracts"])
    try workshop.library("calls", Repository.fixture("Hosts/called.c"))
    let plugin = place.servesMainActor ? [Program.product("SwiftPlugin")] : []
    let said = try workshop.output(host, [place.rawValue] + plugin)
    #expect(said.contains("came through"), "\(said)")
    #expect(
      said.hasSuffix("end\n") || place == .atexit || place == .destructor || place == .mainActor,
      "\(said)")
  }

  @Test("None is missing: of runtime.h, and of what a context offers") func every() throws {
    let host = try Repository.fixture("Hosts/calls.c")
    let header = "CSupport/CBeeHive/include/beehive/"
    let declared = try ["runtime.h", "context.h"].flatMap { name in
      try Repository.text(header + name)
        .matches(of: /(?m)^(?:static inline )?(?:const )?[a-z_]+ \*?(beehive_[a-z_]+)\(/)
        .map { String($0.1) }
    }
    #expect(declared.count > 24, "\(declared)")
    // Registering and overriding are macros that call these; the last error is what TRY prints.
    let missing = declared.filter { name in
      let called = name.hasSuffix("_at") ? String(name.dropLast(3)) : name
      return !host.contains("\(called)(") && name != "beehive_last_error"
    }
    #expect(missing == [])
  }
}
