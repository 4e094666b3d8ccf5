import Foundation
import PluginFiles
import TestSupport
import Testing

/// What only a policy refuses: whose files are, where they look for others, how they are built, which are named.
extension AdmissionChecksTests {
  private static let hardened = policy {
    ($0.admitsExecutableStacks, $0.admitsTextRelocations) = (false, false)
  }

  static let owners: [Row] = [
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
  ]

  static let searchPaths: [Row] = [
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
      testDescription: "a folder that is only called like $ORIGIN", code: "unsafe-search-path",
      says: ["$ORIGINAL"]
    ) {
      try $0.plugin("x", nil, "-Wl,-rpath,$ORIGINAL/plugins")
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
  ]

  static let hardening: [Row] = [
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
  ]

  static let lists: [Row] = [
    Row(
      testDescription: "an entry that would be rejected, where that is not admitted",
      code: "rejected-entry", says: ["\"level=high\"", "[bad-attribute]"],
      policy: policy { $0.admitsRejectedEntries = false }
    ) { try $0.plugin("x", AdmissionFolder.module("x", #"BEEHIVE_LEVEL("high")"#)) },
    Row(testDescription: "an entry that would be rejected") {
      try $0.plugin("x", AdmissionFolder.module("x", #"BEEHIVE_LEVEL("high")"#))
    },
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
  ]
}
