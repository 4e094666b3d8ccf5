import BinaryImage
import Foundation
import TestSupport
import Testing

@testable import PluginFiles

/// Plugins that only a policy refuses: by their owners, search paths, build options or names.
extension AdmissionChecksTests {
  private static let hardened = policy {
    ($0.admitsExecutableStacks, $0.admitsTextRelocations) = (false, false)
  }

  static let owners: [Row] = [
    Row(
      "a file that everybody may write to", "writable-by-others", ["0666", "everybody"]
    ) { try AdmissionFolder.mode(0o666, $0.plugin("x")) },
    Row(
      "a file that its group may write to", "writable-by-others", ["its group"]
    ) { try AdmissionFolder.mode(0o664, $0.plugin("x")) },
    Row(
      "a file that everybody may write to, where that is admitted",
      policy: policy { $0.checksOwners = false }
    ) { try AdmissionFolder.mode(0o666, $0.plugin("x")) },
    Row(
      "a folder that everybody may write to", "writable-by-others",
      ["/plugins that leads to it", "0777"]
    ) {
      try $0.plugin("x")
      try AdmissionFolder.mode(0o777, $0.plugins)
    },
    Row("a folder like /tmp, right above the file", "writable-by-others") {
      try $0.plugin("x")
      try AdmissionFolder.mode(0o1777, $0.plugins)
    },
    Row("a folder like /tmp, further up") {
      try $0.plugin("x")
      try AdmissionFolder.mode(0o1777, $0.folder.path)
    },
    Row(
      "a link into a folder that everybody may write to", "writable-by-others",
      ["/elsewhere that leads to it"]
    ) { folder in
      let path = try folder.plugin("x")
      let elsewhere = try folder.openFolder("elsewhere")
      try FileManager.default.moveItem(atPath: path, toPath: "\(elsewhere)/libx.so")
      try makeLink(at: path, to: "../elsewhere/libx.so")
    },
    Row("a file of another user", "foreign-owner", ["user 4321"]) {
      guard geteuid() == 0 else { try Test.cancel("only root gives files away") }
      try FileManager.default.setAttributes([.ownerAccountID: 4321], ofItemAtPath: $0.plugin("x"))
    },
    Row("a path through .. of a folder that everybody may write to") {
      try $0.plugin("x")
      _ = try $0.openFolder("plugins/open")
      #expect(try $0.report(in: ["plugins/open/.."]).plugins.map(\.refusals) == [[]])
    },
  ]

  static let searchPaths: [Row] = [
    linked("a relative search path", "unsafe-search-path", ["in lib,"], with: "-Wl,-rpath,lib"),
    linked(
      "an empty search path", "unsafe-search-path", ["an empty path"], with: "-Wl,-rpath,/usr/lib:"),
    linked(
      "a relative search path, where that is admitted",
      policy: policy { $0.checksSearchPaths = false }, with: "-Wl,-rpath,lib"),
    linked("a search path beside the file", with: "-Wl,-rpath,$ORIGIN/../plugins"),
    linked(
      "a folder that is only called like $ORIGIN", "unsafe-search-path", ["$ORIGINAL"],
      with: "-Wl,-rpath,$ORIGINAL/plugins"),
    Row("a search path that others may write to", "unsafe-search-path", ["0777"]) {
      try $0.plugin("x", nil, "-Wl,-rpath,\($0.openFolder("open"))")
    },
    Row(
      "a link before the library that leads to where anybody may make one", "unsafe-search-path",
      ["passes over", "0777"]
    ) { try $0.needing(link: "\($0.openFolder("open"))/libneeded.so") },
    Row(
      "a file before the library that everybody may write to, and that is for another machine",
      "unsafe-search-path", ["passes over", "It is writable to everybody"]
    ) { folder in
      try Needs.programs("clang", "ld.lld")
      try folder.needing()
      let first = try folder.library(
        "first/libneeded.so", "int needed;", with: "clang",
        ["--target=aarch64-linux-gnu", "-ffreestanding", "-nostdlib", "-fuse-ld=lld"])
      try AdmissionFolder.mode(0o666, first)
    },
    Row("a folder below it where older loaders look first", "unsafe-search-path", ["0777"]) {
      _ = try $0.openFolder("safe/tls/x86_64")
      try $0.plugin("x", nil, "-Wl,-rpath,$ORIGIN/../safe")
    },
    Row(
      "a companion that needs a symbol of the plugin, where it is opened first", "not-loadable",
      ["given of libx.so, which is opened after it"], policy: policy { $0.opensJudgedFiles = true }
    ) {
      let back = try $0.library(
        "libback.so", "int given(void); int back(void) { return given(); }",
        ["-Wl,-soname,libback.so"])
      try $0.plugin(
        "x", with("int given(void); int given(void) { return 1; }"), "-Wl,--no-as-needed", back,
        "-Wl,-rpath,$ORIGIN/..")
    },
    Row("a link to nothing below it, where they look first", "unsafe-search-path", ["1777"]) {
      try $0.folder.makeFolder("safe")
      try makeLink(at: $0.folder.place("safe/x86_64").path, to: "/tmp/beehive-nothing")
      try $0.plugin("x", nil, "-Wl,-rpath,$ORIGIN/../safe")
    },
    Row(
      "a library of the host under a name that the host does not know", "not-loadable",
      ["the soname libknown.so", "libalias.so"], policy: policy { $0.opensJudgedFiles = true }
    ) {
      let known = try $0.library("libknown.so", "int known;", ["-Wl,-soname,libknown.so"])
      try $0.host("extern int known; int main(void) { return known; }", known, "-Wl,-rpath,$ORIGIN")
      let alias = try $0.library("libalias.so", "int known;", ["-Wl,-soname,libalias.so"])
      try $0.plugin("x", nil, "-Wl,--no-as-needed", alias, "-Wl,-rpath,$ORIGIN/..")
      try FileManager.default.removeItem(atPath: alias)
      try makeLink(at: alias, to: "libknown.so")
    },
    linked(
      "a search path of each process", "unsafe-search-path", ["in each process"],
      with: "-Wl,-rpath,/proc/self/cwd"),
    Row("a folder whose name goes on behind $LIB", "unsafe-search-path", ["0777"]) {
      let host = try AdmissionHost(executable: $0.folder.place("host").path)
      _ = try $0.openFolder("\(host.identity.libraryFolder)-e")
      try $0.plugin("x", nil, "-Wl,-rpath,\($0.folder.path)/$LIB-e")
    },
    Row(
      "a companion under another name than its own", "not-loadable", ["the soname libown.so"],
      policy: policy { $0.opensJudgedFiles = true }
    ) {
      let own = try $0.library("libown.so", "int own;", ["-Wl,-soname,libother.so"])
      try $0.plugin("x", nil, "-Wl,--no-as-needed", own, "-Wl,-rpath,$ORIGIN/..")
      _ = try $0.library("libother.so", "int own;", ["-Wl,-soname,libown.so"])
    },
    Row(
      "a search path of the host's that others may write to", "unsafe-search-path",
      ["The host looks for libraries in /", "0777"]
    ) {
      try $0.host(
        "int main(void) { return 0; }", "-Wl,--disable-new-dtags",
        "-Wl,-rpath,\($0.openFolder("open"))")
      try bringAlong($0)
    },
    Row(
      "the same, where owners and modes are not looked at",
      policy: policy { $0.checksOwners = false }
    ) { try $0.plugin("x", nil, "-Wl,-rpath,\($0.openFolder("open"))") },
  ]

  static let hardening: [Row] = [
    linked("an executable stack", "executable-stack", policy: hardened, with: "-Wl,-z,execstack"),
    linked("an executable stack, where that is admitted", with: "-Wl,-z,execstack"),
    Row("relocations of code", "text-relocations", policy: hardened) {
      try $0.plugin(
        "x",
        with("__asm__(\".text\\n.quad operations_of_x\\n.data\\noperations_of_x: .quad 1\\n\");"),
        "-Wl,-z,notext")
    },
  ]

  /// Makes the plugin a link to a file in another folder.
  private static func linked(_ folder: AdmissionFolder, to name: String) throws {
    let path = try folder.plugin("x")
    try folder.folder.makeFolder("elsewhere")
    try FileManager.default.moveItem(
      atPath: path, toPath: folder.folder.place("elsewhere/\(name)").path)
    try makeLink(at: path, to: "../elsewhere/\(name)")
  }

  static let lists: [Row] = [
    Row(
      "an entry that would be rejected, where that is not admitted", "rejected-entry",
      ["\"level=high\"", "[bad-attribute]"], policy: policy { $0.admitsRejectedEntries = false }
    ) { try $0.plugin("x", Compiler.module("x", #"BEEHIVE_LEVEL("high")"#)) },
    Row(
      "such an entry in a library that comes along", "rejected-entry",
      ["ntry of libalong.so will be rejected", "\"level=high\""],
      policy: policy { $0.admitsRejectedEntries = false }
    ) {
      let module = Compiler.module("beside", #"BEEHIVE_LEVEL("high")"#)
      try bringAlong($0, in: "beside", "\(module)\n\(along)")
    },
    Row("an entry that would be rejected") {
      try $0.plugin("x", Compiler.module("x", #"BEEHIVE_LEVEL("high")"#))
    },
    Row(
      "a name that is denied", "denied", ["libx*"], policy: policy { $0.denied = ["libx*"] }
    ) { try $0.plugin("x") },
    Row(
      "a name that is not allowed", "not-allowed", ["liby.so"],
      policy: policy { $0.allowed = ["liby.so"] }
    ) { try $0.plugin("x") },
    Row(
      "a name that is allowed and denied", "denied",
      policy: policy { ($0.allowed, $0.denied) = (["*"], ["lib?.so"]) }
    ) { try $0.plugin("x") },
    Row(
      "a link to a file of a name that is denied", "denied", ["and it is libbad.so too"],
      policy: policy { $0.denied = ["libbad*"] }
    ) { try linked($0, to: "libbad.so") },
    Row(
      "a link to a file of a name that is allowed", policy: policy { $0.allowed = ["libgood.so"] }
    ) { try linked($0, to: "libgood.so") },
    linked(
      "a soname that is denied", "denied", ["libbad.so.1 too"],
      policy: policy { $0.denied = ["libbad*"] }, with: "-Wl,-soname,libbad.so.1"),
    linked(
      "a soname that is allowed, which allows no file", "not-allowed",
      policy: policy { $0.allowed = ["libgood*"] }, with: "-Wl,-soname,libgood.so"),
    Row(
      "a library of a name that is denied, which comes along", "denied",
      ["it brings along /", "/libalong.so"], policy: policy { $0.denied = ["libalong*"] }
    ) { try bringAlong($0) },
    Row(
      "a library of a name that is not allowed, which comes along", "not-allowed",
      ["it brings along /", "/libalong.so"], policy: policy { $0.allowed = ["libx.so"] }
    ) { try bringAlong($0) },
    Row(
      "a library of the system's, which comes along and needs no permission",
      policy: policy { $0.allowed = ["libx.so"] }
    ) { try $0.plugin("x", nil, "-Wl,--no-as-needed", "-lm") },
    Row(
      "a library of the system's, which comes along and is denied", "denied", ["libm.so"],
      policy: policy { $0.denied = ["libm.so*"] }
    ) { try $0.plugin("x", nil, "-Wl,--no-as-needed", "-lm") },
  ]
}
