import Foundation
import PluginFiles
import TestSupport
import Testing

/// What the loader does not open.
extension AdmissionChecksTests {
  private static let printing = with(
    "#include <stdio.h>\nint use(void); int use(void) { return puts(\"\"); }")

  /// A plugin with one more element in its `.init_array`.
  private static func calling(_ what: String, _ element: String) -> Row {
    Row("\(what) that is called", "not-loadable", ["init-array[", "no function"]) {
      try $0.plugin(
        "x", with("__attribute__((used, section(\".init_array\"))) static \(element);"))
    }
  }

  /// A plugin with a relocation of another type: the last one, since the first ones are counted as
  /// relative.
  private static func relocating(_ what: String, as type: Int) -> Row {
    Row("a relocation of \(what)", "not-loadable", ["knows no relocation like"]) {
      try $0.changed { try $0.put(type, at: $0.place(of: $0.value(7)) + $0.value(8) - 16, size: 4) }
    }
  }

  static let opening: [Row] = [
    Row("linked not to be opened", "not-loadable", ["nodlopen"]) {
      try $0.plugin("x", nil, "-Wl,-z,nodlopen")
    },
    Row("segments that do not begin on pages", "not-loadable", ["pages"]) {
      try $0.plugin("x", nil, "-Wl,-z,max-page-size=1024")
    },
    Row("relocations of a size that no loader knows", "not-loadable", ["17 bytes"]) {
      // DT_RELAENT, 24.
      let tag = Data([9, 0, 0, 0, 0, 0, 0, 0])
      try $0.patch(
        $0.plugin("x"), at: -7, after: tag + Data([24, 0, 0, 0, 0, 0, 0]), with: Data([17]))
    },
    Row(
      "a program in place of a library", "not-loadable",
      ["libneeded.so, which it brings along, is not opened", "position-independent"]
    ) {
      let first = try $0.needing("libneeded.so", isThere: false)
      try Compiler.compile(
        "int needed; int main(void) { return 0; }", as: "libneeded.so", in: first,
        ["-pie", "-fPIE", "-rdynamic"])
    },
    Row(
      "a library for another system in place of one", "wrong-abi",
      ["libneeded.so, which it brings along, follows other conventions", "EI_OSABI 97"]
    ) {
      _ = try $0.needing("libneeded.so", isThere: false)
      try $0.patch($0.library("first/libneeded.so", "int needed;"), at: 7, with: Data([97]))
    },
    Row("itself and what the kernel maps, as libraries") {
      for name in ["linux-vdso.so.1", ""] {
        let stand = try $0.library("stand.so", "int stand;", ["-Wl,-soname,\(name)"])
        try $0.plugin("x", nil, "-Wl,--no-as-needed", stand)
      }
    },
    Row("no section headers, in C") {
      try Needs.programs("llvm-objcopy-19")
      try Command.output("llvm-objcopy-19", ["--strip-sections", $0.plugin("x")])
    },
    Row("a filter whose library is not there", "missing-library", ["libnotthere.so"]) {
      try $0.plugin("x", nil, "-Wl,-F,libnotthere.so")
    },
    Row(
      "a text in place of a library, before the library", "missing-library",
      ["libneeded.so", "cannot be read"]
    ) {
      let first = try $0.needing("libneeded.so")
      try "INPUT(-lneeded)".write(
        to: first.appendingPathComponent("libneeded.so"), atomically: true, encoding: .utf8)
    },
    Row(
      "a folder in place of a library, before the library", "missing-library",
      ["libneeded.so", "cannot be read", "a directory"]
    ) {
      let first = try $0.needing("libneeded.so")
      try FileManager.default.createDirectory(
        at: first.appendingPathComponent("libneeded.so"), withIntermediateDirectories: true)
    },
    Row(
      "a link that leads nowhere in place of a library", "missing-library",
      ["passes over", "a link that leads nowhere"]
    ) {
      let first = try $0.needing("libneeded.so", isThere: false)
      try FileManager.default.createSymbolicLink(
        atPath: first.appendingPathComponent("libneeded.so").path, withDestinationPath: "gone")
    },
    Row("a link that leads nowhere, before the library") {
      let first = try $0.needing("libneeded.so")
      try FileManager.default.createSymbolicLink(
        atPath: first.appendingPathComponent("libneeded.so").path, withDestinationPath: "gone")
    },
    Row(
      "a library for another machine in place of one", "missing-library",
      ["passes over", "It is for aarch64"]
    ) { folder in
      try Needs.programs("clang", "ld.lld")
      _ = try folder.needing("libneeded.so", isThere: false)
      try folder.library(
        "first/libneeded.so", "int needed;", with: "clang",
        ["--target=aarch64-linux-gnu", "-ffreestanding", "-nostdlib", "-fuse-ld=lld"])
    },
    Row(
      "a library that only the system has, and that is not looked for there", "missing-library",
      ["libm.so.6"]
    ) { try $0.plugin("x", nil, "-Wl,--no-as-needed,-lm,-z,nodefaultlib") },
    Row(
      "a library whose symbols have lost their versions", "not-loadable",
      ["answer@ONE", "ends the whole process"]
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
      "packed relocations without the version that says so", "not-loadable",
      ["DT_RELR", "GLIBC_ABI_DT_RELR"]
    ) { folder in
      try Needs.programs("clang", "ld.lld")
      try folder.plugin(
        "x", with("#include <stdio.h>\nint use(void); int use(void) { return puts(\"\"); }"),
        with: "clang", "-fuse-ld=lld", "-Wl,--pack-dyn-relocs=relr")
    },
    Row("relocations that no loader here reads", "not-loadable", ["packed for Android"]) { folder in
      try Needs.programs("clang", "ld.lld")
      try folder.plugin(
        "x", with: "clang", "-fuse-ld=lld", "-Wl,--pack-dyn-relocs=android")
    },
    Row(
      "a later version of ELF", "not-loadable", ["version of ELF"]
    ) { try $0.patch($0.plugin("x"), at: 20, with: Data([2])) },
    Row(
      "a later version of the ABI", "not-loadable", ["version 9"]
    ) { try $0.patch($0.plugin("x"), at: 8, with: Data([9])) },
    Row(
      "bytes of the header that are kept for later", "not-loadable", ["bytes 9 to 15"]
    ) { try $0.patch($0.plugin("x"), at: 12, with: Data([1])) },
    Row(
      "a program that is linked to one address in place of a library", "not-loadable",
      ["libneeded.so, which it brings along,", "ET_EXEC"]
    ) {
      let first = try $0.needing("libneeded.so", isThere: false)
      try Compiler.compile(
        "int needed; int main(void) { return 0; }", as: "libneeded.so", in: first,
        ["-no-pie", "-fno-pie", "-rdynamic"])
    },
    Row("more memory than there is", "not-loadable", ["addresses"]) {
      try $0.changed { try $0.put(1 << 47, at: #require($0.segments(1).last) + 40) }
    },
    Row("segments that share a page", "not-loadable", ["shares pages"]) {
      try $0.changed { try $0.put(0x1800, at: #require($0.segments(1).first) + 40) }
    },
    Row("a segment that cannot be read", "not-loadable", ["PF_R"]) {
      try $0.changed { try $0.put(0, at: #require($0.segments(1).first) + 4, size: 4) }
    },
    Row("read-only memory beyond its segment", "not-loadable", ["PT_GNU_RELRO"]) {
      try $0.changed { try $0.put(1 << 20, at: #require($0.segments(0x6474_e552).first) + 40) }
    },
    calling("a null", "void (*none)(void) = 0"), calling("a number", "long number = -1"),
    Row("data that is called", "not-loadable", ["where no code is"]) {
      try $0.plugin(
        "x",
        with(
          """
          static int data[4] = { 1 };
          __attribute__((used, section(".init_array"))) static void *entry = data;
          """))
    },
    Row("calls with relocations of another kind", "not-loadable", ["of kind 17", "DT_PLTREL"]) {
      try $0.changed(printing) {
        try $0.put(17, at: $0.tag(20) + 8)
      }
    },
    Row(
      "relocations without their size", "not-loadable", ["DT_RELA without DT_RELASZ"]
    ) { try $0.changed { try $0.put(0x6fff_ff00, at: $0.tag(8)) } },
    Row(
      "versions of symbols without the versions", "not-loadable", ["DT_VERSYM without DT_VERNEED"]
    ) { try $0.changed(printing) { try $0.put(0x6fff_ff00, at: $0.tag(0x6fff_fffe)) } },
    Row("versions in a later form", "not-loadable", ["in form 2, not 1"]) {
      try $0.changed(printing) { try $0.put(2, at: $0.place(of: $0.value(0x6fff_fffe)), size: 2) }
    },
    relocating("a type that is no loader's", as: 9), relocating("R_X86_64_PC64", as: 24),
    Row(
      "more relative relocations than there are", "not-loadable", ["DT_RELACOUNT"]
    ) { try $0.changed { try $0.put($0.value(8) / 24, at: $0.tag(0x6fff_fff9) + 8) } },
    Row(
      "a relocation of code that is not told", "not-loadable", ["may not be written to"]
    ) { try $0.changed { try $0.put(0, at: $0.place(of: $0.value(7))) } },
    Row("a relocation of the dynamic section", "malformed", ["rewrites its own dynamic section"]) {
      try $0.changed {
        let header = try #require($0.segments(2).first)
        try $0.put($0.number(at: header + 16) + 8, at: $0.place(of: $0.value(7)))
      }
    },
    Row(
      "a version that no symbol has", "not-loadable", ["the version TWO of libanswer.so"]
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
    Row("a symbol of the first version, which is hidden from those of others") {
      folder in
      try bringAlong(folder)
      try folder.folder.write("ONE { global: along; local: *; };", as: "map")
      try folder.library(
        "plugins/libalong.so",
        "int first(void) { return 1; } __asm__(\".symver first,along@ONE\");",
        ["-Wl,-soname,libalong.so", "-Wl,--version-script,map"])
    },
  ]
}
