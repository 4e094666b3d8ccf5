import BeeHive
import BinaryImage
import Foundation
import TestSupport
import Testing
import Threads

@testable import BeeHivePlugins
@testable import PluginFiles

@Suite("Plugins are loaded")
struct PluginLoadingTests {
  @Test("those that others need first, and each change of a state is seen")
  func loads() async throws {
    let shop = try Shop()
    try shop.add("a", Shop.source(1, "load_a", requires: "load_b"))
    try shop.add("b", Shop.source(2, "load_b"))
    try shop.add("c", Shop.source(3, "load_c", requires: "nowhere"))
    let changes = shop.hive.plugins.changes
    #expect(shop.states == [.found, .found, .found])
    try await shop.hive.start()
    let loaded = try await shop.hive.plugins.load(marks: shop.marks)
    #expect(loaded.map(\.path) == [shop.path("b"), shop.path("a")])
    #expect(loaded.allSatisfy { $0.state == .loaded && $0.isLoaded })
    #expect(await shop.hive.runningModules == ["load_b", "load_a"])
    #expect(try shop.said("load_a") == 1)
    guard case .refused(let refusals)? = shop.states.last else {
      Issue.record("\(shop.states)")
      return
    }
    #expect(refusals.map(\.code) == ["unmet-requirement"])
    #expect(try await shop.hive.plugins.load().isEmpty)
    let apart = Hive()
    try apart.plugins.add(directory: shop.folder.path)
    let problem = await #expect(throws: Problem.self) { try await apart.plugins.load("b.so") }
    #expect(problem?.message.contains("this Hive does not take it") == true)
    var told: [String] = []
    for await file in changes {
      told.append("\(file.path.split(separator: "/").last ?? "") \(file.state)".prefix(12) + "")
      if told.count == 7 { break }
    }
    #expect(
      told == [
        "a.so admitte", "b.so admitte", "c.so refused", "b.so loading", "b.so loaded",
        "a.so loading", "a.so loaded",
      ])
    #expect(shop.hive.plugins.report().description.contains("refused    service"))
  }

  /// Installs the file of a plugin anew, with the same bytes.
  private func reinstall(_ name: String, in shop: Shop) throws {
    let copy = shop.folder.place("copy").path
    try FileManager.default.copyItem(atPath: shop.path(name), toPath: copy)
    try #require(unsafe rename(copy, shop.path(name)) == 0)
    shop.hive.plugins.refresh()
  }

  @Test("whose files were put there anew, after they were unloaded", arguments: [false, true])
  func reinstalled(isStrict: Bool) async throws {
    let shop = try Shop()
    if isStrict { shop.hive.plugins.policy = .strict }
    try shop.add("a", Shop.source(1, "anew_\(isStrict)"))
    try await shop.hive.start()
    let plugins = shop.hive.plugins
    try await plugins.load(marks: shop.marks)
    try await plugins.unload()
    try reinstall("a", in: shop)
    #expect(shop.states == [.found] && shop.loadedCount == 0)
    #expect(try await plugins.load().count == 1)
    #expect(shop.states == [.loaded])
    #expect(try shop.said("anew_\(isStrict)") == 1)
  }

  @Test("with the library that was judged, also if another takes its place while it is opened")
  func lookedForAgain() async throws {
    let shop = try Shop()
    try shop.folder.makeFolder("lib")
    let other = "int helper(void) { return 666; }"
    let path = shop.folder.place("lib/libagain.so").path
    try Compiler.library(other, as: "lib/other", in: shop.folder.url)
    let swapping = """
      #include <stdio.h>
      int helper(void) { return 7; }
      __attribute__((constructor)) static void swap(void) {
        rename("\(shop.folder.place("lib/other").path)", "\(path)");
      }
      """
    try Compiler.library(swapping, as: "lib/libagain.so", in: shop.folder.url)
    let source = Shop.source(
      1, "again", more: "int helper(void); int call(void) { return helper(); }")
    let made = try Compiler.library(
      source, as: "lib/made", in: shop.folder.url,
      ["-w", "-Wl,--build-id", "-Wl,-rpath,$ORIGIN/lib", "-L", "lib", "-l:libagain.so"])
    try FileManager.default.moveItem(at: made, to: shop.folder.place("a.so"))
    try await shop.hive.plugins.load(marks: shop.marks)
    #expect(try OpenLibrary(shop.path("a")).call("call") == 7)
  }

  @Test("but not where the Hive rejects all that they declare, once it knows the types")
  func rejected() async throws {
    let shop = try Shop()
    try shop.add("a", "#include <BeeHive.h>\nBeeHiveMod(BeeHivePluginsTests.Shop);")
    let problem = await #expect(throws: Problem.self) { try await shop.hive.plugins.load() }
    #expect(problem?.message.contains("Shop does not conform to Module") == true)
    #expect(shop.hive.entries.isEmpty && shop.states != [.loaded])
  }

  @Test("anew, where the same build was put over one that runs")
  func overAgain() async throws {
    let shop = try await Shop(loading: Shop.source(1, "over"))
    let plugins = shop.hive.plugins
    try reinstall("a", in: shop)
    #expect(shop.states == [.found] && shop.loadedCount == 0)
    let problem = await #expect(throws: Problem.self) { try await plugins.load("a.so") }
    #expect(problem?.message.contains("Reload it") == true)
    try await plugins.reload("a.so")
    #expect(shop.states == [.loaded] && shop.hive.entries.count == 2)
    #expect(try shop.said("over") == 1)
  }

  @Test("anew, whatever other versions are beside them")
  func reloadedBeside() async throws {
    let shop = try Shop()
    func source(_ number: Int) -> String {
      Shop.source(
        number, "beside_\(number)",
        more: "BEEHIVE_PLUGIN(\"com.example.beside\", \"\(number).0\");")
    }
    try shop.add("a", source(1))
    try await shop.hive.start()
    let plugins = shop.hive.plugins
    try await plugins.load(marks: shop.marks)
    try shop.add("b", source(3))
    try shop.replace("a", by: source(2))
    try await plugins.reload("a.so")
    #expect(try shop.said("beside_2") == 2)
    #expect(throws: ServiceError.self) { try shop.said("beside_1") }
  }

  /// A module that loads a plugin in its first step, explicitly or by a lookup.
  private struct Opener: Module {
    func setUp(_ context: Context) async throws {
      if context.hive.plugins.activation == .onDemand {
        _ = unsafe try context.hive.service("inner_true_speaker", as: UnsafePointer<Speaker>.self)
      } else {
        #expect(try await context.hive.plugins.load("a.so").map(\.state) == [.loading])
      }
    }
  }

  @Test("inside a step of a module, and a failure is seen after that", arguments: [false, true])
  func inside(isOnDemand: Bool) async throws {
    let shop = try Shop()
    try shop.add("a", Shop.source(1, "inner_\(isOnDemand)", starts: 0))
    if isOnDemand { shop.hive.plugins.activation = .onDemand }
    try await shop.hive.start()
    try await shop.hive.register(module: Opener.self, name: "opener_\(isOnDemand)")
    let isOver = try await Patience.wait {
      if case .failed? = shop.states.first { true } else { false }
    }
    #expect(isOver && shop.hive.entries.map(\.name) == ["opener_\(isOnDemand)"])
  }

  @Test("not by their ids if these cannot be read, as nobody could switch them off")
  func unnamed() throws {
    let shop = try Shop()
    try shop.add(
      "a", Shop.source(1, "unnamed", more: "BEEHIVE_PLUGIN(\"com.example.unnamed\", \"1.0.x\");"))
    let refusals = try shop.hive.plugins.admission().plugins.flatMap(\.refusals)
    #expect(refusals.map(\.code) == ["rejected-entry"])
  }

  @Test("by name, with those that it needs and no others")
  func named() async throws {
    let shop = try Shop()
    try shop.add("a", Shop.source(1, "named_a", requires: "named_b"))
    try shop.add("b", Shop.source(2, "named_b"))
    try shop.add("c", Shop.source(3, "named_c"))
    try shop.add("d", Shop.source(4, "named_d", requires: "nowhere"))
    let loaded = try await shop.hive.plugins.load("a.so", marks: shop.marks)
    #expect(loaded.map(\.path) == [shop.path("b"), shop.path("a")])
    #expect(shop.states[2] == .admitted)
    let missing = await #expect(throws: Problem.self) { try await shop.hive.plugins.load("e.so") }
    #expect(missing?.message == "e.so is none of the plugins that were added")
    let refused = await #expect(throws: Problem.self) {
      try await shop.hive.plugins.load("c.so", "d.so")
    }
    #expect(refused?.message.hasPrefix("d.so is refused: ") == true)
    #expect(shop.states[2] == .admitted)
  }

  @Test("by id, in the versions that the host asks for")
  func ids() async throws {
    let shop = try Shop()
    for (name, version) in [("a", "1.5"), ("b", "2.1")] {
      let plugin = "BEEHIVE_PLUGIN(\"com.example.ids\", \"\(version)\");"
      try shop.add(name, Shop.source(1, "ids", more: plugin))
    }
    try shop.add("c", Shop.source(3, "ids_c"))
    func refused(_ name: String, because reason: String) async {
      let problem = await #expect(throws: Problem.self) {
        try await shop.hive.plugins.load(name, marks: shop.marks)
      }
      #expect(problem?.message.contains(reason) == true, "\(problem?.message ?? "")")
    }
    let id = "com.example.ids"
    await refused("\(id) >=3", because: "It is version 1.5 of \(id), and the host asks for >=3.")
    await refused("\(id) >=x", because: "the versions >=x cannot be read; write them as >=1.2 <2")
    await refused("c.so >=1", because: "It is of no version, and the host asks for >=1.")
    #expect(shop.loadedCount == 0)
    let loaded = try await shop.hive.plugins.load("\(id) >=1 <2")
    #expect(loaded.map(\.path) == [shop.path("a")])
    // The policy keeps the versions that the host asked for.
    shop.hive.plugins.policy.versions["c.so"] = nil
    #expect(try await shop.hive.plugins.load().map(\.path) == [shop.path("c")])
    await refused("\(id) >=2", because: "\(id) runs: \(shop.path("a")). Unload that one first")
    let refusals = try shop.hive.plugins.admission().plugins.map { $0.refusals.map(\.code) }
    #expect(refusals == [["other-version"], ["superseded"], []])
    #expect(try await shop.hive.plugins.unload(id) == [])
    #expect(try await shop.hive.plugins.load("\(id) >=2").map(\.path) == [shop.path("b")])
  }

  @Test("and one whose module does not start is withdrawn wholly; the next attempt may succeed")
  func withdrawn() async throws {
    let shop = try Shop()
    try shop.add("a", Shop.source(1, "fail_a", starts: 0))
    try shop.add("b", Shop.source(2, "fail_b", requires: "fail_a"))
    try shop.add("c", Shop.source(3, "fail_c"))
    try await shop.hive.start()
    let problem = await #expect(throws: Problem.self) {
      try await shop.hive.plugins.load(marks: shop.marks)
    }
    let message = try #require(problem?.message)
    #expect(message.hasPrefix("\(shop.path("a")) was withdrawn: "))
    #expect(message.hasSuffix("\(shop.path("b")) needs \(shop.path("a")), which was not loaded"))
    #expect(shop.hive.entries.map(\.name).sorted() == ["fail_c", "fail_c_speaker"])
    for state in shop.states.prefix(2) {
      guard case .failed = state else {
        Issue.record("\(state)")
        continue
      }
    }
    #expect(shop.states.last == .loaded)
    await #expect(throws: Problem.self) { try await shop.hive.plugins.load() }
  }

  @Test("but not another file that takes the place of the judged one", arguments: [false, true])
  func replacedMeanwhile(isStrict: Bool) async throws {
    let shop = try Shop()
    let ran = shop.folder.place("ran").path
    let other = Shop.source(
      2, "swap_b",
      more: "__attribute__((constructor)) static void run(void) { system(\"touch \(ran)\"); }")
    try shop.add("a", Shop.source(1, "swap_a"))
    try build("other", other, in: shop.folder)
    let (path, place) = (shop.path("a"), shop.folder.place("other").path)
    if isStrict {
      shop.hive.plugins.policy = .strict
      shop.hive.plugins.policy.startup = .anything
    }
    // The judged file is the one that was opened before.
    shop.hive.plugins.verify { _, _ in _ = unsafe rename(place, path) }
    if isStrict {
      try await shop.hive.plugins.load(marks: shop.marks)
      #expect(try shop.said("swap_a") == 1)
      #expect(!FileManager.default.fileExists(atPath: ran))
    } else {
      let problem = await #expect(throws: Problem.self) {
        try await shop.hive.plugins.load(marks: shop.marks)
      }
      #expect(
        problem?.message.contains("\(path) is another file than the one that was judged") == true)
      #expect(shop.hive.entries.isEmpty)
    }
  }

  @Test(
    "and the judgement keeps no more files open than half of those that the process may have open")
  func closed() throws {
    let shop = try Shop()
    for name in ["a", "b", "c"] { try shop.add(name, Shop.source(1, "closed_\(name)")) }
    let plugins = try shop.hive.plugins.admission(keptFiles: 2).plugins
    let files = plugins.compactMap { $0.closure?.members.first?.descriptor }
    #expect(files.map { fcntl($0, F_GETFD) >= 0 } == [true, true, false])
    let closure = try #require(plugins.last?.closure)
    #expect(try closure.opened().members.allSatisfy { fcntl($0.descriptor, F_GETFD) >= 0 })
    try shop.replace("c", by: Shop.source(2, "closed_c"))
    let error = #expect(throws: ImageError.self) { try closure.opened() }
    #expect(error?.message.contains("another file than the one that was judged") == true)
  }

  @Test("but not what is written into the judged file")
  func written() throws {
    let shop = try Shop()
    try shop.add("a", Shop.source(1, "written_a"))
    let judged = try #require(shop.hive.plugins.admission().plugins[0].closure).opened()
    let writer = try FileHandle(forWritingTo: URL(fileURLWithPath: shop.path("a")))
    try writer.write(contentsOf: Data([0x7f]))
    try writer.close()
    let problem = ClosureLoader(closure: judged, isStrict: true).open().problem
    #expect(problem?.message.contains("was changed since it was judged") == true)
  }

  @Test(
    "one after the other, though the numbers of open files return", .serialized,
    arguments: [false, true])
  func numbers(isStrict: Bool) async throws {
    let shop = try Shop()
    if isStrict { shop.hive.plugins.policy.opensJudgedFiles = true }
    for number in 0..<5 {
      try shop.add("n\(number)", Shop.source(number, "number\(isStrict)_\(number)"))
      try await shop.hive.plugins.load("n\(number).so", marks: shop.marks)
      #expect(try shop.said("number\(isStrict)_\(number)") == Int32(number))
    }
    #expect(shop.states == Array(repeating: .loaded, count: 5))
  }

  @Test("with the libraries that were judged, which are found beside it through the private folder")
  func companions() async throws {
    let shop = try Shop()
    shop.hive.plugins.policy.opensJudgedFiles = true
    try shop.add("a", "companion", needing: "libhelper.so")
    let loaded = try await shop.hive.plugins.load(marks: shop.marks)
    #expect(loaded.count == 1, "\(shop.states)")
    #expect(try shop.said("companion") == 1)
    let names = shop.hive.entries.map(\.source.description)
    #expect(names.allSatisfy { $0.hasPrefix("a.so ") }, "\(names)")
  }

  @Test("with a library that has the name of its own file, in another folder")
  func namesakes() async throws {
    let shop = try Shop()
    shop.hive.plugins.policy.opensJudgedFiles = true
    try shop.add("namesake", "namesake", needing: "namesake.so")
    try await shop.hive.plugins.load(marks: shop.marks)
    #expect(try shop.said("namesake") == 1)
  }

  @Test("with a folder of its own, which no search path leads out of when a module opens a library")
  func origin() async throws {
    let shop = try Shop()
    shop.hive.plugins.policy.opensJudgedFiles = true
    let (name, made) = ("beehive-\(UUID().uuidString)", try Folder())
    let variables = ProcessInfo.processInfo.environment
    let parent = variables["XDG_RUNTIME_DIR"] ?? variables["TMPDIR"] ?? "/tmp"
    let trap = URL(fileURLWithPath: parent).appendingPathComponent(name)
    try FileManager.default.createDirectory(at: trap, withIntermediateDirectories: false)
    defer { try? FileManager.default.removeItem(at: trap) }
    let library = try Compiler.library("int x;", as: "libtrap.so", in: made.url)
    try FileManager.default.moveItem(at: library, to: trap.appendingPathComponent("libtrap.so"))
    let source = """
      #include <BeeHive.h>
      #include <dlfcn.h>
      static int say(void) { return dlopen("libtrap.so", RTLD_NOW) != 0; }
      static const struct { int (*say)(void); } speaker = { say };
      BEEHIVE_SERVICE(origin_speaker, Table, &speaker);
      """
    let plugin = try Compiler.library(
      source, as: "made.so", in: made.url,
      ["-w", "-Wl,--build-id", "-Wl,-rpath,$ORIGIN/../\(name)"])
    try FileManager.default.moveItem(at: plugin, to: shop.folder.place("a.so"))
    func folders() throws -> Set<String> {
      Set(try FileManager.default.contentsOfDirectory(atPath: parent))
    }
    let before = try folders()
    try await shop.hive.plugins.load(marks: shop.marks)
    #expect(try shop.said("origin") == 0)
    // Other tests have such folders for a moment.
    var left = try folders().subtracting(before)
      .filter { $0.wholeMatch(of: /beehive-[A-Za-z0-9]{6}/) != nil }
    #expect(
      try await Patience.wait {
        try left.formIntersection(folders()); return left.isEmpty
      })
  }

  @Test("by a path that is relative to the folder of the process")
  func relative() throws {
    let shop = try Shop()
    try shop.add("a", Shop.source(1, "relative_a"))
    let hive = Hive(imagesWhere: { _ in false })
    let up = String(repeating: "../", count: 40)
    try hive.plugins.add(directory: up + shop.folder.path.dropFirst())
    let path = try #require(hive.plugins.files.first).path
    #expect(path.hasPrefix("/") && path.hasSuffix("\(shop.folder.path)/a.so"))
  }

  @Test("if its file has two paths, by the one that is not refused")
  func paths() async throws {
    let shop = try Shop()
    try shop.add("a", Shop.source(1, "paths_a"))
    let open = try shop.folder.makeFolder("open").path
    try makeLink(at: "\(open)/z.so", to: shop.path("a"))
    try FileManager.default.setAttributes([.posixPermissions: 0o777], ofItemAtPath: open)
    let hive = Hive(imagesWhere: { $0.hasPrefix(shop.folder.path) })
    try hive.plugins.add(directory: open)
    #expect(try hive.plugins.admission().plugins.map(\.loads) == [false])
    try hive.plugins.add(directory: shop.folder.path)
    let plugin = try #require(try hive.plugins.admission().plugins.first)
    #expect(plugin.loads && plugin.path == shop.path("a"))
    #expect(
      plugin.remarks
        == ["\(open)/z.so leads to it too; that path is refused [writable-by-others]"])
    #expect(try await hive.plugins.load(marks: shop.marks).map(\.state) == [.loaded])
    #expect(hive.plugins.files.map(\.path) == ["\(open)/z.so"])
    #expect(try await hive.plugins.load().isEmpty)
    #expect(try await hive.plugins.unload("z.so") == [])
  }

  @Test("if it declares who it is and nothing else")
  func identityAlone() async throws {
    let shop = try Shop()
    try shop.add("a", "#include <BeeHive.h>\nBEEHIVE_PLUGIN(\"com.example.alone\", \"1\");")
    #expect(try await shop.hive.plugins.load(marks: shop.marks).map(\.state) == [.loaded])
    #expect(try await shop.hive.plugins.unload("com.example.alone") == [])
    #expect(try await shop.hive.plugins.load().map(\.state) == [.loaded])
  }

  @Test("but not while somebody has a file open for writing, before or after it was judged")
  func openForWriting() async throws {
    let shop = try Shop()
    shop.hive.plugins.policy.opensJudgedFiles = true
    try shop.add("a", Shop.source(1, "written_to"))
    let judged = try #require(shop.hive.plugins.admission().plugins[0].closure).opened()
    let writer = unsafe open(shop.path("a"), O_RDWR)
    // A mapping is enough.
    let mapping = unsafe mmap(nil, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, writer, 0)
    close(writer)
    let refusals = try shop.hive.plugins.admission().plugins[0].refusals
    #expect(refusals.map(\.code) == ["changed"])
    #expect(refusals.first?.message.contains("is open for writing") == true)
    let problem = ClosureLoader(closure: judged, isStrict: true).open().problem
    #expect(problem?.message.contains("a.so is open for writing") == true)
    unsafe munmap(mapping, 4096)
    try await shop.hive.plugins.load(marks: shop.marks)
    #expect(try shop.said("written_to") == 1)
  }

  @Test(
    "as dlopen binds them, with a library that needs symbols of the plugin and one that may be missing"
  )
  func mutual() async throws {
    let shop = try Shop()
    try shop.folder.makeFolder("lib")
    let mutual = """
      int given(void);
      __attribute__((weak)) int chosen(void) { return 1; }
      int helper(void) { return given() + chosen(); }
      """
    try Compiler.library(
      mutual, as: "lib/libmutual.so", in: shop.folder.url, ["-Wl,-soname,libmutual.so"])
    let source = Shop.source(
      1, "mutual",
      more: """
        int given(void) { return 40; }
        int chosen(void) { return 2; }
        int helper(void);
        int call(void) { return helper(); }
        """)
    let made = try Compiler.library(
      source, as: "lib/made", in: shop.folder.url,
      [
        "-w", "-Wl,--build-id", "-Wl,-rpath,$ORIGIN/lib", "-L", "lib", "-l:libmutual.so",
        "-Wl,--auxiliary,libabsent.so",
      ])
    try FileManager.default.moveItem(at: made, to: shop.folder.place("a.so"))
    shop.hive.plugins.refresh()
    try await shop.hive.plugins.load(marks: shop.marks)
    #expect(try OpenLibrary(shop.path("a")).call("call") == 42)
  }

  @Test("but not by a name that the loader would look for again")
  func looked() throws {
    let shop = try Shop()
    let options = ["-Wl,-soname,liblooked.so"]
    let helper = try Compiler.library(
      "int looked;", as: "liblooked.so", in: shop.folder.url, options)
    let source = Shop.source(1, "looked", more: "extern int looked; int *use = &looked;")
    try Compiler.library(
      source, as: "a.so", in: shop.folder.url,
      ["-w", "-Wl,--build-id", "-Wl,-rpath,$ORIGIN", helper.path, "-Wl,--auxiliary,libnone.so"])
    shop.hive.plugins.refresh()
    func plugin() throws -> AdmissionReport.Plugin {
      try #require(try shop.hive.plugins.admission().plugins.first)
    }
    let judged = try #require(plugin().closure).opened()
    let problem = ClosureLoader(closure: judged, isStrict: true).open().problem
    #expect(
      problem?.message.contains("needs libnone.so, and the loader knows no such name") == true)
    shop.hive.plugins.policy.opensJudgedFiles = true
    let refusals = try plugin().refusals
    #expect(refusals.map(\.code) == ["not-loadable"])
    #expect(refusals.first?.message.contains("a.so gets libnone.so if that is there") == true)
    // The links are in another folder than the file.
    let dollar = try Compiler.library(
      "int looked;", as: "libdollar.so", in: shop.folder.url,
      ["-Wl,-soname,$ORIGIN/libdollar.so"])
    try Compiler.library(
      source, as: "a.so", in: shop.folder.url, ["-w", "-Wl,--build-id", dollar.path])
    shop.hive.plugins.refresh()
    #expect(try plugin().refusals.contains { $0.message.contains("needs $ORIGIN/libdollar.so") })
  }
}

@Suite("Plugins that ended the process")
struct QuarantineTests {
  @Test("are found by the mark that was there while they were loaded, until the file changes")
  func quarantine() async throws {
    let shop = try Shop()
    let seen = shop.folder.place("seen").path
    let more = """
      __attribute__((constructor)) static void run(void) { system("ls \(shop.marks) > \(seen)"); }
      """
    try shop.add("a", Shop.source(1, "marked", more: more))
    try shop.add("b", Shop.source(2, "unmarked", requires: "marked"))
    try await shop.hive.plugins.load(marks: shop.marks)
    let mark = try String(contentsOfFile: seen, encoding: .utf8).trimmingCharacters(in: .newlines)
    // Two containers may share the folder, and their processes may have the same number.
    #expect(mark.hasPrefix("a.so-") && mark.hasSuffix(".\(processNamespace).\(getpid())"))
    #expect(try FileManager.default.contentsOfDirectory(atPath: shop.marks).isEmpty)

    // This mark is as if that process had ended there.
    let left = try shop.folder.write("", as: "marks/\(mark)")
    try makeLink(at: shop.folder.place("c.so").path, to: "a.so")
    let next = Hive(imagesWhere: { _ in false })
    try next.plugins.add(directory: shop.folder.path)
    let problem = await #expect(throws: Problem.self) {
      try await next.plugins.load("a.so", marks: shop.marks)
    }
    #expect(problem?.message.contains("A process ended while it loaded this file") == true)
    #expect(problem?.message.contains(left.path) == true)
    guard case .quarantined = next.plugins.files[0].state else {
      Issue.record("\(next.plugins.files.map(\.state))")
      return
    }
    let others = try next.plugins.admission().plugins[1].refusals
    #expect(others.map(\.code) == ["refused-provider"])
    // A live process keeps its mark locked while it loads the file.
    let lock = unsafe open(left.path, O_RDWR)
    #expect(flock(lock, LOCK_EX) == 0)
    #expect(try next.plugins.admission().plugins.allSatisfy(\.loads))
    close(lock)
    // Children of other tests may have inherited the lock for a moment.
    let isFree = try await Patience.wait {
      try next.plugins.admission().plugins.allSatisfy { !$0.loads }
    }
    #expect(isFree)
    // A child that outlives its process keeps the lock too. In another namespace nobody knows the process.
    let name = left.deletingPathExtension().deletingPathExtension()
    let (other, dead) = (
      name.appendingPathExtension("1.\(Int32.max)"),
      name.appendingPathExtension("\(processNamespace).\(Int32.max)")
    )
    try FileManager.default.moveItem(at: left, to: other)
    let child = unsafe open(other.path, O_RDWR)
    #expect(flock(child, LOCK_EX) == 0)
    #expect(try next.plugins.admission().plugins.allSatisfy(\.loads))
    try FileManager.default.moveItem(at: other, to: dead)
    #expect(try next.plugins.admission().plugins.allSatisfy { !$0.loads })
    close(child)
    // Another build has another stamp.
    try FileManager.default.removeItem(atPath: shop.path("a"))
    try shop.add("a", Shop.source(3, "marked"))
    next.plugins.refresh()
    #expect(try next.plugins.admission().plugins.allSatisfy(\.loads))
  }
}

extension QuarantineTests {
  @Test("are found in the same folder after a plugin has changed the working directory")
  func absoluteMarks() async throws {
    let hive = Hive(imagesWhere: { _ in false })
    try await hive.plugins.load(marks: "marks")
    #expect(hive.plugins.store.state.withLock { $0.marks }?.hasSuffix("/marks") == true)
  }

  @Test("are not found where no mark can be written, which the report says")
  func unmarked() async throws {
    let shop = try Shop()
    try shop.add("a", Shop.source(1, "unmarked_a"))
    try await shop.hive.plugins.load(marks: "/proc/none")
    #expect(try shop.said("unmarked_a") == 1)
    let problems = shop.hive.plugins.report().problems
    #expect(problems.count == 1 && problems[0].contains("/proc/none: No mark can be written"))
  }

  @Test("have marks that no point hides, with names that are not too long")
  func names() {
    let stamp = FileStamp(stat())
    for name in [".a.so", "..a.so", String(repeating: "a", count: 300)] {
      let text = LoadMarks.text(of: "/folder/\(name)", stamp)
      #expect(!text.hasPrefix(".") && text.utf8.count < 240)
    }
  }
}

@Suite("Plugins are unloaded and reloaded")
struct PluginReloadingTests {
  @Test("and come back, as often as one likes")
  func cycles() async throws {
    let shop = try Shop()
    try shop.add("a", Shop.source(1, "cycle_a"))
    try await shop.hive.start()
    for _ in 0..<Effort.times(50, full: 1000) {
      try await shop.hive.plugins.load(marks: shop.marks)
      #expect(try shop.said("cycle_a") == 1)
      #expect(try await shop.hive.plugins.unload("a.so") == [])
      #expect(await shop.hive.runningModules.isEmpty)
    }
    #expect(shop.states == [.unloaded] && shop.hive.entries.isEmpty)
    let problem = await #expect(throws: Problem.self) { try await shop.hive.plugins.unload("a.so") }
    #expect(problem?.message == "a.so is not loaded, so it cannot be unloaded")
  }

  @Test("and come back with the plugins whose files they need")
  func linked() async throws {
    let shop = try Shop()
    let options = ["-w", "-Wl,--build-id", "-Wl,-rpath,$ORIGIN"]
    let needed = try Compiler.library(
      Shop.source(1, "linked_a", more: "int linked(void) { return 1; }"), as: "liblinked.so",
      in: shop.folder.url, options + ["-Wl,-soname,liblinked.so"])
    let more = "extern int linked(void); int call(void) { return linked(); }"
    try Compiler.library(
      Shop.source(2, "linked_b", more: more), as: "needing.so", in: shop.folder.url,
      options + [needed.path])
    shop.hive.plugins.refresh()
    for _ in 0..<2 {
      let loaded = try await shop.hive.plugins.load("needing.so", marks: shop.marks)
      #expect(loaded.map(\.path) == [needed.path, shop.path("needing")])
      #expect(try shop.said("linked_a") == 1)
      try await shop.hive.plugins.unload()
    }
  }

  @Test("and are unloaded by the removal of their images, which they share with no replacement")
  func removed() async throws {
    let shop = try await Shop(loading: Shop.source(1, "removed_a"), isStarted: false)
    let problem = await #expect(throws: Problem.self) {
      try await shop.hive.replace(image: shop.path("a"))
    }
    #expect(problem?.message.contains("it is a plugin; reload it by hive.plugins.reload") == true)
    #expect(await shop.hive.remove(image: shop.path("a")) == 2)
    #expect(shop.states == [.unloaded])
    #expect(try await shop.hive.plugins.load().map(\.state) == [.loaded])
    #expect(try shop.said("removed_a") == 1)
  }

  @Test("by the name that the file has now")
  func renamed() async throws {
    let shop = try await Shop(loading: Shop.source(1, "renamed_a"), isStarted: false)
    try FileManager.default.moveItem(atPath: shop.path("a"), toPath: shop.path("b"))
    shop.hive.plugins.refresh()
    #expect(shop.states == [.loaded])
    #expect(try await shop.hive.plugins.unload("b.so") == [])
    #expect(shop.states == [.unloaded] && shop.hive.entries.isEmpty)
  }

  @Test("and the answer says who still has something of them, and who needs them")
  func users() async throws {
    let shop = try Shop()
    try shop.add("a", Shop.source(1, "used_a"))
    try shop.add("b", Shop.source(2, "used_b", requires: "used_a"))
    try await shop.hive.start()
    try await shop.hive.plugins.load(marks: shop.marks)
    let users = try await shop.hive.plugins.unload("a.so")
    #expect(users.count == 1 && users[0].hasPrefix("module used_b ("), "\(users)")
    #expect(shop.states == [.unloaded, .loaded])
  }

  @Test("by the file that a link leads to by now", arguments: [false, true])
  func links(isStrict: Bool) async throws {
    let shop = try Shop()
    shop.hive.plugins.policy.opensJudgedFiles = isStrict
    try shop.folder.makeFolder("builds")
    for number in 1...2 {
      try build("builds/\(number).so", Shop.source(number, "link_\(isStrict)"), in: shop.folder)
    }
    func lead(to number: Int) throws {
      try? FileManager.default.removeItem(atPath: shop.path("a"))
      try makeLink(at: shop.path("a"), to: "builds/\(number).so")
    }
    try lead(to: 1)
    try await shop.hive.plugins.load(marks: shop.marks)
    try lead(to: 2)
    // Other tests keep the loader busy meanwhile.
    let users = try await Hive.$openingLimit.withValue(.seconds(600)) {
      try await shop.hive.plugins.reload("a.so")
    }
    #expect(users == [])
    #expect(try shop.said("link_\(isStrict)") == 2)
  }

  @Test("but not by another plugin in the place of the old one, called by its id or its new path")
  func otherPlugin() async throws {
    let id = #"BEEHIVE_PLUGIN("com.example.own", "1");"#
    let shop = try await Shop(loading: Shop.source(1, "own_a", more: id))
    try FileManager.default.moveItem(atPath: shop.path("a"), toPath: shop.path("b"))
    try shop.add("a", Shop.source(2, "other_a"))
    for name in ["com.example.own", "b.so"] {
      let problem = await #expect(throws: Problem.self) { try await shop.hive.plugins.reload(name) }
      #expect(problem?.message.contains("is another plugin now, and not \(name)") == true)
    }
    #expect(try shop.said("own_a") == 1)
  }

  @Test("by a file in the place of the old one, which was moved away", arguments: [false, true])
  func moved(isStrict: Bool) async throws {
    let shop = try Shop()
    shop.hive.plugins.policy.opensJudgedFiles = isStrict
    try shop.add("a", Shop.source(1, "moved_\(isStrict)"))
    try await shop.hive.plugins.load(marks: shop.marks)
    let kept = shop.folder.place("kept").path
    try FileManager.default.moveItem(atPath: shop.path("a"), toPath: kept)
    try shop.add("a", Shop.source(2, "moved_\(isStrict)"))
    let users = try await Hive.$openingLimit.withValue(.seconds(600)) {
      try await shop.hive.plugins.reload("a.so")
    }
    #expect(users == [])
    #expect(try shop.said("moved_\(isStrict)") == 2)
  }

  @Test("by the file that was renamed over, which is judged first", arguments: [false, true])
  func reloads(isStrict: Bool) async throws {
    let shop = try Shop()
    let name = "reload_\(isStrict)"
    shop.hive.plugins.policy.opensJudgedFiles = isStrict
    func replace(_ number: Int, starts: Int = 1) throws {
      try build("new", Shop.source(number, name, starts: starts), in: shop.folder)
      try #require(unsafe rename(shop.folder.place("new").path, shop.path("a")) == 0)
    }
    func reload() async throws -> [String] {
      // Other tests keep the loader busy meanwhile.
      try await Hive.$openingLimit.withValue(.seconds(600)) {
        try await shop.hive.plugins.reload("a.so")
      }
    }
    func isKept(because reason: String) async throws {
      let problem = await #expect(throws: Problem.self) { try await reload() }
      let message = problem?.message ?? ""
      #expect(message.hasPrefix("\(shop.path("a")) was not replaced: "), "\(message)")
      #expect(message.contains(reason), "\(message)")
      #expect(try shop.said(name) == 1)
      #expect(await shop.hive.runningModules == [name])
    }
    try shop.add("a", Shop.source(1, name))
    try await shop.hive.start()
    try await shop.hive.plugins.load(marks: shop.marks)
    try await isKept(because: "it is the file that is loaded; rename the new build over it")
    try replace(2)
    // A second build does not load while the first one runs.
    #expect(try await shop.hive.plugins.load().isEmpty)
    let second = await #expect(throws: Problem.self) { try await shop.hive.plugins.load("a.so") }
    #expect(
      second?.message
        == "a.so is refused: An earlier build of it runs. Reload it, or unload the earlier build first."
    )
    shop.hive.plugins.policy.denied = ["a.so"]
    try await isKept(because: "denies")
    shop.hive.plugins.policy.denied = []
    try replace(3, starts: 0)
    try await isKept(because: "the old build goes on")
    for number in 4..<8 {
      try replace(number)
      #expect(try await reload() == [])
      #expect(try shop.said(name) == Int32(number))
      #expect(shop.states == [.loaded])
    }
    // The symbols of other plugins are judged all the same.
    let problems = try shop.hive.plugins.admission().problems
    #expect(!problems.contains { $0.contains(shop.folder.path) }, "\(problems)")
    // Builds of one path differ by their files.
    let replaced = try AdmissionHost().replaced.flatMap(\.ranges)
    #expect(replaced.contains { $0.path == "\(shop.path("a")) (deleted)" })
    #expect(Set(replaced).count == replaced.count)
    try await shop.hive.plugins.unload()
    #expect(shop.hive.entries.isEmpty)
  }

  @Test("of two builds of one path that come at once, one is withdrawn", arguments: [false, true])
  func builds(isReloaded: Bool) async throws {
    let shop = try Shop()
    let (plugins, name) = (shop.hive.plugins, "built_\(isReloaded)")
    plugins.policy.opensJudgedFiles = true
    try shop.add("a", Shop.source(1, "\(name)_first"))
    try shop.folder.makeFolder("builds")
    try build("builds/2.so", Shop.source(2, "\(name)_later"), in: shop.folder)
    let (place, path) = (shop.folder.place("builds/2.so").path, shop.path("a"))
    let calls = Lock(0)
    // While the first build is judged, the second one comes. It loads, or replaces the first one.
    plugins.verify { _, _ in
      let call = calls.withLock { calls in
        calls += 1
        return calls
      }
      guard call == 1 else { return }
      let isDone = DispatchSemaphore(value: 0)
      Task.detached {
        defer { isDone.signal() }
        if isReloaded { _ = try? await plugins.load(marks: shop.marks) }
        _ = unsafe rename(place, path)
        if isReloaded { _ = try? await plugins.reload("a.so") }
        if !isReloaded { _ = try? await plugins.load(marks: shop.marks) }
      }
      isDone.wait()
    }
    // The waiting thread is not one of those that tasks share.
    let loads = Task(executorPreference: ModuleThreads.shared) { try await plugins.load() }
    let problem = await #expect(throws: Problem.self) { try await loads.value }
    #expect(
      problem?.message
        == "\(path) was withdrawn: another build of it was loaded meanwhile")
    #expect(try shop.said("\(name)_later") == 2)
    #expect(shop.hive.entries.count == 2)
    #expect(try await plugins.unload() == [])
    #expect(shop.hive.entries.isEmpty)
  }
}
