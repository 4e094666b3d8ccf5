import BinaryImage
import Foundation
import PluginFiles
import TestSupport
import Testing

@Suite("What plugins come to together")
struct JointAdmissionTests {
  @Test("Providers load first, whatever the files are called")
  func order() throws {
    let folder = try AdmissionFolder()
    try folder.plugin("a", Compiler.module("a", #"BEEHIVE_REQUIRES("b")"#))
    try folder.plugin("b", Compiler.module("b", #"BEEHIVE_REQUIRES("z")"#))
    try folder.plugin("c", Compiler.module("c", #"BEEHIVE_AFTER("z")"#))
    try folder.plugin("z")
    let report = try folder.report()
    #expect(report.admitted.map(\.lastPart) == ["libz.so", "libb.so", "liba.so", "libc.so"])
    #expect(report.plugins.map { $0.needs.map(\.lastPart) } == [["libb.so"], ["libz.so"], [], []])
  }

  @Test("A module that is required and nowhere is named, with the one that may be meant")
  func unmet() throws {
    let folder = try AdmissionFolder()
    try folder.plugin("ledger")
    try folder.plugin("a", Compiler.module("a", #"BEEHIVE_REQUIRES("ledgr")"#))
    let plugin = try #require(try folder.report().plugins.first)
    #expect(plugin.refusals.map(\.code) == ["unmet-requirement"])
    #expect(plugin.refusals[0].message.contains("; did you mean ledger?"))
  }

  @Test("What the host or one of its libraries declares is there")
  func hostModules() throws {
    let folder = try AdmissionFolder()
    try folder.host(Compiler.module("ledger") + "int main(void) { return 0; }")
    try folder.plugin("a", Compiler.module("a", #"BEEHIVE_REQUIRES("ledger")"#))
    #expect(try folder.codes() == ["liba.so": []])
  }

  @Test("A module of another version than is required is named, with whose it is")
  func versions() throws {
    let folder = try AdmissionFolder()
    try folder.host(
      Compiler.module("ledger", #"BEEHIVE_VERSION("1.9")"#) + "int main(void) { return 0; }")
    try folder.plugin("log", Compiler.module("log"))
    try folder.plugin("a", Compiler.module("a", #"BEEHIVE_REQUIRES("ledger >=1.2 <2")"#))
    try folder.plugin("b", Compiler.module("b", #"BEEHIVE_REQUIRES("ledger >=2")"#))
    try folder.plugin("c", Compiler.module("c", #"BEEHIVE_REQUIRES("log >=1")"#))
    let report = try folder.report()
    #expect(
      report.plugins.map { $0.refusals.map(\.code).first } == [
        nil, "unmet-requirement", "unmet-requirement", nil,
      ])
    #expect(
      report.plugins.flatMap(\.refusals).map(\.message) == [
        "Module b requires ledger, which is of version 1.9, not >=2 (the host).",
        "Module c requires log, which has no version, but >=1 is required (liblog.so).",
      ])
  }

  @Test("Of whatever waits for a plugin that is refused, where that began is told")
  func knockOn() throws {
    let folder = try AdmissionFolder()
    try AdmissionFolder.mode(0o666, folder.plugin("a"))
    try folder.plugin("b", Compiler.module("b", #"BEEHIVE_REQUIRES("a")"#))
    try folder.plugin("c", Compiler.module("c", #"BEEHIVE_REQUIRES("b")"#))
    try folder.plugin("d", Compiler.module("d", #"BEEHIVE_AFTER("a")"#))
    let report = try folder.report()
    let codes = report.plugins.map { $0.refusals.map(\.code) }
    #expect(codes == [["writable-by-others"], ["refused-provider"], ["refused-provider"], []])
    let last = report.plugins[2].refusals[0]
    #expect(last.cause?.lastPart == "liba.so")
    #expect(
      last.message.hasPrefix(
        "It needs libb.so, which would not load because of liba.so: the file is"),
      "\(last.message)")
  }

  @Test("Cycles in a file and across files are named with all their members")
  func cycles() throws {
    let folder = try AdmissionFolder()
    try folder.plugin("a", Compiler.module("a", #"BEEHIVE_REQUIRES("b")"#))
    try folder.plugin("b", Compiler.module("b", #"BEEHIVE_AFTER("a")"#))
    try folder.plugin(
      "c",
      Compiler.module("hen", #"BEEHIVE_REQUIRES("egg")"#)
        + #"BEEHIVE_MODULE(egg, &hen_operations, BEEHIVE_REQUIRES("hen"));"#)
    try folder.plugin("d")
    let report = try folder.report()
    #expect(report.admitted.map(\.lastPart) == ["libd.so"])
    #expect(
      report.plugins.map { $0.refusals.map(\.code) } == [["cycle"], ["cycle"], ["cycle"], []])
    #expect(report.plugins[0].refusals[0].message.contains("a → b → a"))
    #expect(report.plugins[0].refusals[0].message.contains("(liba.so, libb.so)"))
    #expect(report.plugins[2].refusals[0].message.contains("egg → hen → egg"))
  }

  @Test(
    "A library that comes along and is a plugin itself loads before, and takes the other with it")
  func linkedPlugin() throws {
    let folder = try AdmissionFolder()
    let base = try folder.plugin(
      "z", Compiler.module("z") + "int base(void); int base(void) { return 1; }",
      "-Wl,-soname,libz.so")
    try folder.plugin(
      "a",
      Compiler.module("a")
        + "int base(void); int use(void); int use(void) { return base(); }",
      base, "-Wl,-rpath,$ORIGIN")
    #expect(try folder.report().admitted.map(\.lastPart) == ["libz.so", "liba.so"])
    var policy = PluginPolicy()
    policy.denied = ["libz.so"]
    #expect(try folder.codes(policy) == ["liba.so": ["denied"], "libz.so": ["denied"]])
  }

  @Test("The folder of a user comes before that of the system")
  func shadowed() throws {
    let folder = try AdmissionFolder()
    try folder.plugin("a")
    try folder.folder.makeFolder("own")
    try folder.library("own/liba.so", Compiler.module("a"))
    let report = try folder.report(in: ["own", "plugins"])
    #expect(report.plugins.map { $0.refusals.map(\.code) } == [[], ["shadowed"]])
    let paths = ["own", "plugins"].map { folder.folder.place("\($0)/liba.so").path }
    #expect(report.admitted == [paths[0]])
    // Their names alone would not tell them apart.
    for path in paths { #expect(report.description.contains("  \(path)")) }
  }

  @Test("Modules of a library that comes along count, once for all plugins that bring it")
  func modulesThatComeAlong() throws {
    let folder = try AdmissionFolder()
    try folder.folder.makeFolder("beside")
    func build(_ attributes: String) throws {
      let deep = try folder.library(
        "beside/libdeep.so", Compiler.module("deep", attributes),
        ["-Wl,-soname,libdeep.so"])
      for name in ["a", "b"] {
        try folder.plugin(
          name, Compiler.module(name, #"BEEHIVE_REQUIRES("deep")"#), "-Wl,--no-as-needed",
          deep, "-Wl,-rpath,$ORIGIN/../beside")
      }
    }
    try build("\"\"")
    let plugins = try folder.report(.strict).plugins
    #expect(plugins.map(\.refusals) == [[], []])
    #expect(plugins.map { $0.offers.joined() } == ["module a", "module b"])
    try build(#"BEEHIVE_REQUIRES("nowhere")"#)
    #expect(
      try folder.codes() == ["liba.so": ["unmet-requirement"], "libb.so": ["unmet-requirement"]])
  }

  @Test("A refused file hides no other of its name, whatever refuses it")
  func refusedHidesNothing() throws {
    let folder = try AdmissionFolder()
    let names = ["first", "second", "third"]
    func build(_ first: String) throws {
      for (name, source) in zip(names, [first] + [String](repeating: "", count: 2)) {
        try folder.folder.makeFolder(name)
        try folder.library("\(name)/liba.so", source.isEmpty ? Compiler.module("a") : source)
      }
    }
    let paths = names.map { folder.folder.place("\($0)/liba.so").path }
    // First it is refused by itself, because everybody may write to it. Then it requires a module that nobody has.
    try build("")
    try AdmissionFolder.mode(0o666, paths[0])
    for code in ["writable-by-others", "unmet-requirement"] {
      let report = try folder.report(in: names)
      #expect(report.plugins.map { $0.refusals.map(\.code) } == [[code], [], ["shadowed"]])
      #expect(report.admitted == [paths[1]])
      #expect(report.plugins[1].remarks.contains { $0.contains("\(paths[0]) has the same name") })
      #expect(report.plugins[2].refusals.first?.cause == paths[1])
      try build(Compiler.module("a", #"BEEHIVE_REQUIRES("nowhere")"#))
      try AdmissionFolder.mode(0o755, paths[0])
    }
    // A plugin that would be admitted together with the other one is refused: only one file of each name loads.
    try build(Compiler.module("a", #"BEEHIVE_REQUIRES("late")"#))
    try folder.library("second/liba.so", Compiler.module("late"))
    #expect(try folder.report(in: names).admitted == [paths[1]])
  }

  @Test("Of two that declare the same, both load, and the report says whose entry is rejected")
  func duplicates() throws {
    let folder = try AdmissionFolder()
    try folder.plugin("a")
    try folder.plugin("b", Compiler.module("a"))
    let report = try folder.report()
    #expect(report.admitted.count == 2)
    #expect(report.plugins[1].remarks.first?.contains("is declared by liba.so too") == true)
    var policy = PluginPolicy()
    policy.admitsRejectedEntries = false
    let refusal = try folder.report(policy).plugins[1].refusals.first
    #expect(refusal?.code == "rejected-entry")
    #expect(refusal?.message.contains("is declared by liba.so too") == true)
    // The plugin that loads first keeps the entry.
    try folder.plugin("a", Compiler.module("a", #"BEEHIVE_AFTER("b")"#))
    try folder.plugin("b", Compiler.module("a") + "BEEHIVE_MODULE(b, &a_operations);")
    try folder.plugin("c", Compiler.module("c", #"BEEHIVE_REQUIRES("a")"#))
    let ordered = try folder.report()
    #expect(ordered.admitted.first?.lastPart == "libb.so")
    #expect(ordered.plugins[0].remarks.first?.contains("is declared by libb.so too") == true)
    // A plugin that needs the refused plugin is refused too.
    #expect(try folder.codes(policy)["libc.so"] == ["refused-provider"])
  }

  @Test("What is no plugin is passed over; what is called like one is not")
  func others() throws {
    let folder = try AdmissionFolder()
    try folder.folder.write("hello", as: "plugins/README")
    try folder.folder.write("hello", as: "plugins/libbroken.so")
    try folder.library("plugins/libplain.so", "int x;")
    try Command.output("mkfifo", [folder.plugins + "/fifo.so"])
    #expect(try folder.codes() == ["libbroken.so": ["not-an-object"]])
  }

  @Test("A library of an earlier plugin is the very file that was judged with it")
  func residents() throws {
    let folder = try AdmissionFolder()
    for (plugin, place) in [("a", "one"), ("b", "second")] {
      let part = try folder.library(
        "\(place)/libresident.so.1", "int \(place), shared;", ["-Wl,-soname,libresident.so.1"])
      try folder.plugin(
        plugin, Compiler.module(plugin) + "extern int shared; int *use(void) { return &shared; }",
        part, "-Wl,-rpath,\(part.folder)")
    }
    #expect(try folder.codes() == ["liba.so": [], "libb.so": []])
    let evil = try folder.library("evil.so", "int shared, evil;", ["-Wl,-soname,libresident.so.1"])
    let place = folder.folder.place("one/libresident.so.1").path
    let report = try folder.report(verification: { _, path in
      if path.hasSuffix("libb.so") { _ = unsafe rename(evil, place) }
    })
    #expect(report.plugins.map { $0.refusals.map(\.code) } == [[], ["changed"]])
  }
}
