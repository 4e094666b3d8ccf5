import BeeHive
import BinaryImage
import Foundation
import TestSupport
import Testing
import Threads

@testable import BeeHivePlugins
@testable import PluginFiles

@Suite("Plugins that several callers load, unload and reload at once")
struct PluginRacesTests {
  /// Returns the source of a plugin. Its constructor takes so many milliseconds, unless a file ends it.
  /// The start of its module waits for a file.
  private static func slow(
    _ number: Int, _ name: String, constructor: Int = 0, orUntil end: URL? = nil,
    until file: URL? = nil
  ) -> String {
    """
    #include <BeeHive.h>
    #include <unistd.h>
    static int say(void) { return \(number); }
    static const struct { int (*say)(void); } speaker = { say };
    BEEHIVE_SERVICE(\(name)_speaker, Table, &speaker);
    static bool up(const beehive_context *c) {
      while (access("\(file?.path ?? "/")", F_OK) != 0) usleep(1000);
      return true;
    }
    static const beehive_module_operations operations = { .set_up = up };
    BEEHIVE_MODULE(\(name), &operations);
    __attribute__((constructor(65535))) static void wait(void) {
      for (int i = 0; i < \(constructor) && access("\(end?.path ?? "")", F_OK) != 0; i++) usleep(1000);
    }
    """
  }

  /// Unloads a plugin while its module starts, and then lets the start go on.
  private static func unload(_ name: String, in shop: Shop, until file: URL) async throws {
    #expect(try await Patience.wait { shop.hive.report().json.contains("\"starting\"") })
    let unload = Task {
      try await shop.hive.plugins.unload(name)
      #expect(shop.hive.entries.isEmpty)
    }
    #expect(try await Patience.wait { shop.hive.plugins.store.takenIn.isEmpty })
    try Data().write(to: file)
    try await unload.value
  }

  /// Begins to reload a plugin, with a long time limit.
  private static func reload(_ name: String, in shop: Shop) -> Task<[String], any Error> {
    Task {
      try await Hive.$openingLimit.withValue(.seconds(600)) {
        try await shop.hive.plugins.reload(name)
      }
    }
  }

  @Test("one that is unloaded while its module starts is gone, and comes back")
  func unloadedWhileLoading() async throws {
    let shop = try Shop()
    let file = shop.folder.place("builds/go")
    try shop.folder.makeFolder("builds")
    try shop.add("a", Self.slow(1, "meanwhile", until: file))
    try await shop.hive.start()
    let plugins = shop.hive.plugins
    let load = Task { try await plugins.load("a.so", marks: shop.marks) }
    try await Self.unload("a.so", in: shop, until: file)
    let problem = await #expect(throws: Problem.self) { try await load.value }
    #expect(problem?.message.hasPrefix("\(shop.path("a")) was withdrawn: ") == true)
    #expect(shop.hive.entries.isEmpty && shop.states != [.loaded])
    try await plugins.load("a.so")
    #expect(try shop.said("meanwhile") == 1)
    #expect(shop.states == [.loaded])
  }

  @Test("one that is unloaded while its constructor runs is gone, and comes back")
  func unloadedWhileOpening() async throws {
    let shop = try Shop()
    try shop.add("a", Self.slow(1, "opening", constructor: 3000))
    let plugins = shop.hive.plugins
    let load = Task { try await plugins.load("a.so", marks: shop.marks) }
    #expect(try await Patience.wait { plugins.files.contains(where: \.isLoaded) })
    _ = try await plugins.unload("a.so")
    // On a busy machine the constructor may end earlier.
    if case .failure(let problem) = await load.result {
      #expect("\(problem)".contains("was withdrawn: it was unloaded meanwhile"), "\(problem)")
    }
    #expect(shop.hive.entries.isEmpty && shop.states == [.unloaded], "\(shop.states)")
    try await plugins.load("a.so")
    #expect(try shop.said("opening") == 1)
  }

  @Test("one that another call loads is left to that call")
  func leftAlone() async throws {
    let shop = try Shop()
    let file = shop.folder.place("builds/go")
    try shop.folder.makeFolder("builds")
    try shop.add("a", Self.slow(1, "left", constructor: 2000, until: file))
    try await shop.hive.start()
    let plugins = shop.hive.plugins
    let load = Task { try await plugins.load(marks: shop.marks) }
    #expect(try await Patience.wait { plugins.files.contains(where: \.isLoaded) })
    #expect(try await plugins.load("a.so").isEmpty, "its constructor runs")
    #expect(try await Patience.wait { shop.hive.report().json.contains("\"starting\"") })
    #expect(try await plugins.load("a.so").isEmpty)
    #expect(shop.states == [.loading])
    // A module that requires the plugin's module waits for it.
    try shop.add("b", Shop.source(2, "leaving", requires: "left"))
    let next = Task { try await plugins.load("b.so") }
    try Data().write(to: file)
    #expect(try await load.value.map(\.state) == [.loaded])
    #expect(try await next.value.count == 1)
  }

  @Test(
    "those that two Hives load at once are loaded once and are in both", arguments: [false, true])
  func twoHives(isStrict: Bool) async throws {
    let shop = try Shop()
    try shop.add(20, copiesOf: "both_\(isStrict)")
    let hives = [shop.hive, Hive(imagesWhere: { $0.hasPrefix("\(shop.folder.path)/") })]
    try hives[1].plugins.add(directory: shop.folder.path)
    let file = try #require(shop.hive.plugins.admission().plugins[0].closure?.members.first)
    let same = hives.map { $0.plugins.store.load(of: file) }
    #expect(same[0] === same[1])
    shop.hive.plugins.store.endLoad(of: file, as: nil)
    let loads = hives.map { hive in
      hive.plugins.policy.opensJudgedFiles = isStrict
      return Task { try await hive.plugins.load(marks: shop.marks).count }
    }
    for load in loads { #expect(try await load.value == 20) }
    #expect(hives.map(\.entries.count) == [40, 40])
  }

  @Test("two whose modules start in one go, and one of them fails: that one is withdrawn")
  func oneFails() async throws {
    let shop = try Shop()
    try shop.add("a", Shop.source(1, "failing", starts: 0))
    for name in ["b", "c", "d"] { try shop.add(name, Shop.source(2, "with_\(name)")) }
    try await shop.hive.start()
    let plugins = shop.hive.plugins
    let loads = ["a", "b", "c", "d"].map { name in
      Task { try await plugins.load("\(name).so", marks: shop.marks) }
    }
    for (number, load) in loads.enumerated() {
      if number == 0 {
        await #expect(throws: Problem.self) { try await load.value }
      } else {
        #expect(try await load.value.count == 1)
      }
    }
    #expect(shop.loadedCount == 4 && shop.hive.entries.count == 6, "\(shop.hive.entries)")
    guard case .failed = shop.states[0] else {
      Issue.record("\(shop.states)")
      return
    }
  }

  @Test("one that two calls reload at once runs in the new build")
  func reloadedTwice() async throws {
    let shop = try await Shop(loading: Self.slow(1, "twice"))
    let plugins = shop.hive.plugins
    let end = shop.folder.place("builds/end")
    try shop.replace("a", by: Self.slow(2, "twice", constructor: 60_000, orUntil: end))
    let isLoading = Lock(false)
    // The constructor blocks all tasks that ask the loader, but not this thread.
    Thread.detachNewThread {
      Patience.block { shop.states == [.loading] }
      isLoading.change { $0 = true }
      Thread.sleep(forTimeInterval: 0.3)
      try? Data().write(to: end)
    }
    let first = Self.reload("a.so", in: shop)
    #expect(try await Patience.wait { isLoading.withLock(\.self) })
    // If the loader keeps this call waiting, it goes on when all is done.
    let problem = await #expect(throws: Problem.self) { try await plugins.reload("a.so") }
    let words = [
      "another call loads the new \(shop.path("a"))", "the new file is loaded already",
      "it is the file that is loaded",
    ]
    #expect(words.contains { problem?.message.contains($0) == true }, "\(problem!)")
    _ = try await first.value
    #expect(try shop.said("twice") == 2)
    #expect(await shop.hive.runningModules == ["twice"])
    #expect(shop.states == [.loaded])
  }

  @Test("one whose new build lacks what a running module requires stays as it is")
  func required() async throws {
    let shop = try Shop()
    try shop.add("a", Shop.source(1, "kept"))
    try shop.add("b", Shop.source(2, "keeping", requires: "kept"))
    try await shop.hive.start()
    let plugins = shop.hive.plugins
    try await plugins.load(marks: shop.marks)
    try shop.replace("a", by: Shop.source(3, "lacking"))
    let problem = await #expect(throws: Problem.self) { try await plugins.reload("a.so") }
    #expect(problem?.message.contains("keeping requires kept") == true, "\(problem!)")
    #expect(try shop.said("kept") == 1)
    #expect(await shop.hive.runningModules == ["kept", "keeping"])
    #expect(shop.hive.entries.count == 4)
  }

  @Test("one that was unloaded is so wherever its file was meanwhile, and stays so")
  func away() async throws {
    let shop = try await Shop(loading: Shop.source(1, "away"), isStarted: false)
    let plugins = shop.hive.plugins
    let elsewhere = shop.folder.place("elsewhere")
    func move(_ from: URL, _ to: URL) throws {
      try FileManager.default.moveItem(at: from, to: to)
      plugins.refresh()
    }
    let file = shop.folder.place("a.so")
    try move(file, elsewhere)
    try await plugins.unload()
    try move(elsewhere, file)
    #expect(shop.states == [.unloaded] && shop.hive.entries.isEmpty, "\(shop.states)")
    plugins.activation = .onDemand
    #expect(throws: ServiceError.self) { try shop.said("away") }
    try move(file, elsewhere)
    try move(elsewhere, file)
    #expect(shop.states == [.unloaded])
    // Another time does not make it another file.
    try FileManager.default.setAttributes(
      [.modificationDate: Date(timeIntervalSince1970: 1)], ofItemAtPath: file.path)
    plugins.refresh()
    #expect(shop.states == [.unloaded])
    #expect(throws: ServiceError.self) { try shop.said("away") }
    try await plugins.load("a.so")
    #expect(try shop.said("away") == 1)
  }

  @Test("two whose names Swift takes for equal are two plugins")
  func equalNames() async throws {
    let shop = try Shop()
    let names = ["lib\u{e9}", "libe\u{301}"]
    for (number, name) in names.enumerated() {
      try shop.add(name, Shop.source(Int(number), "equal\(number)"))
    }
    let plugins = shop.hive.plugins
    #expect(try await plugins.load("\(names[0]).so", marks: shop.marks).count == 1)
    #expect(shop.hive.entries.count == 2)
    try await plugins.load()
    #expect(shop.hive.entries.count == 4)
    try await plugins.unload("\(names[1]).so")
    #expect(Set(shop.states) == [.loaded, .unloaded])
    try await plugins.unload()
    #expect(shop.states == [.unloaded, .unloaded] && shop.hive.entries.isEmpty)
  }

  @Test("one that is unloaded while a new build takes its place leaves nothing")
  func unloadedWhileReloading() async throws {
    let shop = try await Shop(loading: Self.slow(1, "between"))
    let file = shop.folder.place("builds/go")
    try shop.replace("a", by: Self.slow(2, "between", until: file))
    let reload = Self.reload("a.so", in: shop)
    try await Self.unload("a.so", in: shop, until: file)
    let problem = await #expect(throws: Problem.self) { try await reload.value }
    #expect(problem?.message.contains("was unloaded meanwhile") == true, "\(problem as Any)")
    #expect(shop.hive.entries.isEmpty)
    #expect(await shop.hive.runningModules.isEmpty)
  }

  @Test("one that is unloaded while a new build fails stays unloaded, and comes back")
  func unloadedWhileFailing() async throws {
    let shop = try await Shop(loading: Self.slow(1, "failure"))
    let plugins = shop.hive.plugins
    let file = shop.folder.place("builds/go")
    let failing = Self.slow(2, "failure", until: file).replacing(
      "return true", with: "return false")
    try shop.replace("a", by: failing)
    let reload = Self.reload("a.so", in: shop)
    try await Self.unload("a.so", in: shop, until: file)
    await #expect(throws: Problem.self) { try await reload.value }
    #expect(shop.hive.entries.isEmpty)
    await #expect(throws: Problem.self) { try await plugins.unload("a.so") }
    try shop.replace("a", by: Self.slow(3, "failure"))
    try await plugins.load("a.so")
    #expect(try shop.said("failure") == 3)
  }

  @Test("two of which one needs the other, loaded by two calls at once: both are there")
  func neededAtOnce() async throws {
    for round in 0..<Effort.times(6, full: 40) {
      let shop = try Shop()
      try shop.add("a", Shop.source(1, "needed_\(round)"))
      try shop.add("b", Shop.source(2, "needing_\(round)", requires: "needed_\(round)"))
      try await shop.hive.start()
      let plugins = shop.hive.plugins
      let loads = ["a.so", "b.so"].map { name in
        Task { try await plugins.load(name, marks: shop.marks) }
      }
      for load in loads { _ = try await load.value }
      #expect(shop.states == [.loaded, .loaded])
    }
  }

  @Test("one that waits for the constructors of another has no mark meanwhile")
  func marksOfOne() throws {
    let shop = try Shop()
    let (begun, go) = (shop.folder.place("begun"), shop.folder.place("go"))
    try build(
      "library",
      """
      #include <fcntl.h>
      #include <unistd.h>
      __attribute__((constructor)) static void wait(void) {
        close(open("\(begun.path)", O_CREAT | O_WRONLY, 0600));
        while (access("\(go.path)", F_OK) != 0) usleep(1000);
      }
      """, in: shop.folder)
    let library = shop.folder.place("library").path
    let stamp = try fileStamp(of: library.utf8)
    let marks = try #require(LoadMarks(in: shop.marks))
    // Waiting here for a thread of the pool would keep all other tests from the loader.
    Thread.detachNewThread { try? OpenLibrary.keep(library) }
    #expect(Patience.block { FileManager.default.fileExists(atPath: begun.path) })
    let isMarked = Lock(false)
    Thread.detachNewThread {
      marks.whileLoading(library, stamp, noted: { _ in }) { isMarked.change { $0 = true } }
    }
    Thread.sleep(forTimeInterval: 0.2)
    #expect(!FileManager.default.fileExists(atPath: shop.marks) && !isMarked.withLock(\.self))
    try Data().write(to: go)
    #expect(Patience.block { isMarked.withLock(\.self) })
  }

  @Test("a build that takes too long to open leaves nothing, before and after it has opened")
  func lateBuild() async throws {
    let shop = try await Shop(loading: Self.slow(1, "late"))
    let plugins = shop.hive.plugins
    try shop.replace("a", by: Self.slow(2, "late_new", constructor: 3000))
    let problem = await #expect(throws: Problem.self) {
      try await Hive.$openingLimit.withValue(.seconds(1)) { try await plugins.reload("a.so") }
    }
    #expect(problem?.message.contains("did not open within 1.0 seconds") == true)
    #expect(shop.hive.entries.map(\.name).sorted() == ["late", "late_speaker"])
    // Until the constructor ends, opening the file waits for the loader.
    try await Task.sleep(for: .seconds(3))
    #expect(shop.hive.entries.map(\.name).sorted() == ["late", "late_speaker"])
    try await plugins.unload()
    #expect(shop.hive.entries.isEmpty, "\(shop.hive.entries)")
  }

  @Test("a file that is replaced while all are judged is none of those that load")
  func replacedWhileJudged() async throws {
    let shop = try Shop()
    try shop.add("a", Self.slow(1, "before"))
    try shop.add("z", Self.slow(2, "after"))
    let (new, old) = (shop.path("a"), shop.path("z"))
    // The first file is renamed over the second one, which is judged later.
    shop.hive.plugins.verify { _, path in
      if path.hasSuffix("a.so") { _ = unsafe rename(new, old) }
    }
    await #expect(throws: Problem.self) {
      try await shop.hive.plugins.load("z.so", marks: shop.marks)
    }
    shop.hive.plugins.refresh()
    #expect(shop.hive.plugins.files.count == 1)
    #expect(shop.states != [.loaded] && shop.hive.entries.isEmpty, "\(shop.states)")
    try await shop.hive.plugins.load()
    #expect(shop.states == [.loaded] && shop.hive.entries.count == 2)
  }

  @Test("what runs goes before what comes later, whatever the files are called")
  func runningFirst() async throws {
    let shop = try Shop()
    let plugins = shop.hive.plugins
    plugins.policy.admitsRejectedEntries = false
    try shop.add("z", Self.slow(1, "first"))
    try await plugins.load(marks: shop.marks)
    try shop.add("b", Self.slow(2, "first"))
    for (name, module) in [("z", "other"), ("c", "third")] {
      try build("more/\(name).so", Self.slow(3, module), in: shop.folder)
    }
    try plugins.add(directory: shop.folder.place("more").path)
    func codes() throws -> [String?] {
      try plugins.admission().plugins.map { $0.refusals.first?.code }
    }
    #expect(try codes() == ["rejected-entry", nil, nil, "shadowed"])
    try await plugins.load("c.so")
    try shop.add("c", Self.slow(5, "fourth"))
    #expect(try codes() == ["rejected-entry", "shadowed", nil, nil, "shadowed"])
  }

  @Test("an earlier build that comes back is loaded, and so says its file")
  func returning() async throws {
    let shop = try Shop()
    let plugins = shop.hive.plugins
    for number in 1...2 {
      try shop.folder.makeFolder("builds")
      try build("builds/\(number).so", Shop.source(number, "returning"), in: shop.folder)
    }
    func lead(to number: Int) throws {
      let link = shop.folder.place("builds/link").path
      try makeLink(at: link, to: "builds/\(number).so")
      try #require(unsafe rename(link, shop.path("a")) == 0)
    }
    try lead(to: 1)
    try await plugins.load(marks: shop.marks)
    for number in [2, 1] {
      try lead(to: number)
      _ = try await Hive.$openingLimit.withValue(.seconds(600)) { try await plugins.reload("a.so") }
      #expect(plugins.files.map(\.isLoaded) == [true])
      #expect(try shop.said("returning") == Int32(number))
    }
  }

  @Test("names of files are no ids, and hidden files no plugins")
  func names() throws {
    let shop = try Shop()
    try shop.add("a", Shop.source(1, "named"))
    try shop.add(".b", Shop.source(1, "hidden"))
    #expect(shop.hive.plugins.files.map(\.path) == [shop.path("a")])
    let error = #expect(throws: ImageError.self) { try shop.hive.plugins.switchOff("a.so") }
    #expect(error?.message == "It is a file's name, and no id of a plugin: the file states none.")
  }
}
