import BinaryImage
import Foundation
import Glibc
import TestSupport
import Testing

@testable import BeeHive

/// Libraries come and go in the middle of a look, or between two looks of two threads.
@Suite struct ImageWatchTests {
  @Test("An image that goes while it is copied is taken in when it comes again")
  func goesWhileCopied() throws {
    let other = try CLibrary("other", declaring: "Other.Module")
    let library = try CLibrary("guest", declaring: "Guest.Module")
    let isSeenAgain = try (0..<5000).contains { _ in
      var watch = ImageWatch()
      try other.open()
      watch.merged(try watch.look { _ in false })
      // Something was unmapped: the look asks which known images may really be others, and that is
      // after it walked the list and before it copies what is new.
      other.close()
      try library.open()
      let place = try library.place()
      let during = try watch.look { _ in
        library.close()
        return false
      }
      #expect(during.snapshot(of: library) == nil)
      try library.open()
      defer { library.close() }
      let snapshot = try watch.look { _ in false }.snapshot(of: library)
      let id = try #require(snapshot).image.mapped.id
      #expect(!during.removed.contains(id))
      // Elsewhere it would be a new image to any list.
      return try library.place() == place
    }
    #expect(isSeenAgain, "the library never came back to its place; this tested nothing")
  }

  @Test("Of two snapshots of an image the later one holds") func laterHolds() throws {
    var watch = ImageWatch()
    watch.merged(try watch.look { _ in false })
    let library = try CLibrary("sighted", declaring: "Sighted.Module")
    try library.open()
    let first = try #require(try watch.look { _ in false }.snapshot(of: library))
    library.close()
    try library.open()
    defer { library.close() }
    // Nobody has said yet that the first one is merged: two threads are at it.
    let second = try #require(try watch.look { _ in false }.snapshot(of: library))
    #expect(second.look > first.look)
    #expect(second.mayBeAnother)

    let id = first.image.mapped.id
    var older = KnownImages()
    _ = older.merge(id, first.known, at: first.look)
    #expect(older.isNews(id, at: second.look))
    for order in [[first, second], [second, first]] {
      var images = KnownImages()
      for snapshot in order where images.isNews(id, at: snapshot.look) {
        _ = images.merge(id, snapshot.known, at: snapshot.look)
      }
      #expect(!images.isNews(id, at: second.look))
      #expect(images[id] != nil)
    }
  }

  @Test("An image that is gone is told to everybody until what it declared is withdrawn")
  func goneUntilWithdrawn() throws {
    let library = try CLibrary("leaving", declaring: "Leaving.Module")
    try library.open()
    var watch = ImageWatch()
    let before = try watch.look { _ in false }
    let id = try #require(before.snapshot(of: library)).image.mapped.id
    watch.merged(before)
    library.close()
    let first = try watch.look { _ in false }
    #expect(first.removed.contains(id))
    // The first thread is on its way: a lookup of a second one must not find what is gone.
    let isStale = watch.isStale
    #expect(isStale)
    #expect(try watch.look { _ in false }.removed.contains(id))
    watch.merged(first)
    #expect(try !watch.look { _ in false }.removed.contains(id))
  }

  @Test("What is gone is no news again") func gone() throws {
    var images = KnownImages()
    #expect(images.isNews(7, at: 1))
    _ = images.forget(7)
    #expect(images.contains(7))
    #expect(!images.isNews(7, at: 100))
  }

  @Test("An image that could not be read may be replaced") func failed() throws {
    var images = KnownImages()
    let failure = ImageError(.unreadable, image: "plugin.so", message: "It cannot be opened.")
    images.fail(7, failure, at: 1)
    #expect(images.mayGo(7))
    #expect(images.problems == [failure])
    _ = images.merge(7, nil, at: 2)
    #expect(images.problems == [])
    #expect(!images.mayGo(7))
  }
}

extension ImageWatch {
  fileprivate mutating func merged(_ found: Found) {
    merged(found.images.map(\.image.mapped.id), of: found)
  }
}

extension ImageWatch.Found {
  fileprivate func snapshot(of library: CLibrary) -> ImageWatch.Snapshot? {
    images.first { $0.image.mapped.name == library.file }
  }
}

extension ImageWatch.Snapshot {
  fileprivate var known: KnownImages.Registered {
    KnownImages.Registered(image: image, isPinned: false, announces: true, entryCount: 1)
  }
}

/// A C library with one module, which comes and goes as its test wants.
@safe private final class CLibrary {
  private let folder: Folder
  let file: String
  // Sound: from dlopen, and closed once.
  private var handle: UnsafeMutableRawPointer?

  init(_ name: String, declaring module: String) throws {
    folder = try Folder()
    file = folder.place("lib\(name).so").path
    try Compiler.compile(
      "#include <BeeHive.h>\nBeeHiveMod(\(module));", as: "lib\(name).so", in: folder.url,
      ["-shared", "-fPIC", "-I", Repository.headers])
  }

  deinit {
    close()
    folder.remove()
  }

  func open() throws {
    unsafe handle = dlopen(file, RTLD_NOW | RTLD_LOCAL)
    try #require(unsafe handle != nil)
  }

  /// `dlclose`, once.
  func close() {
    if let handle = unsafe handle { unsafe _ = dlclose(handle) }
    unsafe handle = nil
  }

  /// Where the loader has put it.
  func place() throws -> LoadBias {
    var list = ImageList()
    try list.update()
    let position = (0..<list.count).first { list[$0].name == file }
    return list[try #require(position)].bias
  }
}
