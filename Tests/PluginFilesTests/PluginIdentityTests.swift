import Foundation
import Registration
import TestSupport
import Testing

@testable import PluginFiles

@Suite("Who a plugin is, which of its versions loads, and what its user has switched off")
struct PluginIdentityTests {
  /// Returns the source of a plugin with one module, an id and a version.
  private static func source(
    _ version: String, _ module: String = "greet", _ attributes: String = "\"\"",
    id: String = "com.example.greet", _ identity: String = "\"\""
  ) -> String {
    Compiler.module(module, attributes)
      + "BEEHIVE_PLUGIN(\"\(id)\", \"\(version)\", \(identity));\n"
  }

  @Test("its file states it, with names in several languages")
  func stated() throws {
    let folder = try AdmissionFolder()
    let more = #"""
      BEEHIVE_NAME("Greetings") BEEHIVE_NAME_IN("de", "Gruss") BEEHIVE_NAME_IN("de_CH", "Grüezi")
      BEEHIVE_LICENCE("MIT") BEEHIVE_HOMEPAGE("https://example.com") BEEHIVE_ICON("greet")
      """#.replacing("\n", with: " ")
    let path = try folder.plugin("x", Self.source("1.4.2", "greet", "\"\"", more))
    let identity = try #require(try PluginManifest(path: path).plugin)
    #expect(identity.title == "com.example.greet 1.4.2")
    #expect(
      [identity.licence, identity.homePage, identity.icon] == [
        "MIT", "https://example.com", "greet",
      ])
    let names = ["fr", "de_AT.UTF-8", "de-DE", "de_CH@euro", ""].map { identity.name(in: $0) }
    #expect(names == ["Greetings", "Gruss", "Gruss", "Grüezi", "Greetings"])
    #expect(
      identity.value.text == #"""
        {"id":"com.example.greet","version":"1.4.2","name":"Greetings",\#
        "names":{"de":"Gruss","de_CH":"Grüezi"},"licence":"MIT","homePage":"https://example.com","icon":"greet"}
        """#)
    let plain = try folder.plugin("y", Self.source("1"))
    #expect(try PluginManifest(path: plain).plugin?.name == "com.example.greet")
    let none = try folder.plugin("z")
    #expect(try PluginManifest(path: none).plugin == nil)
  }

  @Test("of several versions the highest that is admitted loads, and the others name it")
  func highest() throws {
    let folder = try AdmissionFolder()
    for (name, version) in [("a", "1.9"), ("b", "1.10"), ("c", "1.10-beta"), ("d", "1.10.0")] {
      try folder.plugin(name, Self.source(version))
    }
    try folder.plugin("e", Compiler.module("e", #"BEEHIVE_REQUIRES("greet")"#))
    let report = try folder.report()
    #expect(report.admitted.map(\.lastPart) == ["libb.so", "libe.so"])
    #expect(
      try folder.codes() == [
        "liba.so": ["superseded"], "libb.so": [], "libc.so": ["superseded"],
        "libd.so": ["superseded"], "libe.so": [],
      ])
    let refusal = report.plugins[0].refusals[0]
    #expect(refusal.cause?.lastPart == "libb.so")
    #expect(refusal.message.hasPrefix("com.example.greet 1.10 loads instead: /"))
    #expect(report.description.contains("libb.so  com.example.greet 1.10: module greet"))
    #expect(report.description.contains("liba.so (com.example.greet 1.9)"))
    // A refused plugin supersedes nothing.
    try AdmissionFolder.mode(0o666, folder.plugin("b", Self.source("1.10")))
    #expect(try folder.report().admitted.map(\.lastPart) == ["libd.so", "libe.so"])
  }

  @Test("a version that does not fit the others makes room for the next one")
  func next() throws {
    let folder = try AdmissionFolder()
    try folder.plugin("a", Self.source("1"))
    try folder.plugin("b", Self.source("2", "greet", #"BEEHIVE_REQUIRES("nowhere")"#))
    try folder.plugin("c", Self.source("3", "greet", #"BEEHIVE_REQUIRES("other >=2")"#))
    try folder.plugin("d", Compiler.module("e", #"BEEHIVE_REQUIRES("greet")"#))
    try folder.plugin("o", Compiler.module("other", #"BEEHIVE_VERSION("1")"#))
    let report = try folder.report()
    #expect(report.admitted.map(\.lastPart) == ["liba.so", "libd.so", "libo.so"])
    #expect(
      report.plugins.map { $0.refusals.map(\.code) }
        == [[], ["unmet-requirement"], ["unmet-requirement"], [], []])
  }

  @Test(
    "a host admits a range of versions",
    arguments: [
      (">=1 <2", "liba.so", ["other-version"]), ("<1", "", ["other-version"]), ("2", "libb.so", []),
      ("about 2", "", ["other-version"]),
    ])
  func range(versions: String, admitted: String, codes: [String]) throws {
    let folder = try AdmissionFolder()
    try folder.plugin("a", Self.source("1.5"))
    try folder.plugin("b", Self.source("2"))
    var policy = PluginPolicy()
    policy.versions = ["com.example.greet": versions]
    let report = try folder.report(policy)
    #expect(report.admitted.map(\.lastPart) == (admitted.isEmpty ? [] : [admitted]))
    #expect(report.plugins[1].refusals.map(\.code) == codes)
    if versions.hasPrefix("about") {
      #expect(report.plugins[0].refusals[0].message.contains("'about 2', cannot be read"))
    }
  }

  @Test(
    "a plugin that comes along is held to versions and to what the host has against it",
    arguments: ["libgreet.so", "libswiftgreet.so"])
  func along(name: String) throws {
    let folder = try AdmissionFolder()
    let library = try folder.library("deps/\(name)", Self.source("1.5"), ["-Wl,-soname,\(name)"])
    try folder.plugin(
      "a", Compiler.module("a"), "-Wl,--no-as-needed", library, "-Wl,-rpath,$ORIGIN/../deps")
    #expect(try folder.codes() == ["liba.so": []])
    var policy = PluginPolicy()
    policy.versions = ["com.example.greet": ">=2"]
    #expect(try folder.codes(policy) == ["liba.so": ["other-version"]])
    let host = try AdmissionHost(executable: folder.folder.place("host").path)
    var catalogue = PluginCatalogue()
    catalogue.sources = [.directory(folder.plugins)]
    catalogue.refresh()
    var asked: [String] = []
    var admission = Admission(
      to: host, under: PluginPolicy(),
      refusal: { manifest, paths in
        asked += paths.map(\.lastPart)
        return manifest.plugin.map {
          PluginRefusal(.switchedOff, "No \($0.id).", remedy: .activate)
        }
      })
    for candidate in catalogue.candidates { admission.add(candidate) }
    #expect(asked.first == "liba.so" && Set(asked) == ["liba.so", name])
    #expect(admission.report().plugins[0].refusals.map(\.message) == ["No com.example.greet."])
  }

  // MARK: - Switches

  private static func switches(_ folder: Folder) -> PluginSwitches {
    PluginSwitches(at: folder.place("config/app/plugins.json").path)
  }

  @Test("what the user switches off stays off, in a file that others read")
  func switching() throws {
    let folder = try Folder()
    var switches = Self.switches(folder)
    #expect(switches.reason(against: "a.b") == nil)
    try switches.set("a.b", isOn: false)
    try switches.set("a.a", isOn: false)
    try switches.set("a.b", isOn: false)
    let path = folder.place("config/app/plugins.json")
    #expect(try String(contentsOf: path, encoding: .utf8) == "{\"off\":[\"a.a\",\"a.b\"]}\n")
    let read = Self.switches(folder)
    #expect(read.reason(against: "a.b")?.message.contains(path.path) == true)
    #expect(read.reason(against: "a.c") == nil)
    try switches.set("a.b", isOn: true)
    #expect(Self.switches(folder).off == ["a.a"])
    #expect(throws: (any Error).self) { try switches.set("no id", isOn: false) }
    let names = try FileManager.default.contentsOfDirectory(atPath: folder.place("config/app").path)
    #expect(names == ["plugins.json"])
  }

  @Test(
    "a file of the user is read as JSON is, blanks and all; another text switches everything off",
    arguments: [
      (" { \"off\" : [ \"a.b\" ,\n\t\"a.c\" ] } \n", ["a.b", "a.c"]), ("{\"off\":[]}", []),
      ("", nil), ("{}", nil), ("{\"off\":[\"a.b\",]}", nil), ("{\"off\":[\"a. b\"]}", nil),
      ("{\"off\":[a.b]}", nil), ("{\"off\":[\"a.b\"]", nil),
    ] as [(String, [String]?)])
  func reading(text: String, off: [String]?) throws {
    let folder = try Folder()
    try folder.makeFolder("config/app")
    try folder.write(text, as: "config/app/plugins.json")
    var switches = Self.switches(folder)
    #expect(switches.off == off ?? [])
    let reason = switches.reason(against: "x.y")
    #expect((reason == nil) == (off != nil))
    #expect(reason?.message.contains("plugins.json") ?? true)
    if off == nil {
      // A text that somebody wrote by hand is not lost.
      #expect(throws: (any Error).self) { try switches.set("a.b", isOn: false) }
      let path = folder.place("config/app/plugins.json")
      #expect(try String(contentsOf: path, encoding: .utf8) == text)
    }
  }

  @Test("a file that is a link stays one, and one that cannot be written stays as it was")
  func links() throws {
    let folder = try Folder()
    try folder.makeFolder("config/app")
    try folder.write("{\"off\":[]}", as: "mine.json")
    let path = folder.place("config/app/plugins.json").path
    try makeLink(at: path, to: folder.place("mine.json").path)
    var switches = Self.switches(folder)
    try switches.set("a.b", isOn: false)
    #expect(try FileManager.default.destinationOfSymbolicLink(atPath: path).hasSuffix("mine.json"))
    #expect(Self.switches(folder).off == ["a.b"])
    // This file is as a process would leave it that ended while it wrote.
    try folder.write("{", as: "mine.json.new")
    try switches.set("a.c", isOn: false)
    #expect(Self.switches(folder).off == ["a.b", "a.c"])
    var nowhere = PluginSwitches(at: "/proc/nowhere/plugins.json")
    #expect(throws: (any Error).self) { try nowhere.set("a.b", isOn: false) }
  }

  @Test("two that switch at once lose nothing")
  func atOnce() async throws {
    let folder = try Folder()
    await withTaskGroup { group in
      for number in 0..<20 {
        group.addTask {
          var switches = Self.switches(folder)
          try? switches.set("a.b\(number)", isOn: false)
        }
      }
    }
    #expect(Self.switches(folder).off.count == 20)
  }
}
