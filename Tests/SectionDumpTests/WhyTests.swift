import Foundation
import TestSupport
import Testing

@Suite("why says where an entry is lost")
struct WhyTests {
  /// A loss planted into one file among others.
  enum Loss: String, CaseIterable, Sendable {
    case misspelled, unlinkedMember, collected, lookAlike, removed
    case superseded, switchedOff, writable, denied
    case undefinedSymbol, missingLibrary
    case malformed, nameless, duplicate, unbound, unmet, cycle, none

    var stage: String {
      switch self {
      case .misspelled: "object file"
      case .unlinkedMember, .collected, .lookAlike, .removed: "linked file"
      case .superseded, .switchedOff: "folder"
      case .writable, .denied: "admission"
      case .undefinedSymbol, .missingLibrary: "loader"
      case .malformed, .nameless: "rules"
      case .duplicate: "duplicates"
      case .unbound: "binding"
      case .unmet: "requirements"
      case .cycle: "start"
      case .none: ""
      }
    }
  }

  /// A folder with a loss, and the arguments that ask for the entry.
  private struct Patient {
    let folder: Folder
    var entry = ""
    var arguments = ["."]

    func library(_ name: String, _ source: String, _ options: [String] = []) throws {
      try Compiler.library(source, as: "plugins/lib\(name).so", in: folder.url, ["-w"] + options)
    }
    func object(_ name: String, _ source: String) throws {
      try Compiler.compile(
        source, as: name, in: folder.url, ["-w", "-c", "-fPIC", "-I", Repository.headers])
    }
    func program(_ options: [String] = []) throws {
      try Compiler.compile("int main(void) { return 0; }", as: "app", in: folder.url, options)
    }
    mutating func asks(_ entry: String, host: Bool = true) throws {
      self.entry = entry
      if host {
        try program()
        arguments += ["--host", "app"]
      }
    }
  }

  /// Returns an entry as written by hand.
  private static func slot(_ section: String, _ text: String) -> String {
    "__attribute__((used, aligned(8), section(\"\(section)\"))) "
      + "static const char *const entry = \(text.debugDescription);"
  }

  private func plant(_ loss: Loss, _ name: String) throws -> Patient {
    var patient = Patient(folder: try Folder())
    let module = Compiler.module(name)
    switch loss {
    case .misspelled:
      try patient.library(name, module)
      try patient.asks("module:\(name)x")
    case .unlinkedMember:
      try patient.object("\(name).o", module)
      try Command.run("ar", ["rc", "lib\(name).a", "\(name).o"], in: patient.folder.url).expect(0)
      try FileManager.default.removeItem(at: patient.folder.place("\(name).o"))
      try patient.program(["lib\(name).a"])
      try patient.asks("module:\(name)", host: false)
    case .collected:
      try patient.object("\(name).o", Self.slot("BeehiveMods", name))
      try patient.program(["\(name).o", "-Wl,--gc-sections"])
      try patient.asks("module:\(name)", host: false)
    case .lookAlike:
      try patient.library(name, Self.slot("BeehiveModules", name))
      try patient.asks("module:\(name)", host: false)
    case .removed:
      try patient.library(name, module)
      try Command.run(
        "objcopy", ["-R", "BeehiveRecords", "plugins/lib\(name).so"], in: patient.folder.url
      ).expect(0)
      try patient.asks("module:\(name)", host: false)
    case .superseded:
      for version in 1...2 {
        let identity = "BEEHIVE_PLUGIN(\"com.example.\(name)\", \"\(version).0.0\");"
        try patient.library(
          "\(name)\(version)", Compiler.module("\(name)_\(version)") + "\n" + identity)
      }
      try patient.asks("module:\(name)_1")
    case .switchedOff:
      try patient.library(name, module + "\nBEEHIVE_PLUGIN(\"com.example.\(name)\", \"1.0.0\");")
      try patient.folder.write("{\"off\":[\"com.example.\(name)\"]}", as: "config/app/plugins.json")
      try patient.asks("module:\(name)")
    case .writable:
      try patient.library(name, module)
      try FileManager.default.setAttributes(
        [.posixPermissions: 0o666],
        ofItemAtPath: patient.folder.place("plugins/lib\(name).so").path)
      try patient.asks("module:\(name)")
    case .denied:
      try patient.library(name, module)
      try patient.asks("module:\(name)")
      patient.arguments += ["--deny", "lib\(name).so"]
    case .undefinedSymbol:
      try patient.library(
        name, module + "\nvoid nowhere_\(name)(void); void call(void) { nowhere_\(name)(); }")
      try patient.asks("module:\(name)")
    case .missingLibrary:
      try Compiler.library("int helper;", as: "libhelper_\(name).so", in: patient.folder.url)
      try patient.library(name, module, ["-L.", "-Wl,--no-as-needed", "-lhelper_\(name)"])
      try FileManager.default.removeItem(at: patient.folder.place("libhelper_\(name).so"))
      try patient.asks("module:\(name)")
    case .malformed:
      try patient.library(name, Compiler.module(name, "BEEHIVE_REQUIRES(\"\")"))
      try patient.asks("module:\(name)", host: false)
    case .nameless:
      try patient.library(name, Self.slot("BeehiveServices", "{ \(name) }"))
      try patient.asks("service:\(name)", host: false)
    case .duplicate:
      try patient.library(name, module)
      try patient.library("\(name)_again", module + "\nint again;")
      try patient.asks("module:\(name)", host: false)
    case .unbound:
      try patient.library(name, Self.slot("BeehiveMods", "Shop.\(name)"))
      try patient.asks("module:Shop.\(name)", host: false)
    case .unmet:
      try patient.library(name, Compiler.module(name, "BEEHIVE_REQUIRES(\"absent_\(name)\")"))
      try patient.asks("module:\(name)")
    case .cycle:
      let (one, other) = (name, "\(name)_other")
      try patient.library(one, Compiler.module(one, "BEEHIVE_REQUIRES(\"\(other)\")"))
      try patient.library(other, Compiler.module(other, "BEEHIVE_REQUIRES(\"\(one)\")"))
      try patient.asks("module:\(name)")
    case .none:
      try patient.library(name, module)
      try patient.asks("module:\(name)")
    }
    return patient
  }

  /// Asks for an entry in folders, with a host; returns the loss on each way, and the status.
  private func asked(_ entry: String, in patient: Patient, _ folders: [String]) throws
    -> (lost: [String?], status: Int32)
  {
    let outcome = try Command.run(
      Repository.sectionDump, ["why", entry] + folders + ["--host", "app", "--format", "json"],
      in: patient.folder.url)
    let ways = try #require(Tool.object(outcome.output)["ways"] as? [[[String: Any]]])
    return (
      ways.map { $0.last { $0["state"] as? String == "lost" }?["stage"] as? String }, outcome.status
    )
  }

  @Test("in copies of one file, each on its own way, and in hidden files")
  func copies() throws {
    let patient = Patient(folder: try Folder())
    try patient.program()
    try patient.library("x", Compiler.module("twin"))
    let file = patient.folder.place("plugins/libx.so")
    for name in ["open", "safe", "hidden"] {
      try patient.folder.makeFolder(name)
      let copy = patient.folder.place("\(name)/\(name == "hidden" ? "." : "")libx.so")
      try FileManager.default.copyItem(at: file, to: copy)
    }
    try FileManager.default.setAttributes(
      [.posixPermissions: 0o777], ofItemAtPath: patient.folder.place("open").path)
    #expect(try asked("module:twin", in: patient, ["open"]) == (["admission"], 1))
    #expect(try asked("module:twin", in: patient, ["open", "safe"]) == (["admission", nil], 0))
    #expect(try asked("module:twin", in: patient, ["hidden"]) == (["folder"], 1))
    try FileManager.default.createDirectory(
      at: patient.folder.place("both"), withIntermediateDirectories: true)
    for name in ["libx.so", "liby.so"] {
      try FileManager.default.copyItem(at: file, to: patient.folder.place("both/\(name)"))
    }
    #expect(try asked("module:twin", in: patient, ["both"]) == ([nil, "duplicates"], 0))
  }

  @Test("in programs, which no host loads and which count for no other file")
  func programs() throws {
    let patient = Patient(folder: try Folder())
    try patient.program()
    try patient.library("x", Compiler.module("lamp"))
    try Compiler.compile(
      Compiler.module("lamp") + "\nint main(void) { return 0; }", as: "plugins/another",
      in: patient.folder.url, ["-w", "-I", Repository.headers])
    #expect(try asked("module:lamp", in: patient, ["plugins"]) == ([nil, "loader"], 0))
    try FileManager.default.removeItem(at: patient.folder.place("plugins/libx.so"))
    #expect(try asked("module:lamp", in: patient, ["plugins"]) == (["loader"], 1))
  }

  @Test("and names the files of a folder that are no plugins, if no file has it")
  func others() throws {
    let patient = Patient(folder: try Folder())
    try patient.program()
    try patient.folder.makeFolder("plugins")
    try patient.folder.write("GROUP ( libx.so.1 )", as: "plugins/libx.so")
    try Command.run(
      Repository.sectionDump, ["why", "module:x", "plugins", "--host", "app"],
      in: patient.folder.url
    ).expect(1, output: "libx.so  It is no object file")
  }

  @Test("beside a linked file of a folder that has no entries")
  func dropped() throws {
    let patient = Patient(folder: try Folder())
    try patient.library("x", "int none;")
    try patient.object("plugins/lamp.o", Compiler.module("lamp"))
    let folder = patient.folder
    for arguments in [["why", "module:lamp"], ["verify", "-r", "--require", "module:lamp"]] {
      try Command.run(Repository.sectionDump, arguments + ["plugins"], in: folder.url)
        .expect(1, output: "in no linked file")
    }
    try Command.run(
      Repository.sectionDump, ["why", "module:lamp", "plugins", "--strict"], in: folder.url
    ).expect(64, errors: "needs --host EXECUTABLE")
  }

  @Test("in the company of all folders that are named")
  func folders() throws {
    let patient = Patient(folder: try Folder())
    try patient.program()
    for (folder, source) in [
      ("one", Compiler.module("lamp", "BEEHIVE_REQUIRES(\"power\")")),
      ("two", Compiler.module("power")), ("three", Compiler.module("lamp_1")),
      ("four", Compiler.module("lamp_2")),
    ] {
      let version = ["three": 1, "four": 2][folder]
      let more = version.map { "\nBEEHIVE_PLUGIN(\"com.example.lamp\", \"\($0).0.0\");" }
      try Compiler.library(
        source + (more ?? ""), as: "\(folder)/lib\(folder).so", in: patient.folder.url, ["-w"])
    }
    #expect(try asked("module:lamp", in: patient, ["one"]) == (["requirements"], 1))
    #expect(try asked("module:lamp", in: patient, ["one", "two"]) == ([nil], 0))
    #expect(try asked("module:lamp_1", in: patient, ["three"]) == ([nil], 0))
    #expect(try asked("module:lamp_1", in: patient, ["three", "four"]) == (["folder"], 1))
  }

  @Test("and what its author did not mean, where nothing loses it")
  func meant() throws {
    let patient = Patient(folder: try Folder())
    try patient.library("log", Compiler.module("log", "BEEHIVE_ATTRIBUTE(\"prioritiy\", \"3\")"))
    let outcome = try Command.run(
      Repository.sectionDump, ["why", "module:log", "plugins"], in: patient.folder.url)
    outcome.expect(0, output: "it is well formed, but module log has the attribute prioritiy")
  }

  @Test("and a file that cannot be read is status 2, whatever became of the entry")
  func unreadable() throws {
    let patient = try plant(.none, "readable")
    let words = ["why", patient.entry, "plugins", "absent.so", "--format"]
    for format in ["table", "csv", "ndjson"] {
      let outcome = try Command.run(
        Repository.sectionDump, words + [format], in: patient.folder.url)
      outcome.expect(2, errors: "absent.so: ", output: "here")
    }
  }

  /// Plants several cases of a loss. Checks the step, its remedy, and the status.
  @Test("names the planted loss", arguments: Loss.allCases)
  func planted(_ loss: Loss) throws {
    var generator = SeededGenerator(seed: UInt64(loss.rawValue.utf8.count))
    for number in 0..<Effort.times(2, full: 60) {
      let name = "\(loss.rawValue.lowercased())_\(number)"
      let patient = try plant(loss, name)
      for decoy in 0..<Int.random(in: 0...3, using: &generator) {
        try patient.library("decoy\(decoy)", Compiler.module("decoy_\(decoy)"))
      }
      let outcome = try Command.run(
        Repository.sectionDump,
        ["why", patient.entry] + patient.arguments + ["--format", "json"], in: patient.folder.url,
        environment: ["XDG_CONFIG_HOME": patient.folder.place("config").path])
      let document = try Tool.object(outcome.output)
      let ways = try #require(document["ways"] as? [[[String: Any]]])
      let losses = ways.compactMap(\.last).filter { $0["state"] as? String == "lost" }
      let lost = losses.compactMap { $0["stage"] as? String }
      #expect(lost == (loss == .none ? [] : [loss.stage]), "\(patient.entry): \(outcome.output)")
      // Of two entries of one name the first remains.
      let isThere = [.none, .duplicate].contains(loss)
      let isDamaged = [.malformed, .nameless, .removed].contains(loss)
      #expect(outcome.status == (isThere ? 0 : isDamaged ? 2 : 1))
      #expect(losses.allSatisfy { ($0["remedy"] as? String)?.isEmpty == false })
      patient.folder.remove()
    }
  }
}
