import BinaryImage
import Foundation
import Synchronization
import TestSupport
import Testing

/// Another thread's image is in the loader's list before it is relocated. A copy made then is either right or marked as
/// unsettled. After `waitForRelocation` a copy is right.
@Suite struct LoaderRaceTests {
  /// Enough relocations for many walks to come in the middle of them.
  private static let slow =
    """
    __asm__(".pushsection .data.rel,\\"aw\\"\\n.balign 8\\nbig_table:\\n"
            ".rept 250000\\n.quad big_table\\n.endr\\n.popsection");
    """

  @Test(arguments: MappedFileTests.Kind.allCases)
  func `An image that is being relocated is never misread`(_ kind: MappedFileTests.Kind) throws {
    let name = "slow_\(kind)"
    let path = try Fixture.library(
      kind.source(name) + "\n" + Self.slow, as: "\(name).so", ["-Wl,--build-id"])
    let expected = Fixture.modules(name)
    var unsettled = 0
    // Repeats until a walk comes in time, because the processors may be busy with other work.
    for attempt in 0..<1000 where attempt < 3 || unsettled == 0 {
      let mayClose = DispatchSemaphore(value: 0)
      let isClosed = DispatchSemaphore(value: 0)
      do {
        Thread {
          let library = try? OpenLibrary(path)
          mayClose.wait()
          library?.close()
          isClosed.signal()
        }.start()
        defer {
          mayClose.signal()
          isClosed.wait()
        }
        var list = ImageList()
        let isThere = try Patience.spin {
          try list.update()
          guard list.position(named: path) != nil else { return false }
          var image = try list.copy(named: path)
          if !image.isSettled {
            unsettled += 1
            let early = try image.texts(in: "BeehiveMods")
            #expect(early.allSatisfy { expected.contains($0) || $0 == "out-of-image" })
            if unsettled % 100 != 0 { return false }
            image.waitForRelocation()
            image = try list.copy(named: path)
          }
          #expect(image.isSettled)
          #expect(try image.texts(in: "BeehiveMods") == expected)
          return true
        }
        #expect(isThere)
      }
    }
    #expect(unsettled > 0, "no walk came in time; the library is relocated too fast for this test")
  }

  @Test func `Lists are read while libraries come and go`() throws {
    let names = (0..<4).map { "restless_\($0)" }
    let paths = try Fixture.notedLibraries(names)
    let isOver = Flag()
    let ended = DispatchSemaphore(value: 0)
    for path in paths {
      Thread {
        while !isOver.value {
          guard let library = try? OpenLibrary(path) else { break }
          library.close()
        }
        ended.signal()
      }.start()
    }
    var list = ImageList()
    var known: Set<MappedImage.ID> = []
    var copied = 0
    var rounds = 0
    let isCopied = try Patience.spin {
      rounds += 1
      let changes = try list.update()
      known.subtract(changes.removed)
      for position in changes.added { known.insert(list[position].id) }
      let isComplete = known == Set((0..<list.count).map { list[$0].id })
      #expect(isComplete)
      let ours = (0..<list.count).filter { paths.contains(list[$0].name) }
      for (position, copy) in zip(ours, list.copy(ours)) {
        guard case .image(let image) = copy, image.isSettled else { continue }
        copied += 1
        // The copy is of the listed library, whole. Another library may be at its address by now.
        let name = list[position].name
        let declared = zip(paths, names).first { $0.0 == name }.map { Fixture.modules($0.1) }
        #expect(try image.texts(in: "BeehiveMods") == declared)
      }
      return copied > 0 && rounds >= Effort.times(300, full: 2000)
    }
    isOver.set()
    for _ in paths { ended.wait() }
    #expect(isCopied)
  }
}

/// A flag that threads share.
private final class Flag: Sendable {
  private let state = Atomic(false)
  var value: Bool { state.load(ordering: .relaxed) }
  func set() { state.store(true, ordering: .relaxed) }
}
