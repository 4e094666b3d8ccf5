import Foundation
import TestSupport
import Testing

/// The library that every host loads: `libBeeHive.so`, as it was built with the tests.
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

  /// Every Swift module names the library of regular expressions as needed, unless it is compiled with
  /// `-disable-implicit-string-processing-module-import`. A package may not set that flag, so the library is there and
  /// unused. A build with the flag needs neither the library nor its parser.
  @Test("uses nothing of Swift's regular expressions") func usesNoStringProcessing() throws {
    let undefined = try Command.output("nm", ["-D", "--undefined-only", Self.library])
      .split(separator: "\n")
    #expect(undefined.contains { $0.contains("swift_retain") })
    let used = undefined.filter { $0.contains("_StringProcessing") || $0.contains("_RegexParser") }
    #expect(used.isEmpty, "\(used)")
  }

  /// The library's notes mark it as the runtime and locate its state. An anchor's note would claim that it declares
  /// entries.
  @Test("says that it is the runtime, and declares nothing") func notes() throws {
    let notes = try Command.output("readelf", ["-nW", Self.library]).split(separator: "\n")
      .filter { $0.contains("Beehive") }
    #expect(notes.contains { $0.contains("42454502") }, "\(notes)")
    #expect(notes.contains { $0.contains("42454503") }, "\(notes)")
    #expect(!notes.contains { $0.contains("42454501") }, "\(notes)")
  }
}
