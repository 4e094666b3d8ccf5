import BinaryImage
import Foundation
import TestSupport
import Testing

@testable import BeeHive

/// Tests how a Hive sees images that the loader maps and unmaps.
@Suite struct ImageWatchTests {
  @Test("An image is reported until it is merged, and when it is gone") func comesAndGoes() throws {
    var watch = ImageWatch()
    watch.merged(try watch.look())
    let file = try library("guest")
    let opened = try OpenLibrary(file)
    // Two threads look before either merges.
    let first = try #require(try watch.look().image(of: file))
    let found = try watch.look()
    let second = try #require(found.image(of: file))
    #expect(first.mapped.id == second.mapped.id)
    watch.merged(found)
    #expect(try watch.look().image(of: file) == nil)
    opened.close()
    #expect(try watch.look().removed == [first.mapped.id])
  }

  @Test("A Hive keeps what has registered, whoever closes it") func pinned() throws {
    let file = try library("kept", declaring: "Kept.Module")
    let hive = Hive(imagesWhere: { $0 == file })
    let opened = try OpenLibrary(file)
    #expect(hive.entries.map(\.name) == ["Kept.Module"])
    opened.close()
    #expect(hive.entries.map(\.name) == ["Kept.Module"])
    var list = ImageList()
    try list.update()
    let isMapped = (0..<list.count).contains { list[$0].name == file }
    #expect(isMapped)
  }

  @Test("What a library declares is removed at once, and its names are free")
  func removed() async throws {
    let file = try library("left", declaring: "Left.Module")
    let hive = Hive(imagesWhere: { $0 == file })
    let opened = try OpenLibrary(file)
    #expect(hive.entries.count == 1)
    #expect(await hive.remove(image: file) == 1)
    #expect(hive.entries.isEmpty)
    #expect(await hive.remove(image: file) == 0)
    try await hive.register(module: "Left.Module") { _ in Nothing() }
    #expect(hive.entries.count == 1)
    opened.close()
  }

  @Test("Entries that a linker put where no process looks are reported", .needs("ld.bfd"))
  func lost() throws {
    let file = try Compiler.library(
      Compiler.module("lost"), as: "liblost.so", in: Folder().url,
      ["-fuse-ld=bfd", "-Wl,--unique=BeehiveRecords"]
    ).path
    let hive = Hive(imagesWhere: { $0 == file })
    #expect(hive.imageProblems.isEmpty)
    let opened = try OpenLibrary(file)
    #expect(hive.report().images.first?.contains("which the note leaves out") == true)
    opened.close()
    #expect(hive.report().isClean)
  }

  @Test("What became of an image is settled once, but for a failure") func settled() {
    var images = KnownImages()
    let failure = ImageError(.unreadable, image: "plugin.so", message: "It cannot be opened.")
    func settle(_ id: Int) -> Bool { images.settle(id) }
    func fail(_ id: Int) -> Bool { images.fail(id, failure) }
    #expect(fail(7))
    #expect(!fail(7))
    #expect(images.problems == [failure] && !images.isSettled(7))
    #expect(settle(7))
    #expect(images.problems == [] && images.isSettled(7))
    #expect(!fail(7))
    images.forget(8)
    #expect(!settle(8))
  }
}

private struct Nothing: Module {}

extension ImageWatch {
  fileprivate mutating func merged(_ found: Found) {
    merged(found.images.map(\.mapped.id), of: found)
  }
}

extension ImageWatch.Found {
  fileprivate func image(of file: String) -> LoadedImage? {
    images.first { $0.mapped.name == file }
  }
}

/// Compiles a C library with one module or without entries, and returns its path.
private func library(_ name: String, declaring module: String? = nil) throws -> String {
  let entry = module.map { "#include <BeeHive.h>\nBeeHiveMod(\($0));" } ?? "int nothing;"
  return try Compiler.library(entry, as: "lib\(name).so")
}
