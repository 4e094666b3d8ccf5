import Foundation
import PluginFiles
import TestSupport
import Testing

/// Plugins that the loader does not open.
extension AdmissionChecksTests {
  private static let printing = with(
    "#include <stdio.h>\nint use(void); int use(void) { return puts(\"\"); }")

  /// Returns the row of a plugin with one more element in its `.init_array`.
  private static func starting(_ what: String, _ element: String) -> Row {
    Row("\(what) that is called", "not-loadable", ["init-array[", "no function"]) {
      try $0.plugin("x", with("__attribute__((used, section(\".init_array\"))) static \(element);"))
    }
  }

  /// Returns the row of a plugin that finds a program instead of the library that it needs.
  private static func program(_ what: String, _ options: [String], _ says: String) -> Row {
    Row("\(what) where a library is needed", "not-loadable", [says]) {
      let first = try $0.needing(isThere: false)
      try Compiler.compile(
        "int needed; int main(void) { return 0; }", as: "libneeded.so", in: first,
        options + ["-rdynamic"])
    }
  }

  /// Returns the row of a plugin with another byte in its header.
  private static func patched(
    _ what: String, at place: Int, by byte: UInt8, _ says: String
  ) -> Row {
    Row(what, "not-loadable", [says]) {
      try $0.patch($0.plugin("x"), at: place, with: Data([byte]))
    }
  }

  /// Returns the row of a plugin with a relocation of another type. It is the last relocation, because the first ones
  /// are counted as relative.
  private static func relocating(_ what: String, as type: Int) -> Row {
    Row("a relocation of \(what)", "not-loadable", ["knows no relocation like"]) {
      try $0.changed { try $0.put(type, at: $0.place(of: $0.value(7)) + $0.value(8) - 16, size: 4) }
    }
  }

  static let opening: [Row] = [
    linked("linked not to be opened", "not-loadable", ["nodlopen"], with: "-Wl,-z,nodlopen"),
    linked(
      "segments that do not begin on pages", "not-loadable", ["pages"],
      with: "-Wl,-z,max-page-size=1024"),
    Row("relocations of a size that no loader knows", "not-loadable", ["17 bytes"]) {
      // DT_RELAENT, 24.
      let tag = Data([9, 0, 0, 0, 0, 0, 0, 0])
      try $0.patch(
        $0.plugin("x"), at: -7, after: tag + Data([24, 0, 0, 0, 0, 0, 0]), with: Data([17]))
    },
    program("a program", ["-pie", "-fPIE"], "libneeded.so, which it brings along, is not opened"),
    program("a program that is linked to one address", ["-no-pie", "-fno-pie"], "ET_EXEC"),
    Row(
      "a library for another system in place of one", "wrong-abi",
      ["libneeded.so, which it brings along, follows other conventions", "EI_OSABI 97"]
    ) {
      try $0.needing(isThere: false)
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
    linked(
      "a filter whose library is not there", "missing-library", ["libnotthere.so"],
      with: "-Wl,-F,libnotthere.so"),
    Row(
      "a text in place of a library, before the library", "missing-library",
      ["libneeded.so", "cannot be read"]
    ) {
      let first = try $0.needing()
      try "INPUT(-lneeded)".write(
        to: first.appendingPathComponent("libneeded.so"), atomically: true, encoding: .utf8)
    },
    Row(
      "a folder in place of a library, before the library", "missing-library",
      ["libneeded.so", "cannot be read", "a directory"]
    ) {
      let first = try $0.needing()
      try FileManager.default.createDirectory(
        at: first.appendingPathComponent("libneeded.so"), withIntermediateDirectories: true)
    },
    Row(
      "a link that leads nowhere in place of a library", "missing-library",
      ["passes over", "a link that leads nowhere"]
    ) { try $0.needing(link: "gone", isThere: false) },
    Row("a link that leads nowhere, before the library") { try $0.needing(link: "gone") },
    Row(
      "a library for another machine in place of one", "missing-library",
      ["passes over", "It is for aarch64"]
    ) { folder in
      try Needs.programs("clang", "ld.lld")
      try folder.needing(isThere: false)
      try folder.library(
        "first/libneeded.so", "int needed;", with: "clang",
        ["--target=aarch64-linux-gnu", "-ffreestanding", "-nostdlib", "-fuse-ld=lld"])
    },
    linked(
      "a library that only the system has, and that is not looked for there", "missing-library",
      ["libm.so.6"], with: "-Wl,--no-as-needed,-lm,-z,nodefaultlib"),
    Row(
      "a library whose symbols have lost their versions", "not-loadable",
      ["answer@ONE", "ends the whole process"]
    ) { folder in
      try folder.plugin(
        "x", calling("answer"), folder.answer("ONE { global: answer; };"), "-Wl,-rpath,$ORIGIN")
      _ = try folder.answer()
    },
    Row(
      "a library that is needed by its path and has lost the versions of its symbols",
      "not-loadable", ["answer@ONE", "ends the whole process"]
    ) { folder in
      try folder.folder.write("ONE { global: answer; };", as: "map")
      let source = "int answer(void) { return 1; }"
      let path = try folder.library("plugins/libown.so", source, ["-Wl,--version-script,map"])
      try folder.plugin("x", calling("answer"), path)
      try folder.library("plugins/libown.so", source)
    },
    Row(
      "packed relocations without the version that says so", "not-loadable",
      ["DT_RELR", "GLIBC_ABI_DT_RELR"]
    ) { folder in
      try Needs.programs("clang", "ld.lld")
      try folder.plugin("x", printing, with: "clang", "-fuse-ld=lld", "-Wl,--pack-dyn-relocs=relr")
    },
    Row("relocations that no loader here reads", "not-loadable", ["packed for Android"]) { folder in
      try Needs.programs("clang", "ld.lld")
      try folder.plugin("x", with: "clang", "-fuse-ld=lld", "-Wl,--pack-dyn-relocs=android")
    },
    patched("a later version of ELF", at: 20, by: 2, "version of ELF"),
    patched("a later version of the ABI", at: 8, by: 9, "version 9"),
    patched("bytes of the header that are kept for later", at: 12, by: 1, "bytes 9 to 15"),
    Row("more memory than there is", "too-large", ["would map"]) {
      try $0.changed { try $0.put(1 << 47, at: #require($0.segments(1).last) + 40) }
    },
    Row("segments that share a page", "not-loadable", ["shares pages"]) {
      try $0.changed { try $0.put(0x1800, at: #require($0.segments(1).first) + 40) }
    },
    Row("a segment that cannot be read", "not-loadable", ["PF_R"]) {
      try $0.changed { try $0.put(0, at: #require($0.segments(1).first) + 4, size: 4) }
    },
    Row("data of its own that no thread has room for", "not-loadable", ["PT_TLS"]) {
      try $0.changed(
        with("static __thread int mine; int *use(void); int *use(void) { return &mine; }")
      ) {
        try $0.put(1 << 40, at: #require($0.segments(7).first) + 40)
      }
    },
    Row("read-only memory beyond its segment", "not-loadable", ["PT_GNU_RELRO"]) {
      try $0.changed { try $0.put(1 << 20, at: #require($0.segments(0x6474_e552).first) + 40) }
    },
    starting("a null", "void (*none)(void) = 0"), starting("a number", "long number = -1"),
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
    Row("calls with half a relocation", "not-loadable", ["DT_PLTRELSZ"]) {
      try $0.changed(printing) { try $0.put($0.value(2) - 8, at: $0.tag(2) + 8) }
    },
    Row("headers that are mapped nowhere", "not-loadable", ["PT_PHDR"]) {
      try $0.changed {
        let header = try #require($0.segments(4).first)
        $0.put(6, at: header, size: 4)
        $0.put(1 << 40, at: header + 16)
      }
    },
    Row("code that is relocated outside of memory", "not-loadable", ["which may not be written"]) {
      try $0.changed {
        try $0.put(22, at: $0.tag(0x6fff_fff9))
        try $0.put(1 << 40, at: $0.place(of: $0.value(7)))
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
      let source = "int answer(void) { return 1; } int more(void) { return 2; }"
      try folder.plugin(
        "x",
        with(
          """
          int answer(void); __attribute__((weak)) int more(void);
          int use(void); int use(void) { return answer() + (more ? more() : 0); }
          """),
        folder.answer("ONE { global: answer; }; TWO { global: more; };", source),
        "-Wl,-rpath,$ORIGIN")
      _ = try folder.answer("ONE { global: answer; more; };", source)
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
