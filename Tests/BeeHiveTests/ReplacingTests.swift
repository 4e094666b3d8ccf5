import BeeHive
import Foundation
import TestSupport
import Testing

/// A running Hive replaces a library by a new build.
@Suite struct ReplacingTests {
  private let folder: Folder
  private let path: String
  private let hive: Hive

  /// Opens the first build, and starts its module.
  init() async throws {
    let folder = try Folder()
    self.folder = folder
    path = folder.place("libspeaker.so").path
    hive = Hive(imagesWhere: { $0.hasPrefix("\(folder.path)/lib") })
    try OpenLibrary.keep(build(1))
    try await hive.start()
  }

  /// Compiles a service that returns a number, and a module. Its start succeeds or fails, and its event waits.
  @discardableResult
  private func build(
    _ number: Int, as name: String = "libspeaker.so", starts: Int = 1, service: String = "Speaker",
    _ more: String = "BEEHIVE_MODULE(speakers, &operations, BEEHIVE_VERSION(\"1.4\"));",
    _ options: [String] = []
  ) throws -> String {
    let source = """
      #include <BeeHive.h>
      #include <unistd.h>
      static int say(void) { return \(number); }
      struct speaker { int (*say)(void); };
      static const struct speaker speaker = { say };
      BEEHIVE_SERVICE(\(service), Table, &speaker);
      static volatile int isOver;
      int end(void) { return isOver = 1; }
      static bool start(const beehive_context *c) { return \(starts); }
      static bool wait(const beehive_context *c, const beehive_event *e) { while (!isOver) usleep(999); return 1; }
      static const beehive_module_operations operations = { .set_up = start, .event = wait };
      \(more)
      """
    return try Compiler.library(source, as: name, in: folder.url, ["-w"] + options).path
  }

  private func said() throws -> Int32 {
    unsafe try hive.service("Speaker", as: UnsafePointer<Speaker>.self).pointee.say()
  }

  /// Expects that a replacement fails for this reason, and that the old build goes on.
  private func isKept(
    because reason: String, with file: String? = nil,
    judging judge: @Sendable (String) throws -> Void = { _ in }
  ) async throws {
    let error = await #expect(throws: Problem.self) {
      try await hive.replace(image: "libspeaker.so", with: file, judging: judge)
    }
    let message = try #require(error?.message)
    #expect(message.hasPrefix("libspeaker.so was not replaced: ") && message.contains(reason))
    #expect(try said() == 1, "\(message)")
    #expect(await hive.runningModules == ["speakers"], "\(message)")
    #expect(hive.report().isClean, "\(hive.report())")
  }

  @Test("by a file that was renamed over, again and again, and by one of another name")
  func replaced() async throws {
    #expect(try said() == 1)
    for number in 2...4 {
      try build(number)
      #expect(try await hive.replace(image: number == 3 ? path : "libspeaker.so") == [])
      #expect(try said() == Int32(number))
      #expect(await hive.runningModules == ["speakers"])
    }
    try await hive.register(module: "choir", requires: ["speakers"]) { _ in Choir() }
    let holders = try await hive.replace(image: path, with: build(5, as: "libother.so"))
    #expect(holders.count == 1 && holders[0].hasPrefix("module choir ("))
    #expect(try said() == 5)
    #expect(hive.entries.count { $0.source.description.hasPrefix("libother.so ") } == 2)
    await hive.remove(image: "libother.so")
    try OpenLibrary.keep(folder.place("libother.so").path)
    let miss = #expect(throws: ServiceError.self) { try said() }
    let advice = "libother.so BeehiveRecords[0] was removed: opening it again registers nothing; "
    #expect(miss?.description.contains(advice) == true, "\(String(describing: miss))")
  }

  @Test("not by the same file, nor by one that is missing, refused, empty, or does not open")
  func untouched() async throws {
    let steps = Counter()
    let watching = hive.observe { if case .stepBegan = $0 { _ = steps.next() } }
    try await isKept(because: "is the same file")
    try FileManager.default.linkItem(atPath: path, toPath: folder.place("liblink.so").path)
    try await isKept(because: "is the same file", with: folder.place("liblink.so").path)
    try await isKept(because: "/none/libnone.so", with: "/none/libnone.so")
    try await isKept(because: "unsigned \(path)") { throw Problem(.duplicate, "unsigned \($0)") }
    let empty = try Compiler.library("int none;", as: "libempty.so", in: folder.url)
    try await isKept(because: "declares nothing", with: empty.path)
    try build(2, "int missing(void); int call(void) { return missing(); }")
    try await isKept(because: "undefined symbol: missing")
    watching.cancel()
    #expect(steps.count == 0)
  }

  @Test(
    "not by one that does not start, or has nothing that is accepted: the old one is brought back")
  func broughtBack() async throws {
    try build(2, starts: 0)
    try await isKept(because: "module speakers (libspeaker.so BeehiveRecords[")
    try OpenLibrary.keep(build(3, as: "libtaken.so", service: "Taken", ""))
    let second = try build(4, as: "libtaken2.so", service: "Taken", "")
    try await isKept(because: "libtaken.so", with: second)
    // After all of that, a good build replaces it.
    try build(6)
    try await hive.replace(image: path)
    #expect(try said() == 6)
  }

  @Test("and a duplicate of it does not take its place meanwhile") func duplicates() async throws {
    try OpenLibrary.keep(build(7, as: "librival.so"))
    try OpenLibrary.keep(build(8, as: "libtaken.so", service: "Taken", ""))
    let other = try build(9, as: "libtaken2.so", service: "Taken", "")
    await #expect(throws: Problem.self) { try await hive.replace(image: path, with: other) }
    #expect(try said() == 1)
    try build(2)
    try await hive.replace(image: path)
    #expect(try said() == 2)
    await hive.remove(image: path)
    #expect(try said() == 7)
  }

  @Test(
    "not by a build whose record the loader binds to the old one, though it would start",
    arguments: [
      "extern struct speaker exported; struct speaker exported = { say }; BEEHIVE_SERVICE(Exported, Table, &exported",
      "int exported(void) { return say(); } static struct speaker table = { exported }; BEEHIVE_SERVICE(Exported, Table, &table",
    ])
  func preempted(service: String) async throws {
    // The loader remembers the symbol for the rest of the process.
    let symbol = "exported\(UInt32.random(in: 0..<UInt32.max))"
    func build(
      _ number: Int, as name: String, _ attributes: String = "", _ options: [String] = []
    ) throws -> String {
      let service = service.replacingOccurrences(of: "exported", with: symbol)
      return try self.build(
        number, as: name, service: "Own\(number)", "\(service)\(attributes));", options)
    }
    let old = try build(1, as: "libold.so")
    try #require(unsafe dlopen(old, RTLD_NOW | RTLD_GLOBAL) != nil)
    func said() throws -> Int32 {
      unsafe try hive.service("Exported", as: UnsafePointer<Speaker>.self).pointee.say()
    }
    #expect(try said() == 1)
    let error = await #expect(throws: Problem.self) {
      try await hive.replace(image: old, with: build(2, as: "libnew.so"))
    }
    let fault = "leads into an earlier build, \(old), which would go on answering: make its table"
    #expect(
      error?.message.contains("libnew.so BeehiveRecords[1]) \(fault)") == true, "\(error as Any)")
    #expect(try said() == 1)
    #expect(!hive.report().remarks.contains { $0.contains("leads into") })
    // Open the file a second time, and later a build that hides the symbol.
    try OpenLibrary.keep(
      build(3, as: "libold.so", ", BEEHIVE_PRIORITY(1)")
        .replacingOccurrences(of: "/libold", with: "/./libold"))
    #expect(hive.report().remarks.filter { $0.contains(fault) }.count == 1)
    await hive.remove(image: old)
    try OpenLibrary.keep(build(4, as: "libhidden.so", "", ["-fvisibility=hidden"]))
    #expect(try said() == 4)
    #expect(!hive.report().remarks.contains { $0.contains("leads into") })
    await #expect(throws: Problem.self) {
      try await hive.replace(image: "libhidden.so", with: build(5, as: "libagain.so"))
    }
    #expect(try said() == 4)
  }

  @Test(
    "not by a build that lacks what a module which runs requires or needs, or has another version")
  func required() async throws {
    let steps = Counter()
    try await hive.register(module: "choir", requires: ["speakers >=1.2 <2"]) { _ in Choir() }
    try OpenLibrary.keep(
      build(
        1, as: "libsinger.so", service: "Own",
        "BEEHIVE_MODULE(singer, &operations, BEEHIVE_NEEDS(\"Speaker\") BEEHIVE_NEEDS(\"Absent\"));"
      ))
    #expect(await hive.startLatecomers().isEmpty)
    let watching = hive.observe { if case .stepBegan = $0 { _ = steps.next() } }
    let sole = "which nothing but the old build declares; did you mean"
    for (service, module, reason) in [
      ("Speakers", "speakers", "singer needs the service Speaker, \(sole) Speakers?; "),
      ("Speaker", "speaker", "choir requires speakers, \(sole) speaker?; use a build"),
      ("Speaker", "speakers", "choir requires speakers, which is of version 2, not >=1.2 <2 (the"),
    ] {
      try build(
        2, service: service, "BEEHIVE_MODULE(\(module), &operations, BEEHIVE_VERSION(\"2\"));")
      let error = await #expect(throws: Problem.self) {
        try await hive.replace(image: "libspeaker.so")
      }
      #expect(
        error?.message.contains("module \(reason)") == true,
        "\(error as Any)")
      #expect(try said() == 1)
    }
    watching.cancel()
    #expect(steps.count == 0)
    await hive.unregister(module: "choir")
    try await hive.replace(image: "libspeaker.so")
    #expect(try said() == 2)
  }

  @Test("and no remark names another module that has the name of one that was removed")
  func namesake() async throws {
    #expect(await hive.remove(image: path) == 2)
    let (isMade, isOver) = (Counter(), Counter())
    let start = Task {
      try await hive.register(module: "speakers") { _ in
        isMade.next()
        Patience.block { isOver.count > 0 }
        return Choir()
      }
    }
    #expect(try await Patience.wait { isMade.count == 1 })
    #expect(!hive.report().remarks.contains { $0.contains("speakers has been in") })
    isOver.next()
    try await start.value
  }

  @Test("and while its removal waits for a call, the report names that") func waiting() async throws
  {
    let event = try #require(Event(number: 1000, name: "Song", payload: 0))
    let begun = Counter()
    hive.observe { if case .stepBegan = $0 { _ = begun.next() } }
    let told = Task { await hive.trigger(event) }
    #expect(try await Patience.wait { begun.count == 1 })
    let removal = Task { await hive.remove(image: path) }
    #expect(
      try await Patience.wait {
        hive.report().remarks.contains { $0.contains("module speakers has been in Song for ") }
      })
    _ = try OpenLibrary(path).call("end")
    #expect(await removal.value == 2)
    _ = await told.value
  }
}

/// The table of the service.
private struct Speaker { var say: @convention(c) () -> Int32 }

private struct Choir: Module {}
