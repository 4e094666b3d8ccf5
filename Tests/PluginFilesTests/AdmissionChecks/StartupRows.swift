import Foundation
import PluginFiles
import TestSupport
import Testing

/// Code that runs before anybody asks for it.
extension AdmissionChecksTests {
  private static let watching = with("__attribute__((constructor)) static void watch(void) {}")

  /// Appends a dynamic section with one constructor less, and makes a program header lead to it.
  private static func hide(_ bytes: inout LinkedBytes, at header: Int) throws {
    let (own, size) = (try bytes.dynamic(), try bytes.tag(27))
    let less = bytes.number(at: size + 8) - 8
    let copy = bytes.append(Array(bytes.bytes[own]))
    bytes.put(less, at: copy + size - own.lowerBound + 8)
    bytes.put(copy, at: header + 8)
  }

  static let startup: [Row] = [
    Row(
      "a constructor, where another dynamic section is told than is loaded", "runs-at-startup",
      ["watch"], policy: anchorOnly
    ) { try $0.changed(watching) { try hide(&$0, at: #require($0.segments(2).first)) } },
    Row(
      "a constructor, of the second of two dynamic sections", "runs-at-startup", ["watch"],
      policy: anchorOnly
    ) {
      try $0.changed(watching) { bytes in
        let (first, later) = (
          try #require(bytes.segments(2).first), try #require(bytes.segments(0x6474_e550).first)
        )
        precondition(first < later)
        for place in stride(from: 0, to: 56, by: 8) {
          bytes.put(bytes.number(at: first + place), at: later + place)
        }
        try hide(&bytes, at: first)
      }
    },
    Row(
      "a constructor, behind the end that the dynamic section claims", "runs-at-startup", ["watch"],
      policy: anchorOnly
    ) {
      try $0.changed(watching) { bytes in
        let header = try #require(bytes.segments(2).first)
        let (start, array) = (try bytes.dynamic().lowerBound, try bytes.tag(25))
        bytes.put(array - start, at: header + 32)
      }
    },
    Row("a constructor", "runs-at-startup", ["watch"], policy: anchorOnly) {
      try $0.plugin("x", watching)
    },
    Row("a constructor, where that is admitted") {
      try $0.plugin("x", watching)
    },
    Row("a resolver of its own", "runs-at-startup", ["choose"], policy: anchorOnly) {
      try $0.plugin(
        "x",
        with(
          """
          static int answer(void) { return 42; }
          static int (*choose(void))(void) { return answer; }
          static int inner(void) __attribute__((ifunc("choose")));
          int call(void); int call(void) { return inner(); }
          """))
    },
    linked(
      "a stripped one, of which no name can be seen", "runs-at-startup",
      ["a function without a name"], policy: anchorOnly, with: "-s"),
    Row(
      "a constructor of what it brings along", "runs-at-startup",
      ["libalong.so, which it brings along, runs arrive"], policy: anchorOnly
    ) { folder in
      try bringAlong(
        folder,
        "int along(void) { return 1; } __attribute__((constructor)) static void arrive(void) {}")
    },
    linked("an auxiliary library", policy: anchorOnly, with: "-Wl,--auxiliary,libnone.so"),
    Row("an _init of its own", "runs-at-startup", ["_init"], policy: anchorOnly) {
      try $0.plugin("x", with("void _init(void); void _init(void) {}"), "-nostartfiles")
    },
    Row(
      "a second tag that hides what the loader runs", "runs-at-startup", ["hidden"],
      policy: anchorOnly
    ) { folder in
      let path = try folder.plugin("x", with("void hidden(void); void hidden(void) {}"))
      let lines = try Command.output("nm", [path]).split(separator: "\n")
      let line = try #require(lines.first { $0.hasSuffix(" hidden") })
      let address = try #require(UInt64(line.prefix(16), radix: 16))
      // DT_RELACOUNT becomes a later DT_INIT.
      func word(_ number: UInt64) -> Data {
        Data((0..<8).map { UInt8(truncatingIfNeeded: number >> (8 * $0)) })
      }
      try folder.patch(path, at: -8, after: word(0x6fff_fff9), with: word(12) + word(address))
    },
  ]
}
