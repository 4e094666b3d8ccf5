import BeeHivePlugins
import Foundation
import TestSupport
import Testing
import Threads

@Suite("Plugins that are watched")
struct WatchTests {
  private static func names(_ hive: Hive) -> [String] { hive.plugins.available.map(\.name) }

  @Test("are refreshed when files come and go, in directories that are added later too")
  func watched() throws {
    let (first, second, hive) = (try Folder(), try Folder(), Hive())
    try hive.plugins.add(directory: first.path)
    let calls = Lock(0)
    let watch = try hive.plugins.watch { calls.withLock { $0 += 1 } }
    try build("one", Compiler.module("one"), in: first)
    #expect(Patience.block { Self.names(hive) == ["one"] && calls.withLock { $0 } > 0 })
    try hive.plugins.add(directory: second.path)
    try build("two", Compiler.module("two"), in: second)
    #expect(Patience.block { Self.names(hive) == ["one", "two"] })
    try FileManager.default.removeItem(at: first.place("one"))
    #expect(Patience.block { Self.names(hive) == ["two"] })
    watch.cancel()
    watch.cancel()
    try build("three", Compiler.module("three"), in: second)
    hive.plugins.refresh()
    #expect(Self.names(hive).sorted() == ["three", "two"])
  }

  @Test("are refreshed when a file changes that a link leads to")
  func linked() throws {
    let (folder, builds, hive) = (try Folder(), try Folder(), Hive())
    let link = folder.place("a.so")
    try build("a.so", Compiler.module("one"), in: builds)
    try FileManager.default.createSymbolicLink(at: link, withDestinationURL: builds.place("a.so"))
    try hive.plugins.add(directory: folder.path)
    let watch = try hive.plugins.watch()
    try build("new", Compiler.module("two"), in: builds)
    #expect(unsafe rename(builds.place("new").path, builds.place("a.so").path) == 0)
    #expect(Patience.block { Self.names(hive) == ["two"] })
    watch.cancel()
  }

  @Test("are refreshed when a link changes that leads to their directory")
  func folderLink() throws {
    let (folder, hive) = (try Folder(), Hive())
    for name in ["one", "two"] {
      try folder.makeFolder(name)
      try build("\(name)/a.so", Compiler.module(name), in: folder)
    }
    let link = folder.place("current").path
    try makeLink(at: link, to: "one")
    try hive.plugins.add(directory: link)
    let watch = try hive.plugins.watch()
    try makeLink(at: "\(link)2", to: "two")
    #expect(unsafe rename("\(link)2", link) == 0)
    #expect(Patience.block { Self.names(hive) == ["two"] })
    watch.cancel()
  }

  @Test("are refreshed when their directory is removed and made again")
  func madeAgain() throws {
    let (folder, hive) = (try Folder(), Hive())
    try folder.makeFolder("app/plugins")
    try hive.plugins.add(directory: folder.place("app/plugins").path)
    let watch = try hive.plugins.watch()
    for name in ["one", "two"] {
      try FileManager.default.removeItem(at: folder.place("app"))
      #expect(Patience.block { !hive.plugins.report().problems.isEmpty })
      try folder.makeFolder("app/plugins")
      try build("app/plugins/\(name)", Compiler.module(name), in: folder)
      #expect(Patience.block { Self.names(hive) == [name] })
    }
    watch.cancel()
  }

  @Test("are refreshed while something beside them changes all the time")
  func busy() throws {
    let (folder, hive) = (try Folder(), Hive())
    try hive.plugins.add(directory: folder.path)
    let watch = try hive.plugins.watch()
    let script = "echo ready; while :; do echo line > log; sleep 0.005; done"
    try Command.whileRunning("/bin/sh", ["-c", script], in: folder.url) { _, _ in
      try build("one", Compiler.module("one"), in: folder)
      #expect(Patience.block { Self.names(hive) == ["one"] })
    }
    watch.cancel()
  }

  @Test("a handle may be cancelled by what is told of a change; then nothing is told any more")
  func cancelledInside() throws {
    let (folder, hive) = (try Folder(), Hive())
    try hive.plugins.add(directory: folder.path)
    let (calls, handle) = (Lock(0), Lock<Handle?>(nil))
    let watch = try hive.plugins.watch {
      calls.withLock { $0 += 1 }
      handle.withLock { $0 }?.cancel()
    }
    handle.withLock { $0 = watch }
    try folder.write("shop", as: "notes.txt")
    #expect(Patience.block { calls.withLock { $0 } == 1 })
    try folder.write("shop", as: "more.txt")
    Thread.sleep(forTimeInterval: 0.2)
    #expect(calls.withLock { $0 } == 1)
  }

  @Test("leave no descriptor and no thread behind")
  func released() throws {
    let (folder, hive) = (try Folder(), Hive())
    try hive.plugins.add(directory: folder.path)
    func open() throws -> Int {
      try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").filter { name in
        let link = try? FileManager.default.destinationOfSymbolicLink(
          atPath: "/proc/self/fd/\(name)")
        return link?.contains("inotify") == true
      }.count
    }
    for _ in 0..<20 { try hive.plugins.watch().cancel() }
    // A watch that is not cancelled ends with its Hive.
    for _ in 0..<20 {
      let hive = Hive()
      try hive.plugins.add(directory: folder.path)
      _ = try hive.plugins.watch()
    }
    // Other tests of this suite have one watch each.
    #expect(try Patience.block { try open() <= 2 })
  }
}
