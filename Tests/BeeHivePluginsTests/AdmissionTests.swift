import BeeHivePlugins
import Foundation
import TestSupport
import Testing

/// Builds a plugin elsewhere, and moves it into place when it is complete.
func build(_ name: String, _ source: String, in folder: Folder) throws {
  let made = try Folder()
  let library = try Compiler.library(source, as: "made.so", in: made.url, ["-w", "-Wl,--build-id"])
  try folder.makeFolder((name as NSString).deletingLastPathComponent)
  try FileManager.default.moveItem(at: library, to: folder.place(name))
}

@Suite("The plugins that this process would load")
struct AdmissionTests {
  @Test("are named providers first, and load in that order")
  func admitted() async throws {
    let (folder, hive) = (try Folder(), Hive())
    try build("a.so", Compiler.module("doctor_a", #"BEEHIVE_REQUIRES("doctor_b")"#), in: folder)
    try build("b.so", Compiler.module("doctor_b", #"BEEHIVE_REQUIRES("here")"#), in: folder)
    try build("c.so", Compiler.module("doctor_c", #"BEEHIVE_REQUIRES("nowhere")"#), in: folder)
    try hive.plugins.add(directory: folder.path)
    #expect(try hive.plugins.admission().admitted.isEmpty)
    // A module that this Hive registered by code meets a requirement.
    struct Here: Module { init() {} }
    try await hive.register(module: Here.self, name: "here")
    let paths = try hive.plugins.admission().admitted
    #expect(paths == ["b.so", "a.so"].map { folder.place($0).path })
    for path in paths { try OpenLibrary.keep(path) }
    let report = try hive.plugins.admission()
    #expect(report.admitted == paths)
    #expect(report.plugins.last?.refusals.map(\.code) == ["unmet-requirement"])
    #expect(report.description.contains("2 of 3 plugins would load"))
    // Other tests open libraries meanwhile.
    #expect(hive.plugins.report().admission?.plugins == report.plugins)
    #expect(hive.plugins.report().description.contains("2 of 3 plugins would load"))
  }

  @Test("are held to the policy, and to the host's own verification")
  func policy() throws {
    struct Unsigned: Error {}
    let (folder, hive) = (try Folder(), Hive())
    try build("a.so", Compiler.module("policy_a"), in: folder)
    try hive.plugins.add(directory: folder.path)
    #expect(try hive.plugins.admission().admitted.count == 1)
    hive.plugins.verify { _, path in if path.hasSuffix("a.so") { throw Unsigned() } }
    #expect(try hive.plugins.admission().plugins.first?.refusals.map(\.code) == ["signature"])
    hive.plugins.policy.denied = ["*.so"]
    #expect(try hive.plugins.admission().plugins.first?.refusals.map(\.code) == ["denied"])
  }

  @Test("do not get the symbols of what the process has opened for its opener alone")
  func openedLocally() throws {
    let (folder, hive) = (try Folder(), Hive())
    let name = "only_\(UUID().uuidString.replacing("-", with: "_"))"
    let path = folder.place("opened.so").path
    try build("opened.so", "int \(name)(void); int \(name)(void) { return 1; }", in: folder)
    try build(
      "plugins/a.so",
      "int \(name)(void); int use(void); int use(void) { return \(name)(); }\n"
        + Compiler.module("local_a"), in: folder)
    try hive.plugins.add(directory: folder.place("plugins").path)
    let library = try OpenLibrary(path)
    defer { library.close() }
    // Symbols are not judged while another test has replaced a library of this process.
    func isJudged(_ codes: [String]) throws -> Bool {
      let report = try hive.plugins.admission()
      return !report.problems.isEmpty || report.plugins.map { $0.refusals.map(\.code) } == [codes]
    }
    #expect(try isJudged(["undefined-symbol"]))
    try #require(unsafe dlopen(path, RTLD_NOW | RTLD_NOLOAD | RTLD_GLOBAL) != nil)
    #expect(try isJudged([]))
  }

  @Test("come from the directories that a variable names, the absolute ones in their order")
  func variable() throws {
    let (folder, hive) = (try Folder(), Hive())
    try build("own/a.so", Compiler.module("own_a"), in: folder)
    try build("all/a.so", Compiler.module("all_a"), in: folder)
    let name = "BEEHIVE_TEST_\(UUID().uuidString)"
    let value = "relative:\(folder.place("own").path)::\(folder.place("all").path)"
    try #require(unsafe setenv(name, value, 1) == 0)
    defer { unsafe unsetenv(name) }
    #expect(try hive.plugins.add(directoriesFrom: name).count == 2)
    #expect(try hive.plugins.admission().admitted == [folder.place("own/a.so").path])
    #expect(try hive.plugins.admission().plugins.last?.refusals.map(\.code) == ["shadowed"])
    #expect(try hive.plugins.add(directoriesFrom: name + "_NOT").isEmpty)
    // All directories are added, or none.
    try #require(unsafe setenv(name, "\(folder.path)/own:/not-there", 1) == 0)
    let other = Hive()
    #expect(throws: ImageError.self) { try other.plugins.add(directoriesFrom: name) }
    #expect(other.plugins.files.isEmpty)
  }

  @Test("are not those that the user has switched off, and lists say who each is")
  func switches() async throws {
    let (folder, hive) = (try Folder(), Hive())
    let id = "org.test.s\(UUID().uuidString)"
    let source = Compiler.module("switch_a") + "\nBEEHIVE_PLUGIN(\"\(id)\", \"1.2\");"
    try build("plugins/a.so", source, in: folder)
    // No other test uses this id.
    let former = ProcessInfo.processInfo.environment["XDG_CONFIG_HOME"]
    try #require(unsafe setenv("XDG_CONFIG_HOME", folder.path, 1) == 0)
    defer {
      if let former {
        _ = unsafe setenv("XDG_CONFIG_HOME", former, 1)
      } else {
        _ = unsafe unsetenv("XDG_CONFIG_HOME")
      }
    }
    try hive.plugins.add(directory: folder.place("plugins").path)
    #expect(hive.plugins.files.map { $0.identity?.title } == ["\(id) 1.2"])
    #expect(hive.plugins.files.flatMap(\.entries).map(\.name) == ["switch_a"])
    #expect(hive.plugins.report().lines.map(\.name) == ["\(id) 1.2", "switch_a"])
    #expect(try hive.plugins.admission().admitted.count == 1)
    try hive.plugins.switchOff(id)
    let refusal = try #require(try hive.plugins.admission().plugins.first?.refusals.first)
    #expect(refusal.code == "switched-off")
    #expect(refusal.message.contains("\(folder.path)/"))
    try hive.plugins.switchOn(id)
    #expect(try hive.plugins.admission().admitted.count == 1)
    // Loading registers the module, and nothing else.
    try OpenLibrary.keep(folder.place("plugins/a.so").path)
    var names: [String] = []
    _ = try await Patience.wait {
      names = Hive.process.entries.map(\.name)
      return names.contains("switch_a")
    }
    #expect(names.contains("switch_a") && !names.contains(id))
  }
}
