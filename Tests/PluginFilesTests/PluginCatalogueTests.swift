import BinaryImage
import Foundation
import Registration
import TestSupport
import Testing

@testable import PluginFiles

@Suite("A catalogue of plugins")
struct PluginCatalogueTests {
  @Test("lists directories and files in their order, by name, each file once")
  func order() throws {
    let (first, second) = (try Folder(), try Folder())
    for name in ["b.so", "a.so"] { try first.build(name) }
    let single = try second.build("c.so")
    try makeLink(at: first.place("link.so").path, to: "b.so")
    try FileManager.default.linkItem(atPath: single, toPath: second.place("d.so").path)
    var catalogue = PluginCatalogue(
      .file(single), .directory(first.path), .directory(second.path + "/"), .directory(first.path))
    #expect(catalogue.plugins == ["c.so", "a.so", "b.so"])
    #expect(catalogue.readCount == 3)
    let others = catalogue.candidates.map {
      $0.otherPaths.map { URL(fileURLWithPath: $0).lastPathComponent }
    }
    #expect(others == [["d.so"], [], ["link.so"]])
    catalogue.sources.removeAll { $0 == .file(single) }
    catalogue.refresh()
    #expect(catalogue.plugins == ["a.so", "b.so", "c.so"])
  }

  @Test("names that Swift takes for equal are two, as they are to a file system")
  func normalisation() throws {
    let folder = try Folder()
    for name in ["\u{e9}.so", "e\u{301}.so"] { try folder.build(name) }
    #expect(folder.catalogue().manifests.count == 2)
    var catalogue = PluginCatalogue()
    for name in ["\u{e9}", "e\u{301}"] {
      try folder.makeFolder(name)
      try folder.build("\(name)/a.so", Compiler.module("in\(name.utf8.count)"))
      catalogue.sources.append(.directory(folder.place(name).path))
    }
    catalogue.refresh()
    #expect(catalogue.sources.count == 2 && catalogue.manifests.count == 2)
    catalogue.sources.removeAll { $0 == .directory(folder.place("\u{e9}").path) }
    catalogue.refresh()
    #expect(catalogue.manifests.flatMap(\.records).map(\.name) == ["in3"])
  }

  @Test("what the system did not open is read by the next refresh")
  func passingFailures() throws {
    let folder = try Folder()
    let path = try folder.build("one.so")
    try folder.settle()
    // The holder of a file's lease gets a signal when somebody opens the file. The opener has to wait.
    let (setsLease, setsSignal, writing, none): (Int32, Int32, Int32, Int32) = (1024, 10, 1, 2)
    let holder = unsafe open(path, O_RDWR | O_CLOEXEC)
    defer { close(holder) }
    guard fcntl(holder, setsSignal, SIGURG) == 0, fcntl(holder, setsLease, writing) == 0 else {
      try Test.cancel("the file system has no leases")
    }
    var catalogue = folder.catalogue()
    #expect(catalogue.manifests.isEmpty && !catalogue.candidates.contains(where: \.isSettled))
    #expect(catalogue.reasons["one.so"] == "Resource temporarily unavailable.")
    _ = fcntl(holder, setsLease, none)
    catalogue.refresh()
    #expect(catalogue.plugins == ["one.so"])
  }

  @Test("a directory that cannot be read is a problem, and hides no other")
  func unreadable() throws {
    let folder = try Folder()
    try folder.build("a.so")
    let catalogue = PluginCatalogue(
      .directory("/nowhere"), .directory(folder.path), .file("/nowhere/x.so"))
    #expect(catalogue.problems.map(\.image) == ["/nowhere"])
    #expect(catalogue.plugins == ["a.so"])
    #expect(catalogue.reasons["x.so"] == "No such file or directory.")
  }

  @Test("reads again what was changed, whatever was done to its times")
  func incremental() throws {
    let folder = try Folder()
    let (one, two) = (try folder.build("one.so"), try folder.build("two.so"))
    try folder.settle()
    var catalogue = folder.catalogue()
    let before = try #require(catalogue.manifests.first)
    catalogue.refresh()
    #expect(catalogue.readCount == 0)

    // The file changes in place. Its size and its modification time stay the same.
    let copy = folder.place("copy").path
    try Command.output("cp", ["-p", one, copy])
    var bytes = try Data(contentsOf: URL(fileURLWithPath: one))
    let name = try #require(bytes.range(of: Data("Greeter\0".utf8)))
    bytes.replaceSubrange(name, with: Data("Painter\0".utf8))
    let handle = try #require(FileHandle(forWritingAtPath: one))
    try handle.write(contentsOf: bytes)
    try handle.close()
    try Command.output("touch", ["-r", copy, one])
    try FileManager.default.removeItem(atPath: copy)
    try folder.settle()
    catalogue.refresh()
    #expect(catalogue.readCount == 1)
    let after = try #require(catalogue.manifests.first)
    #expect(after.records.map(\.name).contains("Painter"))
    #expect(after.stamp.modified == before.stamp.modified && after.stamp.size == before.stamp.size)

    // One file is replaced, one is removed, one is new.
    try folder.build("one.so", Compiler.module("fresh"))
    try FileManager.default.removeItem(atPath: two)
    try folder.build("three.so")
    catalogue.refresh()
    #expect(catalogue.plugins == ["one.so", "three.so"])
    #expect(catalogue.readCount == 2)
    #expect(catalogue.manifests.first?.records.map(\.name) == ["fresh"])
  }

  @Test("what was written within a tick of the clock is read again")
  func unsettled() throws {
    let folder = try Folder()
    try folder.build("one.so")
    var catalogue = folder.catalogue()
    try #require(catalogue.manifests.count == 1)
    if catalogue.candidates.allSatisfy(\.isSettled) { return }
    catalogue.refresh()
    #expect(catalogue.readCount == 1)
  }
}
