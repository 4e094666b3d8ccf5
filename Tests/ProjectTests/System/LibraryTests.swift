import Foundation
import TestSupport
import Testing

/// What every host loads: `libBeeHive.so`, as it was built with the tests.
@Suite struct LibraryTests {
  private static let library = Repository.products.appendingPathComponent("libBeeHive.so").path

  @Test("does not bring Foundation along, which costs milliseconds of start-up") func isLean()
    throws
  {
    let needed = try Command.output("readelf", ["-dW", Self.library]).split(separator: "\n")
      .filter { $0.contains("(NEEDED)") }
    #expect(needed.contains { $0.contains("libelf.so") })
    #expect(!needed.contains { $0.contains("Foundation") }, "\(needed)")
  }

  /// Its notes say that it is the runtime and where its state is; an anchor's note would say that it
  /// declares entries.
  @Test("says that it is the runtime, and declares nothing") func notes() throws {
    let notes = try Command.output("readelf", ["-nW", Self.library]).split(separator: "\n")
      .filter { $0.contains("Beehive") }
    #expect(notes.contains { $0.contains("42454502") }, "\(notes)")
    #expect(notes.contains { $0.contains("42454503") }, "\(notes)")
    #expect(!notes.contains { $0.contains("42454501") }, "\(notes)")
  }
}
