import BinaryImage
import Foundation
import PluginFiles
import TestSupport
import Testing

@Suite("Each check refuses a library that fails it alone")
struct AdmissionChecksTests {
  /// A plugin that is good but for one thing.
  struct Row: Sendable, CustomTestStringConvertible {
    var testDescription: String
    /// What is refused; nothing where it is good.
    var code: String?
    /// What the message has to name: what was found, and what was expected.
    var says: [String] = []
    var policy = PluginPolicy()
    /// Builds or changes the plugin `libx.so`.
    var make: @Sendable (AdmissionFolder) throws -> Void
  }

  private static func policy(_ change: (inout PluginPolicy) -> Void) -> PluginPolicy {
    var policy = PluginPolicy()
    change(&policy)
    return policy
  }

  private static let anchorOnly = policy { $0.startup = .anchor }
  private static let hardened = policy {
    ($0.admitsExecutableStacks, $0.admitsTextRelocations) = (false, false)
  }

  private static func with(_ source: String) -> String {
    AdmissionFolder.head + source + "\nBEEHIVE_MODULE(x, &operations, \"\");\n"
  }

  private static let printing = with(
    "#include <stdio.h>\nint use(void); int use(void) { return puts(\"\"); }")
  private static let watching = with("__attribute__((constructor)) static void watch(void) {}")

  /// Appends a dynamic section that says of one constructor less, and lets a program header lead to it.
  private static func hide(_ bytes: inout LinkedBytes, at header: Int) throws {
    let (own, size) = (try bytes.dynamic(), try bytes.tag(27))
    let less = bytes.number(at: size + 8) - 8
    let copy = bytes.append(Array(bytes.bytes[own]))
    bytes.put(less, at: copy + size - own.lowerBound + 8)
    bytes.put(copy, at: header + 8)
  }

  private static let runtimeNote = #"""
    __asm__(".pushsection .note.beehive.runtime,\"a\",%note\n.balign 4\n"
            ".long 8, 4, 0x42454502\n.asciz \"Beehive\"\n.long 1\n.popsection");

    """#

  private static func bringRuntime(_ folder: AdmissionFolder) throws {
    let along = try folder.library(
      "plugins/libsecond.so", runtimeNote + "int second(void) { return 1; }",
      ["-Wl,-soname,libsecond.so"])
    try folder.plugin(
      "x", with("int second(void); int use(void); int use(void) { return second(); }"), along,
      "-Wl,-rpath,$ORIGIN")
  }

  /// A plugin with one more element in its `.init_array`.
  private static func calling(_ what: String, _ element: String) -> Row {
    Row(
      testDescription: "\(what) that is called", code: "not-loadable",
      says: ["init-array[", "no function"]
    ) {
      try $0.plugin(
        "x", with("__attribute__((used, section(\".init_array\"))) static \(element);"))
    }
  }

  private static let greeter = """
    #include <BeeHive.h>
    static const struct { int (*greet)(void); } table;
    BEEHIVE_SERVICE(Greeter, English, &table, "");
    """

  static let rows: [Row] = [
    Row(testDescription: "a good one, under everything that can be asked", policy: .strict) {
      try $0.plugin("x")
    },
    Row(
      testDescription: "a good one in C++", policy: anchorOnly
    ) { folder in
      try Needs.programs("g++")
      try folder.plugin(
        "x", "#include <BeeHive.h>\nBeeHiveMod(X);", with: "g++", "-x", "c++")
    },
    // Machine
    Row(
      testDescription: "another machine", code: "wrong-machine",
      says: ["made for aarch64", "the host for x86_64"]
    ) { folder in
      try Needs.programs("clang", "ld.lld")
      try folder.plugin(
        "x", with: "clang", "--target=aarch64-linux-gnu", "-ffreestanding", "-nostdlib",
        "-fuse-ld=lld")
    },
    Row(
      testDescription: "another word size", code: "wrong-machine", says: ["i386 (32 bits"]
    ) { folder in
      try Needs.programs("clang", "ld.lld")
      try folder.plugin(
        "x", with: "clang", "--target=i386-linux-gnu", "-ffreestanding", "-nostdlib", "-fuse-ld=lld"
      )
    },
    Row(testDescription: "another system", code: "wrong-abi", says: ["EI_OSABI 9", "EI_OSABI 0"]) {
      // FreeBSD's.
      try $0.patch($0.plugin("x"), at: 7, with: Data([9]))
    },
    Row(
      testDescription: "a newer toolkit", code: "toolkit-version", says: ["version 2", "version 1"]
    ) {
      // The first word of the note, behind its owner.
      try $0.patch($0.plugin("x"), after: Data("\u{1}EEBBeehive\0".utf8), with: Data([2]))
    },
    Row(testDescription: "a runtime of its own", code: "own-runtime") {
      try $0.plugin("x", with(runtimeNote))
    },
    Row(testDescription: "a runtime that comes along, where the host has none") {
      try bringRuntime($0)
    },
    Row(
      testDescription: "a runtime that comes along beside the host's", code: "own-runtime",
      says: ["libsecond.so", "host"]
    ) {
      try $0.host(runtimeNote + "int main(void) { return 0; }")
      try bringRuntime($0)
    },
    // Symbols and libraries
    Row(
      testDescription: "a library that is gone", code: "missing-library", says: ["libgone.so"]
    ) { folder in
      let gone = try folder.library(
        "libgone.so", "int gone(void) { return 1; }", ["-Wl,-soname,libgone.so"])
      try folder.plugin(
        "x", with("int gone(void); int use(void); int use(void) { return gone(); }"), gone)
      try FileManager.default.removeItem(atPath: gone)
    },
    Row(testDescription: "a symbol that is nowhere", code: "undefined-symbol", says: ["not_there"])
    {
      try $0.plugin(
        "x", with("int not_there(void); int use(void); int use(void) { return not_there(); }"))
    },
    Row(testDescription: "a symbol that is nowhere, and weak") {
      try $0.plugin(
        "x",
        with(
          """
          __attribute__((weak)) int not_there(void);
          int use(void); int use(void) { return not_there ? not_there() : 0; }
          """))
    },
    Row(testDescription: "a symbol of the host") { folder in
      try folder.host(
        "int of_host(void); int of_host(void) { return 1; } int main(void) { return 0; }",
        "-rdynamic")
      try folder.plugin(
        "x", with("int of_host(void); int use(void); int use(void) { return of_host(); }"))
    },
    Row(testDescription: "a symbol of what comes along") { folder in
      let along = try folder.library(
        "plugins/libalong.so", "int along(void) { return 1; }", ["-Wl,-soname,libalong.so"])
      try folder.plugin(
        "x", with("int along(void); int use(void); int use(void) { return along(); }"), along,
        "-Wl,-rpath,$ORIGIN")
    },
    Row(
      testDescription: "another version of a symbol", code: "undefined-symbol",
      says: ["answer@NEW", "neither"]
    ) { folder in
      func build(_ version: String) throws -> String {
        try folder.folder.write("\(version) { global: answer; local: *; };", as: "map")
        return try folder.library(
          "plugins/libanswer.so", "int answer(void) { return 1; } // \(version)",
          ["-Wl,-soname,libanswer.so", "-Wl,--version-script,map"])
      }
      let new = try build("NEW")
      try folder.plugin(
        "x", with("int answer(void); int use(void); int use(void) { return answer(); }"), new,
        "-Wl,-rpath,$ORIGIN")
      _ = try build("OLD")
    },
    // Owners
    Row(
      testDescription: "a file that everybody may write to", code: "writable-by-others",
      says: ["0666", "everybody"]
    ) { try AdmissionFolder.mode(0o666, $0.plugin("x")) },
    Row(
      testDescription: "a file that its group may write to", code: "writable-by-others",
      says: ["its group"]
    ) { try AdmissionFolder.mode(0o664, $0.plugin("x")) },
    Row(
      testDescription: "a file that everybody may write to, where that is admitted",
      policy: policy { $0.checksOwners = false }
    ) { try AdmissionFolder.mode(0o666, $0.plugin("x")) },
    Row(
      testDescription: "a folder that everybody may write to", code: "writable-by-others",
      says: ["/plugins that leads to it", "0777"]
    ) {
      try $0.plugin("x")
      try AdmissionFolder.mode(0o777, $0.plugins)
    },
    Row(
      testDescription: "a folder like /tmp, right above the file", code: "writable-by-others"
    ) {
      try $0.plugin("x")
      try AdmissionFolder.mode(0o1777, $0.plugins)
    },
    Row(testDescription: "a folder like /tmp, further up") {
      try $0.plugin("x")
      try AdmissionFolder.mode(0o1777, $0.folder.path)
    },
    Row(
      testDescription: "a link into a folder that everybody may write to",
      code: "writable-by-others", says: ["/elsewhere that leads to it"]
    ) { folder in
      let path = try folder.plugin("x")
      let elsewhere = folder.folder.place("elsewhere").path
      try FileManager.default.createDirectory(
        atPath: elsewhere, withIntermediateDirectories: true)
      try AdmissionFolder.mode(0o777, elsewhere)
      try FileManager.default.moveItem(atPath: path, toPath: "\(elsewhere)/libx.so")
      try FileManager.default.createSymbolicLink(
        atPath: path, withDestinationPath: "../elsewhere/libx.so")
    },
    Row(testDescription: "a file of another user", code: "foreign-owner", says: ["user 4321"]) {
      guard geteuid() == 0 else { try Test.cancel("only root gives files away") }
      try FileManager.default.setAttributes(
        [.ownerAccountID: 4321], ofItemAtPath: $0.plugin("x"))
    },
    Row(testDescription: "a path through .. of a folder that everybody may write to") {
      try $0.plugin("x")
      let open = $0.folder.place("plugins/open").path
      try FileManager.default.createDirectory(atPath: open, withIntermediateDirectories: true)
      try AdmissionFolder.mode(0o777, open)
      #expect(
        try $0.report(in: ["plugins/open/.."]).plugins.map(\.refusals) == [[]])
    },
    // Search paths
    Row(
      testDescription: "a relative search path", code: "unsafe-search-path", says: ["in lib,"]
    ) { try $0.plugin("x", nil, "-Wl,-rpath,lib") },
    Row(
      testDescription: "an empty search path", code: "unsafe-search-path", says: ["an empty path"]
    ) { try $0.plugin("x", nil, "-Wl,-rpath,/usr/lib:") },
    Row(
      testDescription: "a relative search path, where that is admitted",
      policy: policy { $0.checksSearchPaths = false }
    ) { try $0.plugin("x", nil, "-Wl,-rpath,lib") },
    Row(testDescription: "a search path beside the file") {
      try $0.plugin("x", nil, "-Wl,-rpath,$ORIGIN/../plugins")
    },
    Row(
      testDescription: "a search path that others may write to", code: "unsafe-search-path",
      says: ["0777"]
    ) { folder in
      let open = folder.folder.place("open").path
      try FileManager.default.createDirectory(atPath: open, withIntermediateDirectories: true)
      try AdmissionFolder.mode(0o777, open)
      try folder.plugin("x", nil, "-Wl,-rpath,\(open)")
    },
    Row(
      testDescription: "the same, where owners and modes are not looked at",
      policy: policy { $0.checksOwners = false }
    ) { folder in
      let open = folder.folder.place("open").path
      try FileManager.default.createDirectory(atPath: open, withIntermediateDirectories: true)
      try AdmissionFolder.mode(0o777, open)
      try folder.plugin("x", nil, "-Wl,-rpath,\(open)")
    },
    // Hardening
    Row(
      testDescription: "an executable stack", code: "executable-stack", policy: hardened
    ) { try $0.plugin("x", nil, "-Wl,-z,execstack") },
    Row(testDescription: "an executable stack, where that is admitted") {
      try $0.plugin("x", nil, "-Wl,-z,execstack")
    },
    Row(
      testDescription: "relocations of code", code: "text-relocations", policy: hardened
    ) {
      try $0.plugin(
        "x",
        with("__asm__(\".text\\n.quad operations_of_x\\n.data\\noperations_of_x: .quad 1\\n\");"),
        "-Wl,-z,notext")
    },
    // Opening
    Row(
      testDescription: "linked not to be opened", code: "not-loadable", says: ["nodlopen"]
    ) {
      try $0.plugin("x", nil, "-Wl,-z,nodlopen")
    },
    Row(
      testDescription: "segments that do not begin on pages", code: "not-loadable", says: ["pages"]
    ) {
      try $0.plugin("x", nil, "-Wl,-z,max-page-size=1024")
    },
    Row(
      testDescription: "relocations of a size that no loader knows", code: "not-loadable",
      says: ["17 bytes"]
    ) {
      // DT_RELAENT, 24.
      let tag = Data([9, 0, 0, 0, 0, 0, 0, 0])
      try $0.patch(
        $0.plugin("x"), at: -7, after: tag + Data([24, 0, 0, 0, 0, 0, 0]), with: Data([17]))
    },
    Row(
      testDescription: "a program in place of a library", code: "not-loadable",
      says: ["libneeded.so, which it brings along, is not opened", "position-independent"]
    ) {
      let first = try $0.needing("libneeded.so", isThere: false)
      try Compiler.compile(
        "int needed; int main(void) { return 0; }", as: "libneeded.so", in: first,
        ["-pie", "-fPIE", "-rdynamic"])
    },
    Row(
      testDescription: "a library for another system in place of one", code: "wrong-abi",
      says: ["libneeded.so, which it brings along, follows other conventions", "EI_OSABI 97"]
    ) {
      _ = try $0.needing("libneeded.so", isThere: false)
      try $0.patch($0.library("first/libneeded.so", "int needed;"), at: 7, with: Data([97]))
    },
    Row(testDescription: "itself and what the kernel maps, as libraries") {
      for name in ["linux-vdso.so.1", ""] {
        let stand = try $0.library("stand.so", "int stand;", ["-Wl,-soname,\(name)"])
        try $0.plugin("x", nil, "-Wl,--no-as-needed", stand)
      }
    },
    Row(testDescription: "no section headers, in C") {
      try Needs.programs("llvm-objcopy-19")
      try Command.output("llvm-objcopy-19", ["--strip-sections", $0.plugin("x")])
    },
    Row(
      testDescription: "a filter whose library is not there", code: "missing-library",
      says: ["libnotthere.so"]
    ) {
      try $0.plugin("x", nil, "-Wl,-F,libnotthere.so")
    },
    Row(
      testDescription: "a text in place of a library, before the library",
      code: "missing-library", says: ["libneeded.so", "cannot be read"]
    ) {
      let first = try $0.needing("libneeded.so")
      try "INPUT(-lneeded)".write(
        to: first.appendingPathComponent("libneeded.so"), atomically: true, encoding: .utf8)
    },
    Row(
      testDescription: "a folder in place of a library, before the library",
      code: "missing-library", says: ["libneeded.so", "cannot be read", "a directory"]
    ) {
      let first = try $0.needing("libneeded.so")
      try FileManager.default.createDirectory(
        at: first.appendingPathComponent("libneeded.so"), withIntermediateDirectories: true)
    },
    Row(
      testDescription: "a link that leads nowhere in place of a library",
      code: "missing-library", says: ["passes over", "a link that leads nowhere"]
    ) {
      let first = try $0.needing("libneeded.so", isThere: false)
      try FileManager.default.createSymbolicLink(
        atPath: first.appendingPathComponent("libneeded.so").path, withDestinationPath: "gone")
    },
    Row(testDescription: "a link that leads nowhere, before the library") {
      let first = try $0.needing("libneeded.so")
      try FileManager.default.createSymbolicLink(
        atPath: first.appendingPathComponent("libneeded.so").path, withDestinationPath: "gone")
    },
    Row(
      testDescription: "a library for another machine in place of one",
      code: "missing-library", says: ["passes over", "It is for aarch64"]
    ) { folder in
      try Needs.programs("clang", "ld.lld")
      _ = try folder.needing("libneeded.so", isThere: false)
      try folder.library(
        "first/libneeded.so", "int needed;", with: "clang",
        ["--target=aarch64-linux-gnu", "-ffreestanding", "-nostdlib", "-fuse-ld=lld"])
    },
    Row(
      testDescription: "a library that only the system has, and that is not looked for there",
      code: "missing-library", says: ["libm.so.6"]
    ) { try $0.plugin("x", nil, "-Wl,--no-as-needed,-lm,-z,nodefaultlib") },
    Row(
      testDescription: "a library whose symbols have lost their versions", code: "not-loadable",
      says: ["answer@ONE", "ends the whole process"]
    ) { folder in
      try folder.folder.write("ONE { global: answer; };", as: "map")
      func build(_ options: String...) throws -> String {
        try folder.library(
          "plugins/libanswer.so", "int answer(void) { return 1; }",
          ["-Wl,-soname,libanswer.so"] + options)
      }
      let versioned = try build("-Wl,--version-script,map")
      try folder.plugin(
        "x", with("int answer(void); int use(void); int use(void) { return answer(); }"),
        versioned, "-Wl,-rpath,$ORIGIN")
      _ = try build()
    },
    Row(
      testDescription: "packed relocations without the version that says so", code: "not-loadable",
      says: ["DT_RELR", "GLIBC_ABI_DT_RELR"]
    ) { folder in
      try Needs.programs("clang", "ld.lld")
      try folder.plugin(
        "x", with("#include <stdio.h>\nint use(void); int use(void) { return puts(\"\"); }"),
        with: "clang", "-fuse-ld=lld", "-Wl,--pack-dyn-relocs=relr")
    },
    Row(
      testDescription: "relocations that no loader here reads", code: "not-loadable",
      says: ["packed for Android"]
    ) { folder in
      try Needs.programs("clang", "ld.lld")
      try folder.plugin(
        "x", with: "clang", "-fuse-ld=lld", "-Wl,--pack-dyn-relocs=android")
    },
    Row(
      testDescription: "a later version of ELF", code: "not-loadable", says: ["version of ELF"]
    ) { try $0.patch($0.plugin("x"), at: 20, with: Data([2])) },
    Row(
      testDescription: "a later version of the ABI", code: "not-loadable", says: ["version 9"]
    ) { try $0.patch($0.plugin("x"), at: 8, with: Data([9])) },
    Row(
      testDescription: "bytes of the header that are kept for later", code: "not-loadable",
      says: ["bytes 9 to 15"]
    ) { try $0.patch($0.plugin("x"), at: 12, with: Data([1])) },
    Row(
      testDescription: "a program that is linked to one address in place of a library",
      code: "not-loadable", says: ["libneeded.so, which it brings along,", "ET_EXEC"]
    ) {
      let first = try $0.needing("libneeded.so", isThere: false)
      try Compiler.compile(
        "int needed; int main(void) { return 0; }", as: "libneeded.so", in: first,
        ["-no-pie", "-fno-pie", "-rdynamic"])
    },
    Row(
      testDescription: "more memory than there is", code: "not-loadable", says: ["addresses"]
    ) {
      try $0.changed { try $0.put(1 << 47, at: #require($0.segments(1).last) + 40) }
    },
    Row(
      testDescription: "segments that share a page", code: "not-loadable", says: ["shares pages"]
    ) {
      try $0.changed { try $0.put(0x1800, at: #require($0.segments(1).first) + 40) }
    },
    Row(
      testDescription: "a segment that cannot be read", code: "not-loadable", says: ["PF_R"]
    ) {
      try $0.changed { try $0.put(0, at: #require($0.segments(1).first) + 4, size: 4) }
    },
    Row(
      testDescription: "read-only memory beyond its segment", code: "not-loadable",
      says: ["PT_GNU_RELRO"]
    ) {
      try $0.changed { try $0.put(1 << 20, at: #require($0.segments(0x6474_e552).first) + 40) }
    },
    calling("a null", "void (*none)(void) = 0"), calling("a number", "long number = -1"),
    Row(
      testDescription: "data that is called", code: "not-loadable", says: ["where no code is"]
    ) {
      try $0.plugin(
        "x",
        with(
          """
          static int data[4] = { 1 };
          __attribute__((used, section(".init_array"))) static void *entry = data;
          """))
    },
    Row(
      testDescription: "calls with relocations of another kind", code: "not-loadable",
      says: ["of kind 17", "DT_PLTREL"]
    ) {
      try $0.changed(printing) {
        try $0.put(17, at: $0.tag(20) + 8)
      }
    },
    Row(
      testDescription: "relocations without their size", code: "not-loadable",
      says: ["DT_RELA without DT_RELASZ"]
    ) { try $0.changed { try $0.put(0x6fff_ff00, at: $0.tag(8)) } },
    Row(
      testDescription: "versions of symbols without the versions", code: "not-loadable",
      says: ["DT_VERSYM without DT_VERNEED"]
    ) { try $0.changed(printing) { try $0.put(0x6fff_ff00, at: $0.tag(0x6fff_fffe)) } },
    Row(
      testDescription: "versions in a later form", code: "not-loadable", says: ["in form 2, not 1"]
    ) {
      try $0.changed(printing) { try $0.put(2, at: $0.place(of: $0.value(0x6fff_fffe)), size: 2) }
    },
    Row(
      testDescription: "a relocation of a type that is no loader's", code: "not-loadable",
      says: ["knows no relocation like"]
    ) {
      // The last one: the first ones are counted as relative.
      try $0.changed { try $0.put(9, at: $0.place(of: $0.value(7)) + $0.value(8) - 16, size: 4) }
    },
    Row(
      testDescription: "more relative relocations than there are", code: "not-loadable",
      says: ["DT_RELACOUNT"]
    ) { try $0.changed { try $0.put($0.value(8) / 24, at: $0.tag(0x6fff_fff9) + 8) } },
    Row(
      testDescription: "a relocation of code that is not told", code: "not-loadable",
      says: ["may not be written to"]
    ) { try $0.changed { try $0.put(0, at: $0.place(of: $0.value(7))) } },
    Row(
      testDescription: "a relocation of the dynamic section", code: "malformed",
      says: ["rewrites its own dynamic section"]
    ) {
      try $0.changed {
        let header = try #require($0.segments(2).first)
        try $0.put($0.number(at: header + 16) + 8, at: $0.place(of: $0.value(7)))
      }
    },
    Row(
      testDescription: "a version that no symbol has", code: "not-loadable",
      says: ["the version TWO of libanswer.so"]
    ) { folder in
      func build(_ map: String) throws -> String {
        try folder.folder.write(map, as: "map")
        return try folder.library(
          "plugins/libanswer.so",
          "int answer(void) { return 1; } int more(void) { return 2; } // \(map)",
          ["-Wl,-soname,libanswer.so", "-Wl,--version-script,map"])
      }
      let both = try build("ONE { global: answer; }; TWO { global: more; };")
      try folder.plugin(
        "x",
        with(
          """
          int answer(void); __attribute__((weak)) int more(void);
          int use(void); int use(void) { return answer() + (more ? more() : 0); }
          """),
        both, "-Wl,-rpath,$ORIGIN")
      _ = try build("ONE { global: answer; more; };")
    },
    Row(testDescription: "a symbol of the first version, which is hidden from those of others") {
      folder in
      let along = try folder.library(
        "plugins/libalong.so", "int along(void) { return 1; }", ["-Wl,-soname,libalong.so"])
      try folder.plugin(
        "x", with("int along(void); int use(void); int use(void) { return along(); }"), along,
        "-Wl,-rpath,$ORIGIN")
      try folder.folder.write("ONE { global: along; local: *; };", as: "map")
      try folder.library(
        "plugins/libalong.so",
        "int first(void) { return 1; } __asm__(\".symver first,along@ONE\");",
        ["-Wl,-soname,libalong.so", "-Wl,--version-script,map"])
    },
    // Startup
    Row(
      testDescription: "a constructor, where another dynamic section is told than is loaded",
      code: "runs-at-startup", says: ["watch"], policy: anchorOnly
    ) {
      try $0.changed(watching) { try hide(&$0, at: #require($0.segments(2).first)) }
    },
    Row(
      testDescription: "a constructor, of the second of two dynamic sections",
      code: "runs-at-startup", says: ["watch"], policy: anchorOnly
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
      testDescription: "a constructor, behind the end that the dynamic section claims",
      code: "runs-at-startup", says: ["watch"], policy: anchorOnly
    ) {
      try $0.changed(watching) { bytes in
        let header = try #require(bytes.segments(2).first)
        let (start, array) = (try bytes.dynamic().lowerBound, try bytes.tag(25))
        bytes.put(array - start, at: header + 32)
      }
    },
    Row(
      testDescription: "code in the compiler's function", code: "runs-at-startup", says: ["_init"],
      policy: anchorOnly
    ) {
      try $0.plugin(
        "x", with("__asm__(\".pushsection .init\\n.long 0x12345678\\n.popsection\");"))
    },
    Row(
      testDescription: "a constructor", code: "runs-at-startup", says: ["watch"],
      policy: anchorOnly
    ) {
      try $0.plugin("x", with("__attribute__((constructor)) static void watch(void) {}"))
    },
    Row(testDescription: "a constructor, where that is admitted") {
      try $0.plugin("x", with("__attribute__((constructor)) static void watch(void) {}"))
    },
    Row(
      testDescription: "a resolver of its own", code: "runs-at-startup", says: ["choose"],
      policy: anchorOnly
    ) {
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
    Row(
      testDescription: "a stripped one, of which no name can be seen", code: "runs-at-startup",
      says: ["a function without a name"], policy: anchorOnly
    ) { try $0.plugin("x", nil, "-s") },
    Row(
      testDescription: "a constructor of what it brings along", code: "runs-at-startup",
      says: ["libalong.so, which it brings along, runs arrive"], policy: anchorOnly
    ) { folder in
      let along = try folder.library(
        "plugins/libalong.so",
        "int along(void) { return 1; } __attribute__((constructor)) static void arrive(void) {}",
        ["-Wl,-soname,libalong.so"])
      try folder.plugin(
        "x", with("int along(void); int use(void); int use(void) { return along(); }"), along,
        "-Wl,-rpath,$ORIGIN")
    },
    Row(
      testDescription: "an _init of its own", code: "runs-at-startup", says: ["_init"],
      policy: anchorOnly
    ) {
      try $0.plugin("x", with("void _init(void); void _init(void) {}"), "-nostartfiles")
    },
    Row(
      testDescription: "a second tag that hides what the loader runs", code: "runs-at-startup",
      says: ["hidden"], policy: anchorOnly
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
    // Contracts
    Row(
      testDescription: "a table that is smaller than the host asks for", code: "contract-drift",
      says: ["expected 24 bytes", "found 8 bytes"],
      policy: policy { $0.tables = [.init(service: "Greeter", size: 24)] }
    ) { try $0.plugin("x", greeter) },
    Row(
      testDescription: "a table of which the order cannot be seen, where that is refused",
      code: "contract-not-visible",
      policy: policy {
        $0.tables = [.init(service: "Greeter", size: 8)]
        $0.unseenContracts = .refuse
      }
    ) { try $0.plugin("x", greeter) },
    Row(
      testDescription: "a table of which the order cannot be seen",
      policy: policy { $0.tables = [.init(service: "Greeter", size: 8)] }
    ) { try $0.plugin("x", greeter) },
    Row(
      testDescription: "a table that says no version, where one is asked for",
      code: "contract-drift",
      says: ["expected version 2", "found no version"],
      policy: policy { $0.tables = [.init(service: "Greeter", size: 8, version: "2")] }
    ) { try $0.plugin("x", greeter) },
    Row(
      testDescription: "a table that only the first of two requests is for", code: "contract-drift",
      says: ["expected 24 bytes"],
      policy: policy { $0.tables = [8, 24].map { .init(service: "Greeter", size: $0) } }
    ) { try $0.plugin("x", greeter) },
    // Lists
    Row(
      testDescription: "a name that is denied", code: "denied", says: ["libx*"],
      policy: policy { $0.denied = ["libx*"] }
    ) { try $0.plugin("x") },
    Row(
      testDescription: "a name that is not allowed", code: "not-allowed", says: ["liby.so"],
      policy: policy { $0.allowed = ["liby.so"] }
    ) { try $0.plugin("x") },
    Row(
      testDescription: "a name that is allowed and denied", code: "denied",
      policy: policy { ($0.allowed, $0.denied) = (["*"], ["lib?.so"]) }
    ) { try $0.plugin("x") },
    Row(
      testDescription: "a build that is not listed", code: "not-pinned", says: ["SHA-256"],
      policy: policy { $0.pinned = ["00ff"] }
    ) { try $0.plugin("x") },
  ]

  @Test("told with what was found and what is expected", arguments: rows)
  func check(row: Row) throws {
    let folder = try AdmissionFolder()
    try row.make(folder)
    let plugins = try folder.report(row.policy).plugins
    let plugin = try #require(plugins.first { $0.path.hasSuffix("libx.so") })
    #expect(plugin.refusals.map(\.code) == (row.code.map { [$0] } ?? []), "\(plugin.refusals)")
    #expect(plugin.loads == (row.code == nil))
    let message = plugin.refusals.map(\.message).joined()
    for text in row.says { #expect(message.contains(text), "\(message)") }
  }

  @Test("What takes of the threads' static room is told, of what comes along too, and loads")
  func staticThreadStorage() throws {
    let folder = try AdmissionFolder()
    let source =
      "static __thread int counted[300]; int count(void); int count(void) { return ++counted[7]; }"
    let along = try folder.library(
      "plugins/along.so", source, ["-ftls-model=initial-exec", "-Wl,-soname,along.so"])
    try folder.plugin("w", nil, "-Wl,--no-as-needed", along, "-Wl,-rpath,$ORIGIN")
    try folder.plugin("x", Self.with(source), "-ftls-model=initial-exec")
    try folder.plugin("y", Self.with(source), "-ftls-model=global-dynamic")
    let plugins = try folder.report().plugins
    #expect(plugins.map(\.loads) == [true, true, true])
    for (plugin, title) in zip(plugins, ["along.so, which it brings along,", "it"]) {
      let remark = "\(title) wants 1200 bytes of static thread storage"
      #expect(plugin.remarks.contains { $0.contains(remark) }, "\(plugin.remarks)")
    }
    #expect(!plugins[2].remarks.contains { $0.contains("thread") })
  }

  @Test("A file is admitted by the digest that sha256sum prints, or by its build-id")
  func pinned() throws {
    let folder = try AdmissionFolder()
    let path = try folder.plugin("x")
    let digest = try Command.output("sha256sum", [path]).prefix(64)
    var catalogue = PluginCatalogue()
    catalogue.add(.file(path))
    catalogue.refresh()
    let id = try #require(catalogue.manifests.first?.identity.id)
      .map { String(format: "%02x", $0) }.joined()
    for pin in [String(digest), digest.uppercased(), id] {
      #expect(try folder.codes(Self.policy { $0.pinned = [pin, "00"] }) == ["libx.so": []])
    }
  }

  @Test("The host's own verification is given the open file, and its words are told")
  func verification() throws {
    struct Unsigned: Error, CustomStringConvertible { var description = "nobody has signed it" }
    let folder = try AdmissionFolder()
    let path = try folder.plugin("x")
    var seen: [String] = []
    let report = try folder.report { descriptor, path in
      var magic = [UInt8](repeating: 0, count: 4)
      let count = unsafe pread(descriptor, &magic, 4, 0)
      #expect(count == 4 && magic == [0x7f, 0x45, 0x4c, 0x46])
      seen.append(path)
      throw Unsigned()
    }
    #expect(seen == [path])
    let refusal = try #require(report.plugins.first?.refusals.first)
    #expect(refusal.code == "signature")
    #expect(refusal.message.contains("nobody has signed it"))
    #expect(try folder.report { _, _ in }.admitted == [path])
  }
}
