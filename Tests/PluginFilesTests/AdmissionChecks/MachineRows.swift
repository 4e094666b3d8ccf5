import Foundation
import PluginFiles
import TestSupport
import Testing

/// Plugins that are made for another process, and plugins whose needs are not there.
extension AdmissionChecksTests {
  private static let runtimeNote = #"""
    __asm__(".pushsection .note.beehive.runtime,\"a\",%note\n.balign 4\n"
            ".long 8, 4, 0x42454502\n.asciz \"Beehive\"\n.long 1\n.popsection");

    """#

  private static func bringRuntime(_ folder: AdmissionFolder) throws {
    let along = try folder.library(
      "plugins/libsecond.so", runtimeNote + "int second(void) { return 1; }",
      ["-Wl,-soname,libsecond.so"])
    try folder.plugin("x", calling("second"), along, "-Wl,-rpath,$ORIGIN")
  }

  private static func foreign(_ what: String, _ machine: String, _ says: [String]) -> Row {
    Row(what, "wrong-machine", says) { folder in
      try Needs.programs("clang", "ld.lld")
      try folder.plugin(
        "x", with: "clang", "--target=\(machine)-linux-gnu", "-ffreestanding", "-nostdlib",
        "-fuse-ld=lld")
    }
  }

  static let machines: [Row] = [
    foreign("another machine", "aarch64", ["made for aarch64", "the host for x86_64"]),
    foreign("another word size", "i386", ["i386 (32 bits"]),
    Row("another system", "wrong-abi", ["EI_OSABI 9", "EI_OSABI 0"]) {
      // 9 is FreeBSD.
      try $0.patch($0.plugin("x"), at: 7, with: Data([9]))
    },
    Row("a newer toolkit", "toolkit-version", ["version 2", "version 1"]) {
      // The first word of the note, after its owner.
      try $0.patch($0.plugin("x"), after: Data("\u{1}EEBBeehive\0".utf8), with: Data([2]))
    },
    Row("a runtime of its own", "own-runtime") { try $0.plugin("x", with(runtimeNote)) },
    Row("a runtime that comes along, where the host has none") { try bringRuntime($0) },
    Row("a runtime that comes along beside the host's", "own-runtime", ["libsecond.so", "host"]) {
      try $0.host(runtimeNote + "int main(void) { return 0; }")
      try bringRuntime($0)
    },
  ]

  static let symbols: [Row] = [
    Row("a library that is gone", "missing-library", ["libgone.so"]) { folder in
      let gone = try folder.library(
        "libgone.so", "int gone(void) { return 1; }", ["-Wl,-soname,libgone.so"])
      try folder.plugin("x", calling("gone"), gone)
      try FileManager.default.removeItem(atPath: gone)
    },
    Row("a symbol that is nowhere", "undefined-symbol", ["not_there"]) {
      try $0.plugin("x", calling("not_there"))
    },
    Row("a symbol that is nowhere, and weak") {
      try $0.plugin(
        "x",
        with(
          """
          __attribute__((weak)) int not_there(void);
          int use(void); int use(void) { return not_there ? not_there() : 0; }
          """))
    },
    Row("a symbol of the host") { folder in
      try folder.host(
        "int of_host(void); int of_host(void) { return 1; } int main(void) { return 0; }",
        "-rdynamic")
      try folder.plugin("x", calling("of_host"))
    },
    Row("data of the host that is called", "contract-drift", ["of_host as a function", "data"]) {
      try $0.host("int of_host; int main(void) { return 0; }", "-rdynamic")
      try $0.plugin("x", calling("of_host"))
    },
    Row("data of the C library that is called", "contract-drift", ["as a function, and in libc."]) {
      try $0.plugin("x", with("long timezone(void); long use(void) { return timezone(); }"))
    },
    Row("data of the host for each thread", "contract-drift", ["thread-local data, and"]) {
      try $0.host("int of_host; int main(void) { return 0; }", "-rdynamic")
      try $0.plugin("x", with("extern __thread int of_host; int *use(void) { return &of_host; }"))
    },
    Row("a function of the host that another chooses") {
      try $0.host(
        """
        static int one(void) { return 1; }
        static int (*choose(void))(void) { return one; }
        int of_host(void) __attribute__((ifunc("choose")));
        int main(void) { return 0; }
        """, "-rdynamic")
      try $0.plugin("x", calling("of_host"))
    },
    Row(
      "a symbol of what comes along, which is hidden there", "undefined-symbol", ["along"]
    ) { folder in
      var bytes = try LinkedBytes(bringAlong(folder))
      let (symbols, names) = (
        try bytes.place(of: bytes.value(6)), try bytes.place(of: bytes.value(5))
      )
      let symbol = stride(from: symbols, to: names, by: 24).first {
        bytes.text(at: names + bytes.number(at: $0, size: 4)) == "along"
      }
      bytes.put(2, at: try #require(symbol) + 5, size: 1)
      try bytes.write()
    },
    Row(
      "versions of a library that it does not need", "not-loadable",
      ["libanswer.so", "no file links that library by this name"]
    ) { folder in
      let path = try folder.plugin(
        "x",
        with(
          "__attribute__((weak)) int answer(void); int use(void); int use(void) { return answer ? 1 : 0; }"
        ), "-Wl,--no-as-needed", folder.answer("ONE { global: answer; };"), "-Wl,-rpath,$ORIGIN")
      var bytes = try LinkedBytes(path)
      let names = try bytes.place(of: bytes.value(5))
      for tag in stride(
        from: try bytes.dynamic().lowerBound, to: try bytes.dynamic().upperBound, by: 16)
      where bytes.number(at: tag) == 1
        && bytes.text(at: names + bytes.number(at: tag + 8)) == "libanswer.so"
      {
        // DT_DEBUG has no meaning here.
        bytes.put(21, at: tag)
      }
      try bytes.write()
    },
    Row("a symbol of what comes along") { try bringAlong($0) },
    Row("another version of a symbol", "undefined-symbol", ["answer@NEW", "neither"]) { folder in
      func script(_ version: String) -> String { "\(version) { global: answer; local: *; };" }
      try folder.plugin("x", calling("answer"), folder.answer(script("NEW")), "-Wl,-rpath,$ORIGIN")
      _ = try folder.answer(script("OLD"))
    },
  ]
}
