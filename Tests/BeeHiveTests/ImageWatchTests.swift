import BinaryImage
import Glibc
import TestSupport
import Testing

@testable import BeeHive

/// The images that the loader maps and unmaps between two looks, in a Hive.
@Suite struct ImageWatchTests {
  @Test("An image is reported until it is merged, and when it is gone") func comesAndGoes() throws {
    var watch = ImageWatch()
    watch.merged(try watch.look())
    let library = try CLibrary("guest")
    try library.open()
    // Two threads are at it.
    let first = try #require(try watch.look().image(of: library))
    let found = try watch.look()
    let second = try #require(found.image(of: library))
    #expect(first.mapped.id == second.mapped.id)
    watch.merged(found)
    #expect(try watch.look().image(of: library) == nil)
    library.close()
    #expect(try watch.look().removed == [first.mapped.id])
  }

  @Test("A Hive keeps what has registered, whoever closes it") func pinned() throws {
    let library = try CLibrary("kept", declaring: "Kept.Module")
    let file = library.file
    let hive = Hive(imagesWhere: { $0 == file })
    try library.open()
    #expect(hive.entries.map(\.name) == ["Kept.Module"])
    library.close()
    #expect(hive.entries.map(\.name) == ["Kept.Module"])
    #expect(try ImageList.current().position(named: library.file) != nil)
  }

  @Test("What a library declares is removed at once, and its names are free")
  func removed() async throws {
    let library = try CLibrary("left", declaring: "Left.Module")
    let file = library.file
    let hive = Hive(imagesWhere: { $0 == file })
    try library.open()
    #expect(hive.entries.count == 1)
    #expect(await hive.remove(image: library.file) == 1)
    #expect(hive.entries.isEmpty)
    #expect(await hive.remove(image: library.file) == 0)
    try await hive.register(module: "Left.Module") { _ in Nothing() }
    #expect(hive.entries.count == 1)
    library.close()
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

extension ImageList {
  fileprivate static func current() throws -> ImageList {
    var list = ImageList()
    try list.update()
    return list
  }

  fileprivate func position(named name: String) -> Int? {
    (0..<count).first { self[$0].name == name }
  }
}

extension ImageWatch {
  fileprivate mutating func merged(_ found: Found) {
    merged(found.images.map(\.mapped.id), of: found)
  }
}

extension ImageWatch.Found {
  fileprivate func image(of library: CLibrary) -> LoadedImage? {
    images.first { $0.mapped.name == library.file }
  }
}

/// A C library, with one module or without entries, which comes and goes as its test wants.
@safe private final class CLibrary {
  let file: String
  // Sound: from dlopen, and closed once.
  private var handle: UnsafeMutableRawPointer?

  init(_ name: String, declaring module: String? = nil) throws {
    let entry = module.map { "#include <BeeHive.h>\nBeeHiveMod(\($0));" } ?? "int nothing;"
    file = try Compiler.library(entry, as: "lib\(name).so")
  }

  deinit { close() }

  func open() throws {
    unsafe handle = dlopen(file, RTLD_NOW | RTLD_LOCAL)
    try #require(unsafe handle != nil)
  }

  /// `dlclose`, once.
  func close() {
    if let handle = unsafe handle { unsafe _ = dlclose(handle) }
    unsafe handle = nil
  }
}
