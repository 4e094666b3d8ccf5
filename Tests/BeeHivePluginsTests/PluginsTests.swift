import BeeHivePlugins
import Foundation
import TestSupport
import Testing

/// The protocol that the plugins of these tests name as their service.
protocol Greeter {}

@Suite("The plugins of a Hive")
struct PluginsTests {
  /// Returns the source of a plugin. Its constructor leaves a file behind, and its module requires an absent one.
  private static func source(service: String = "Greeter", priority: Int = 0, mark: URL) -> String {
    """
    #include <BeeHive.h>
    #include <fcntl.h>
    __attribute__((constructor)) static void run(void) {
      open("\(mark.path)", O_CREAT | O_WRONLY, 0600);
    }
    static const struct { int (*greet)(void); } table;
    BEEHIVE_SERVICE(\(service), English, &table, BEEHIVE_PRIORITY(\(priority)));
    static const beehive_module_operations operations = { 0 };
    BEEHIVE_MODULE(audio, &operations, BEEHIVE_VERSION("3") BEEHIVE_REQUIRES("log >=1.2 <2"));
    """
  }

  @Test("are read, and nothing of them runs")
  func reads() throws {
    let (folder, hive) = (try Folder(), Hive())
    let mark = folder.place("ran")
    try build("a.so", Self.source(mark: mark), in: folder)
    try folder.write("shop", as: "notes.txt")
    try hive.plugins.add(directory: folder.path)
    let files = hive.plugins.files
    #expect(files.map(\.path) == [folder.place("a.so").path])
    let file = try #require(files.first)
    #expect(!file.isLoaded && file.machine == "x86_64")
    #expect(file.buildID.count == 40 && file.needed.contains("libc.so.6"))
    #expect(file.entries.map(\.name).sorted() == ["Greeter", "audio"])
    #expect(file.requirements == ["log >=1.2 <2"])
    #expect(file.entries.compactMap(\.attributes.version) == ["3"])
    #expect(hive.entries.isEmpty)
    #expect(!FileManager.default.fileExists(atPath: mark.path))
    let loaded = unsafe dlopen(folder.place("a.so").path, RTLD_NOW | RTLD_NOLOAD)
    let isLoaded = unsafe loaded != nil
    #expect(!isLoaded)
  }

  @Test("are found by what they would implement, the larger priority first")
  func implementations() throws {
    let (folder, hive) = (try Folder(), Hive())
    let mark = folder.place("ran")
    for (name, service, priority) in [
      ("a.so", "Greeter", 1), ("b.so", "BeeHivePluginsTests.Greeter", 2), ("c.so", "Painter", 3),
      ("d.so", "Other.Greeter", 4), ("e.so", "Greeter", 1),
    ] {
      try build(name, Self.source(service: service, priority: priority, mark: mark), in: folder)
    }
    try hive.plugins.add(directory: folder.path)
    func files(_ entries: [Entry]) -> [String] {
      entries.map { String($0.source.description.prefix(1)) }
    }
    #expect(
      files(hive.plugins.implementations(of: String(reflecting: (any Greeter).self))) == [
        "b", "a", "e",
      ])
    #expect(files(hive.plugins.implementations(of: "Greeter")) == ["d", "b", "a", "e"])
    #expect(hive.plugins.implementations(of: "Singer").isEmpty)
    #expect(hive.plugins.available.count == 10)
    #expect(
      hive.plugins.available.first?.description.contains("the file that declares it is not loaded")
        == true)
  }

  @Test("are said to be loaded once they are, by file and by build")
  func loaded() throws {
    let (folder, hive) = (try Folder(), Hive())
    let source = Self.source(mark: folder.place("ran"))
    try build("a.so", source, in: folder)
    try FileManager.default.copyItem(at: folder.place("a.so"), to: folder.place("copy.so"))
    try FileManager.default.linkItem(at: folder.place("a.so"), to: folder.place("link.so"))
    try hive.plugins.add(directory: folder.path)
    #expect(hive.plugins.files.map(\.isLoaded) == [false, false])
    // Sound: the library runs a constructor that makes a file, and stays.
    try OpenLibrary.keep(folder.place("a.so").path)
    #expect(hive.plugins.files.map(\.isLoaded) == [true, false])
    #expect(hive.plugins.available.allSatisfy { $0.source.description.hasPrefix("copy.so") })
    #expect(hive.plugins.report().lines.map(\.state) == ["loaded", "loaded", "refused", "refused"])

    // Another build takes the name of the loaded file, and the loaded file gets another name.
    try FileManager.default.removeItem(at: folder.place("link.so"))
    try FileManager.default.moveItem(at: folder.place("a.so"), to: folder.place("moved.so"))
    try build("a.so", Self.source(priority: 9, mark: folder.place("ran")), in: folder)
    hive.plugins.refresh()
    let files = hive.plugins.files
    #expect(
      files.map { URL(fileURLWithPath: $0.path).lastPathComponent }
        == ["a.so", "copy.so", "moved.so"])
    #expect(files.first?.isLoaded == false)
  }

  @Test("come and go with what was added")
  func handles() throws {
    let (folder, hive) = (try Folder(), Hive())
    try build("a.so", Self.source(mark: folder.place("ran")), in: folder)
    let path = folder.place("a.so").path
    let first = try hive.plugins.add(directory: folder.path)
    let second = try hive.plugins.add(directory: folder.path)
    let file = try hive.plugins.add(file: path)
    #expect(hive.plugins.files.count == 1)
    first.cancel()
    first.cancel()
    file.cancel()
    #expect(hive.plugins.files.count == 1)
    second.cancel()
    #expect(hive.plugins.files.isEmpty)
    #expect(Hive().plugins.files.isEmpty)
  }

  @Test("throw what keeps a directory or a file out, and are as before")
  func refusals() throws {
    let (folder, hive) = (try Folder(), Hive())
    try folder.write("#!/bin/sh\n", as: "run.sh")
    let error = #expect(throws: ImageError.self) { try hive.plugins.add(directory: "/nowhere") }
    #expect(error?.image == "/nowhere" && error?.code == .unreadable)
    let script = #expect(throws: ImageError.self) {
      try hive.plugins.add(file: folder.place("run.sh").path)
    }
    #expect(script?.message == "It is no object file.")
    #expect(throws: ImageError.self) { try hive.plugins.add(file: "") }
    #expect(throws: ImageError.self) { try hive.plugins.add(file: folder.path) }
    #expect(hive.plugins.report().lines.isEmpty && hive.plugins.report().problems.isEmpty)
  }

  @Test("are reported for people and for programs")
  func report() throws {
    let (folder, hive) = (try Folder(), Hive())
    let odd =
      Self.source(mark: folder.place("ran"))
      + "\nBEEHIVE_MODULE(odd, &operations, BEEHIVE_LEVEL(\"high\"));"
    try build("a.so", odd, in: folder)
    try folder.write("shop", as: "b \u{1b}.txt")
    try hive.plugins.add(directory: folder.path)
    let gone = try Folder()
    try hive.plugins.add(directory: gone.path)
    gone.remove()
    hive.plugins.refresh()
    let report = hive.plugins.report()
    #expect(Set(report.lines.map(\.state)) == ["refused", "rejected", "no plugin"])
    #expect(report.lines.last?.reason == "It is no object file.")
    #expect(report.problems.count == 1)
    let text = report.description
    #expect(!text.contains("\u{1b}"))
    #expect(text.contains("refused    service  Greeter → English"))
    let decoded = try JSONSerialization.jsonObject(with: Data(report.json.utf8))
    let encoded = try JSONSerialization.jsonObject(with: JSONEncoder().encode(report))
    #expect(decoded as? NSDictionary == encoded as? NSDictionary)
    #expect(
      try JSONSerialization.jsonObject(
        with: Data(Hive().plugins.report().json.utf8)) is NSDictionary)
  }
}
