import Foundation
import TestSupport
import Testing

/// Beginners' mistakes, and the expected findings of the commands.
@Suite("Mistakes are named with their cause, their place and a fix that works")
struct MistakesTests {
  /// A folder with a mistake, or the same folder after the fix.
  struct Workshop {
    let folder: Folder
    let isMended: Bool

    /// Returns `wrong`, or `right` for the fixed folder.
    func pick(_ wrong: String, _ right: String) -> String { isMended ? right : wrong }

    func library(_ name: String, _ source: String, _ options: [String] = []) throws {
      try Compiler.library(
        source, as: "plugins/lib\(name).so", in: folder.url,
        ["-w", "-Wl,-soname,lib\(name).so"] + options)
    }
    /// Builds a library of one module with attributes.
    func module(_ name: String, _ attributes: String = "\"\"", more: String = "") throws {
      try library(name, Compiler.module(name, attributes) + "\n" + more)
    }
    func object(_ name: String, _ source: String) throws {
      try Compiler.compile(
        source, as: name, in: folder.url, ["-w", "-c", "-fPIC", "-I", Repository.headers])
    }
    func run(_ tool: String, _ arguments: String...) throws {
      try Command.run(tool, arguments, in: folder.url).expect(0)
    }
    /// Damages a file, but not in the fixed folder.
    func spoil(_ tool: String, _ arguments: String...) throws {
      if !isMended { try Command.run(tool, arguments, in: folder.url).expect(0) }
    }
  }

  /// A mistake, and the finding that names it.
  struct Mistake: Sendable, CustomTestStringConvertible {
    var testDescription: String
    /// The missing entry; empty if none is missing.
    var entry: String
    var code: String
    /// The end of the path that the finding names.
    var path: String
    /// A part of the remedy.
    var fix: String
    var make: @Sendable (Workshop) throws -> Void

    init(
      _ description: String, of entry: String = "", _ code: String, at path: String = "liblog.so",
      fix: String, _ make: @escaping @Sendable (Workshop) throws -> Void
    ) {
      (testDescription, self.entry, self.code) = (description, entry, code)
      (self.path, self.fix, self.make) = (path, fix, make)
    }
  }

  /// A finding of a command.
  struct Told: Hashable { var code, path, message, fix: String }

  /// Returns an entry as written by hand.
  private static func slot(_ section: String, _ text: String, retain: Bool = true) -> String {
    "__attribute__((used, \(retain ? "retain, " : "")aligned(8), section(\"\(section)\"))) "
      + "static const char *const entry_\(section) = \(text.debugDescription);"
  }
  private static func identity(_ id: String, _ version: String) -> String {
    "BEEHIVE_PLUGIN(\"\(id)\", \"\(version)\");"
  }
  private static let rebuild = "build the file again"
  private static let correct = "correct the entry in its source"
  private static let routes = """
    #include <BeeHive.h>
    static bool perform(const beehive_call *call, beehive_reply *reply) { return true; }
    static const beehive_action actions[] = {{"perform", perform}};
    """

  static let mistakes = inFolders + inFiles + inEntries + amongEntries

  private static let inFolders = [
    Mistake(
      "an object file in the folder of plugins", of: "module:log", "no-entries", at: "log.o",
      fix: "leave it out"
    ) { shop in
      try shop.object("log.o", Compiler.module("log"))
      try shop.spoil("mv", "log.o", "plugins/log.o")
      if shop.isMended { try shop.run("gcc", "-shared", "-o", "plugins/liblog.so", "log.o") }
    },
    Mistake("a program in the folder", "no-entries", at: "app", fix: "leave it out") { shop in
      try shop.spoil("cp", "app", "plugins/app")
      if shop.isMended { try shop.module("log") }
    },
    Mistake(
      "a text that is called like a library", "not-an-object", fix: "name what it was built from"
    ) { shop in
      if shop.isMended { return try shop.module("log") }
      try shop.folder.write("GROUP ( liblog.so.1 )", as: "plugins/liblog.so")
    },
    Mistake("a link that leads nowhere", "unreadable", fix: "correct the path") { shop in
      if shop.isMended { try shop.module("other") }
      try shop.run("ln", "-s", shop.pick("nowhere.so", "libother.so"), "plugins/liblog.so")
    },
    Mistake("a file that was cut off", of: "module:log", "truncated", fix: "copy or build") {
      shop in
      try shop.module("log")
      try shop.spoil("truncate", "-s", "9000", "plugins/liblog.so")
    },
    Mistake("a hidden file", of: "module:log", "folder", at: ".log.so", fix: "no point") { shop in
      try shop.module("log")
      try shop.module("other")
      try shop.spoil("mv", "plugins/liblog.so", "plugins/.log.so")
    },
    Mistake("a library for another machine", of: "module:log", "wrong-machine", fix: "Build it for")
    {
      shop in
      try shop.module("log")
      if shop.isMended { return }
      let file = try FileHandle(forUpdating: shop.folder.place("plugins/liblog.so"))
      try file.seek(toOffset: 18)
      try file.write(contentsOf: [0xf3])
    },
    Mistake(
      "a file that all may write to", of: "module:log", "writable-by-others", fix: "chmod go-w"
    ) {
      shop in
      try shop.module("log")
      try shop.spoil("chmod", "666", "plugins/liblog.so")
    },
    Mistake(
      "a folder that all may write to", of: "module:log", "writable-by-others", fix: "chmod go-w"
    ) {
      shop in
      try shop.module("log")
      try shop.spoil("chmod", "777", "plugins")
    },
    Mistake("a search path for all", of: "module:log", "unsafe-search-path", fix: "Use a folder") {
      shop in
      let path = shop.pick("/tmp", "$ORIGIN")
      try shop.library("log", Compiler.module("log"), ["-Wl,-rpath,\(path)"])
    },
    Mistake(
      "a plugin that the user has switched off", of: "module:log", "switched-off", fix: "Take"
    ) {
      shop in
      try shop.module("log", more: identity("com.example.log", "1.0.0"))
      try shop.folder.write(
        "{\"off\":[\(shop.pick("\"com.example.log\"", ""))]}", as: "config/app/plugins.json")
    },
    Mistake("an older version", of: "module:log", "superseded", fix: "Remove one of the two") {
      shop in
      try shop.module("log", more: identity("com.example.log", "1.0.0"))
      if !shop.isMended { try shop.module("log2", more: identity("com.example.log", "2.0.0")) }
    },
  ]

  private static let inFiles = [
    Mistake("a section of another name", of: "module:Log", "look-alike-section", fix: "BeehiveMods")
    {
      shop in
      try shop.library("log", shop.pick(slot("BeehiveModules", "Log"), Compiler.module("Log")))
    },
    Mistake(
      "a section with a sign too many", of: "service:A", "look-alike-section",
      fix: "BeehiveServices"
    ) { shop in
      if shop.isMended { return try table(shop, "A") }
      try shop.library("log", slot("Beehive_Services", #"{"A":"B"}"#))
    },
    Mistake(
      "a member of an archive that nothing refers to", of: "module:log", "never-linked",
      at: "libparts.a", fix: "--whole-archive"
    ) { shop in
      try shop.module("other")
      try shop.object("log.o", Compiler.module("log"))
      try shop.run("ar", "rc", "libparts.a", "log.o")
      try FileManager.default.removeItem(at: shop.folder.place("log.o"))
      let whole = shop.isMended ? ["-Wl,--whole-archive"] : []
      try Compiler.compile(
        "int main(void) { return 0; }", as: "app", in: shop.folder.url,
        whole + ["libparts.a", "-Wl,--no-whole-archive"])
    },
    Mistake(
      "an entry that a linker may drop", of: "module:log", "not-retained", at: "log.o",
      fix: "retain"
    ) { shop in
      try shop.module("other")
      try shop.object(
        "log.o", shop.pick(slot("BeehiveMods", "log", retain: false), Compiler.module("log")))
      try shop.run("gcc", "-shared", "-o", "plugins/liblog.so", "log.o", "-Wl,--gc-sections")
    },
    Mistake("a section that was taken out", of: "module:log", "malformed", fix: rebuild) { shop in
      try shop.module("log")
      try shop.spoil("objcopy", "-R", "BeehiveRecords", "plugins/liblog.so")
    },
    Mistake("a section that was renamed", of: "module:log", "malformed", fix: rebuild) { shop in
      try shop.module("log")
      try shop.spoil("objcopy", "--rename-section", "BeehiveRecords=x", "plugins/liblog.so")
    },
    Mistake("a section that is not loaded", of: "module:log", "unreadable-section", fix: rebuild) {
      shop in
      try shop.module(shop.pick("other", "log"))
      try shop.folder.write("12345678", as: "added")
      try shop.spoil("mv", "plugins/libother.so", "plugins/liblog.so")
      try shop.spoil("objcopy", "--add-section", "BeehiveMods=added", "plugins/liblog.so")
    },
    Mistake("a symbol that is nowhere", of: "module:log", "undefined-symbol", fix: "Link it with") {
      shop in
      let body = shop.pick(";", "{}")
      try shop.module("log", more: "void nowhere(void)\(body) void call(void) { nowhere(); }")
    },
    Mistake(
      "a host that shows its symbols to nobody", of: "module:log", "undefined-symbol",
      fix: "link the host with -rdynamic"
    ) { shop in
      try Compiler.compile(
        "int own(void) { return 1; } int main(void) { return 0; }", as: "app", in: shop.folder.url,
        shop.isMended ? ["-rdynamic"] : [])
      try shop.module("log", more: "int own(void); int call(void) { return own(); }")
    },
    Mistake(
      "a library that is nowhere", of: "module:log", "missing-library", fix: "next to the plugin"
    ) {
      shop in
      try Compiler.library(
        "int helper;", as: "plugins/libhelper.so", in: shop.folder.url,
        ["-Wl,-soname,libhelper.so"])
      try shop.library(
        "log", Compiler.module("log"),
        ["-Lplugins", "-Wl,--no-as-needed", "-lhelper", "-Wl,-rpath,$ORIGIN"])
      try shop.spoil("rm", "plugins/libhelper.so")
    },
  ]

  private static let inEntries = [
    Mistake("require for requires", "near-attribute", fix: "call it requires") { shop in
      try shop.module("log", "BEEHIVE_ATTRIBUTE(\"\(shop.pick("require", "requires"))\", \"net\")")
      try shop.module("net")
    },
    Mistake("a priority that is misspelled", "near-attribute", fix: "call it priority") { shop in
      try shop.module("log", "BEEHIVE_ATTRIBUTE(\"\(shop.pick("prioritiy", "priority"))\", \"3\")")
    },
    Mistake("a scope for a module", "idle-attribute", fix: "leave it out") { shop in
      try shop.module("log", shop.pick("BEEHIVE_SCOPE(\"singleton\")", "\"\""))
    },
    Mistake("a service that is no JSON", of: "service:A", "malformed-json", fix: correct) { shop in
      if shop.isMended { return try table(shop, "A") }
      try shop.library("log", slot("BeehiveServices", #"{ "A": }"#))
    },
    Mistake("two services in one entry", of: "service:A", "several-json-keys", fix: correct) {
      shop in
      if shop.isMended { return try table(shop, "A") }
      try shop.library("log", slot("BeehiveServices", #"{"A":"B","C":"D"}"#))
    },
    Mistake("an entry that leads nowhere", "null-pointer", fix: correct) { shop in
      let entry = slot("BeehiveMods", "x").replacing("\"x\";", with: "0;")
      try shop.library("log", shop.pick(entry, Compiler.module("log")))
    },
    Mistake("an entry that is in another library", "unresolved-pointer", fix: correct) { shop in
      let entry =
        "extern const char other;" + slot("BeehiveMods", "x").replacing("\"x\";", with: "&other;")
      try shop.library("log", shop.pick(entry, Compiler.module("log")))
    },
    Mistake("a name that is not UTF-8", "invalid-utf8", fix: correct) { shop in
      let entry = slot("BeehiveMods", "x").replacing("\"x\";", with: "\"caf\\xe9\";")
      try shop.library("log", shop.pick(entry, Compiler.module("log")))
    },
    Mistake("two identities", "bad-identity", fix: "write one BEEHIVE_PLUGIN") { shop in
      try shop.module(
        "log",
        more: identity("com.example.log", "1.0.0")
          + shop.pick(identity("com.example.other", "1.0.0"), ""))
    },
    Mistake("a version in words", "bad-attribute", fix: correct) { shop in
      try shop.module("log", more: identity("com.example.log", shop.pick("one", "1.0.0")))
    },
    Mistake("a pattern without a name", "bad-pattern", fix: "the notation of Docs/routing.md") {
      shop in
      try shop.library(
        "log", routes + "BEEHIVE_ROUTE(\"app://log/:\(shop.pick("", "id"))\", perform);")
    },
    Mistake("an action that is written twice", "bad-action", fix: "write each action once") {
      shop in
      let action = "BEEHIVE_ACTION(\"perform()\")"
      try shop.library(
        "log",
        routes + "BEEHIVE_TARGET(shop, actions, \(action) \(shop.pick(action, "")));")
    },
    Mistake("an action that its table lacks", "missing-action", fix: "add it to the table") {
      shop in
      let name = shop.pick("preform", "perform")
      try shop.library(
        "log", routes + "BEEHIVE_TARGET(shop, actions, BEEHIVE_ACTION(\"\(name)()\"));")
    },
  ]

  /// Builds a library with a C table for a service.
  private static func table(
    _ shop: Workshop, _ service: String, in library: String = "log", _ attributes: String = "\"\""
  ) throws {
    try shop.library(
      library,
      """
      #include <BeeHive.h>
      static const int table = 1;
      BEEHIVE_SERVICE(\(service), Plain, &table, \(attributes));
      """)
  }

  private static let amongEntries = [
    Mistake(
      "a requirement that is misspelled", of: "module:log", "unmet-requirement", fix: "declares it"
    ) {
      shop in
      try shop.module("log", "BEEHIVE_REQUIRES(\"\(shop.pick("nett", "net"))\")")
      try shop.module("net")
    },
    Mistake(
      "two requirements in one", of: "module:log", "unmet-requirement",
      fix: "one module in each requirement"
    ) { shop in
      let one = "BEEHIVE_REQUIRES(\"net\") BEEHIVE_REQUIRES(\"disk\")"
      try shop.module("log", shop.pick("BEEHIVE_REQUIRES(\"net, disk\")", one))
      try shop.module("net")
      try shop.module("disk")
    },
    Mistake(
      "a version that is too old", of: "module:log", "unmet-requirement",
      fix: "files that belong together"
    ) { shop in
      try shop.module("log", "BEEHIVE_REQUIRES(\"net >=2\")")
      try shop.module("net", "BEEHIVE_VERSION(\"\(shop.pick("1.0", "2.1"))\")")
    },
    Mistake("modules that wait for each other", of: "module:log", "cycle", fix: "drop one") {
      shop in
      try shop.module("log", "BEEHIVE_REQUIRES(\"net\")")
      try shop.module("net", shop.pick("BEEHIVE_REQUIRES(\"log\")", "\"\""))
    },
    Mistake("a module in two files", "duplicate-module", at: "libother.so", fix: "rename or remove")
    {
      shop in
      try shop.module("log")
      try shop.library("other", Compiler.module(shop.pick("log", "other")) + "\nint more;")
    },
    Mistake("a service in two files", "duplicate-service", at: "libother.so", fix: "a name or") {
      shop in
      try table(shop, "A")
      try table(shop, "A", in: "other", shop.pick("\"\"", "BEEHIVE_PRIORITY(2)"))
    },
    Mistake("a route in two files", "duplicate-route", at: "libother.so", fix: "a priority, or") {
      shop in
      try shop.library("log", routes + "BEEHIVE_ROUTE(\"app://log/:id\", perform);")
      let place = shop.pick("log", "other")
      try shop.library("other", routes + "BEEHIVE_ROUTE(\"app://\(place)/:name\", perform);")
    },
    Mistake(
      "a type that is nowhere", of: "module:Shop.Log", "missing-implementation", fix: "add the file"
    ) { shop in
      if shop.isMended {
        return try shop.library(
          "log", Compiler.module("log").replacing("(log,", with: "(Shop.Log,"))
      }
      try shop.library("log", slot("BeehiveMods", "Shop.Log"))
    },
    Mistake("a service that nobody has", "unmet-requirement", fix: "add the file that declares it")
    {
      shop in
      try shop.module("log", "BEEHIVE_NEEDS(\"\(shop.pick("Pager", "Mail"))\")")
      try table(shop, "Mail", in: "mail")
    },
    Mistake("a scoped service for a module", "scoped-need", fix: "let it open a scope") { shop in
      try shop.library(
        "mail",
        """
        #include <BeeHive.h>
        static void *make(const beehive_context *context) { return (void *)context; }
        BEEHIVE_SERVICE_FACTORY(
          Mail, Plain, make, 0, BEEHIVE_SCOPE("\(shop.pick("scoped", "singleton"))"));
        """)
      try shop.module("log", "BEEHIVE_NEEDS(\"Mail\")")
    },
    Mistake(
      "a name that is misspelled in the question", of: "module:log", "missing-module", at: "",
      fix: "correct the name"
    ) { shop in
      try shop.library("log", Compiler.module(shop.pick("logg", "log")))
    },
  ]

  /// Returns the findings of a command, without remarks, and its status.
  private func told(_ arguments: [String], in folder: Folder) throws -> (status: Int32, [Told]) {
    let outcome = try Command.run(
      Repository.sectionDump, arguments + ["--format", "sarif"], in: folder.url,
      environment: ["XDG_CONFIG_HOME": folder.place("config").path])
    let run = try #require((Tool.object(outcome.output)["runs"] as? [[String: Any]])?.first)
    let results = try #require(run["results"] as? [[String: Any]])
    let told = try results.filter { $0["level"] as? String != "note" }.map { result in
      let text = try #require((result["message"] as? [String: String])?["text"])
      let parts = text.split(separator: "\n", maxSplits: 1, omittingEmptySubsequences: false)
      let location = (result["locations"] as? [[String: Any]])?.first?["physicalLocation"]
      let file = (location as? [String: Any])?["artifactLocation"] as? [String: String]
      // Sentences of the doctor begin with a capital letter.
      var fix = String(parts.last ?? "")
      if fix.hasSuffix(".") { fix = fix.prefix(1).lowercased() + fix.dropFirst().dropLast() }
      return Told(
        code: try #require(result["ruleId"] as? String), path: file?["uri"] ?? "",
        message: String(parts[0]), fix: fix)
    }
    return (outcome.status, told)
  }

  @Test("by one command at least, and none says otherwise", arguments: mistakes)
  func named(_ mistake: Mistake) throws {
    for isMended in [false, true] {
      let folder = try Folder()
      defer { folder.remove() }
      try folder.makeFolder("plugins")
      try Compiler.compile("int main(void) { return 0; }", as: "app", in: folder.url, [])
      try mistake.make(Workshop(folder: folder, isMended: isMended))
      var commands = [["verify", "--strict", "-r", "."], ["doctor", "plugins", "--host", "app"]]
      if !mistake.entry.isEmpty { commands.append(["why", mistake.entry, ".", "--host", "app"]) }
      let said = try commands.map { try told($0, in: folder) }
      guard !isMended else {
        #expect(said.allSatisfy { $0.status == 0 && $0.1.isEmpty }, "\(said)")
        continue
      }
      let all = said.flatMap(\.1)
      let isNamed = all.contains { told in
        told.code == mistake.code && told.path.hasSuffix(mistake.path)
          && told.fix.lowercased().contains(mistake.fix.lowercased())
      }
      #expect(isNamed, "\(said)")
      let fixes = Dictionary(grouping: all, by: \.code).mapValues { Set($0.map(\.fix)) }
      #expect(fixes.values.allSatisfy { $0.count == 1 }, "\(fixes)")
      guard said.count == 3 else { continue }
      let known = Set(said[0...1].flatMap(\.1).map(\.code)).union(["missing-module", "folder"])
      let status = max(1, said[0].status)
      #expect(
        said[2].status == status && said[2].1.allSatisfy { known.contains($0.code) }, "\(said)")
    }
  }
}
