import Foundation
import TestSupport
import Testing

@Suite("What the images in a core file offer", .serialized, .opensLibrary)
struct LiveCoreTests {
  /// Writes a core file of a host after these steps. Returns the file and the images that `live` showed of the host, by
  /// the last parts of their paths.
  private func core(
    of steps: [String], as name: String
  ) throws -> (file: String, alive: [String: [String: Any]]) {
    var alive: [String: [String: Any]] = [:]
    var file = ""
    try LiveHost.run(steps) { pid, _ in
      alive = try Tool.live(["--pid", "\(pid)"])
      try Fixtures.tool("gcore", ["-o", name, "\(pid)"])
      file = "\(name).\(pid)"
    }
    return (file, alive)
  }

  /// Returns everything that `live` reports about an image.
  private func text(_ file: [String: Any]?) throws -> String {
    let data = try JSONSerialization.data(
      withJSONObject: try #require(file), options: [.sortedKeys])
    return String(decoding: data, as: UTF8.self)
  }

  @Test("It tells what the process did, the states of its entries too", .needs("gcore"))
  func sameAsProcess() throws {
    let steps = [LiveHost.hive] + (try LiveStatesTests.opened()) + ["entries"]
    let (file, alive) = try core(of: steps, as: "core-whole")
    let found = try Tool.live(["--core", file])
    for name in ["live-first.so", "live-second.so", "libBeeHive.so", "live-host"] {
      #expect(try text(found[name]) == text(alive[name]))
    }
    let table = try Tool.run(["live", "--core", file]).output
    #expect(table.contains("already provides it"))
  }

  @Test(
    "A library that is gone or replaced since is not read in place of the one that was mapped",
    .needs("gcore"), arguments: [true, false])
  func replaced(isGone: Bool) throws {
    let name = try Fixtures.annotatedLibrary("core-replaced-\(isGone).so")
    let (file, alive) = try core(of: ["open=./\(name)"], as: "core-replaced-\(isGone)")
    let path = Fixtures.place(name).path
    if isGone {
      try FileManager.default.removeItem(atPath: path)
    } else {
      _ = try Fixtures.build(
        Fixtures.annotated.replacingOccurrences(of: "Shop", with: "Fish"), as: name,
        ["-shared", "-fPIC", "-O2"])
    }
    let outcome = try Tool.run(["live", "--core", file]).expect(
      2, errors: isGone ? "and that file is gone" : "and that file is another one now")
    #expect(!outcome.output.contains("Fish"))
    let image = try #require(try Tool.live(["--core", file], status: 2)[name])
    #expect(image["deleted"] as? Bool == true && image["replaced"] as? Bool == !isGone)
    // The typed records are in memory that the core file has.
    let lines = try Tool.lines(image)
    #expect(try Set(lines).isSubset(of: Tool.lines(try #require(alive[name]))))
    #expect(lines.count == 2)
  }

  @Test("Cut off or overwritten, it is a problem or harmless", .needs("gcore"))
  func damaged() throws {
    let name = try Fixtures.annotatedLibrary("core-damaged.so")
    let (file, _) = try core(of: ["open=./\(name)"], as: "core-damaged")
    let bytes = try Fixtures.bytes(file)
    var generator = SeededGenerator(seed: 1)
    let steps = Array(stride(from: 0, to: 4096, by: 128))
    let lengths = steps + (1..<24).map { bytes.count * $0 / 24 }
    for length in Effort.sample(10, of: lengths) {
      try look(at: bytes.prefix(length), isCut: true, "cut at \(length)")
    }
    for _ in 0..<Effort.times(12, full: 60) {
      var copy = bytes
      let place = Int.random(in: 4..<min(copy.count, 16384), using: &generator)
      copy[place] = UInt8.random(in: 0...255, using: &generator)
      try look(at: copy, isCut: false, "byte \(place) is \(copy[place])")
    }
  }

  private func look(at bytes: Data, isCut: Bool, _ what: String) throws {
    try bytes.write(to: Fixtures.place("core-look"))
    let outcome = try Tool.run(["live", "--core", "core-look", "--format", "json"])
    #expect(outcome.status == 2 || (!isCut && outcome.status == 0), "\(what): \(outcome.status)")
    _ = try Tool.object(outcome.output)
  }

  @Test("Files that a process had mapped to read them are no images", .needs("gcore"))
  func mappedData() throws {
    let path = Fixtures.place("mapped-data").path
    try Data(repeating: 7, count: 8192).write(to: URL(fileURLWithPath: path))
    let reader = """
      #include "ready.h"
      #include <fcntl.h>
      int main(int count, char **arguments) {
        char *data = mmap(0, 8192, PROT_READ, MAP_PRIVATE, open(arguments[1], O_RDONLY), 0);
        if (data[0] == 7) { be_ready(); }
      }
      """
    let program = Fixtures.place(try Fixtures.build(reader, as: "maps-data", LiveHost.headers)).path
    try Command.whileRunning(program, [path], in: Fixtures.directory) { pid, _ in
      try Fixtures.tool("gcore", ["-o", "core-data", "\(pid)"])
      let outcome = try Tool.run(["live", "--core", "core-data.\(pid)"])
      #expect(outcome.status == 0 && outcome.errors == "", "\(outcome)")
      // The number of images comes first, because no image is shown.
      #expect(outcome.output.first?.isNumber == true, "\(outcome)")
    }
  }

  private func each(_ count: Int, _ line: (Int) -> String) -> String {
    (0..<count).map(line).joined(separator: "\n")
  }

  /// Returns a core file's note of `count` mapped files, each at the addresses that `line` gives.
  private func files(_ count: Int, at line: (Int) -> String) -> String {
    """
    note: .long 5, image - files, 0x46494c45
    .asciz "CORE"
    .balign 4
    files: .quad \(count), 4096
    \(each(count) { ".quad \(line($0)), 0" })
    \(each(count) { _ in ".asciz \"/x\"" })
    .balign 4
    """
  }

  @Test("What is no core file is refused")
  func others() throws {
    let library = try Fixtures.annotatedLibrary("core-none.so")
    try Tool.run(["live", "--core", library]).expect(
      2, errors: "core-none.so: It is no core file, but another ELF file.")
    #expect(try Tool.run(["live", "--core", "nowhere"]).status == 2)
    #expect(try Tool.run(["live", "--core", library, "--pid", "1"]).status == 64)
  }

  /// Makes a forged core file of images. Each image claims in its notes that records are in all of its parts, which
  /// share the same bytes.
  private func forged(images: Int, parts: Int, _ size: Int, step: Int) throws -> String {
    let name = "core-forged-\(images)-\(parts)"
    return try Fixtures.raw(
      """
      header: \(Fixtures.header(type: 4, segments: 1 + images * (1 + parts)))
      .long 4, 0
      .quad note - header, 0, 0, image - note, 0, 4
      \(each(images) { image in
        let start = (1 + image * step) << 32
        return ".long 1, 5\n.quad image - header, \(start), 0, 4096, 4096, 1\n" + each(parts) {
          ".long 1, 6\n.quad zeros - header, \(start + 0x1000_0000 + $0 * size), 0, \(size), \(size), 1"
        }
      })
      \(files(images) { "\(1 + $0 * step) << 32, (\(1 + $0 * step) << 32) + 4096" })
      image: \(Fixtures.header(type: 3, segments: 2))
      .long 1, 5
      .quad 0, 0, 0, 0x70000000, 0x70000000, 4096
      .long 4, 4
      .quad own - image, own - image, own - image, zeros - own, zeros - own, 4
      own: .long 8, 36, 0x42454501
      .asciz "Beehive"
      .long 1, 0, image - .
      \(each(6) { ".long \(0x1000_0000 + ($0 == 5 ? parts * size : 0)) - (. - image)" })
      .balign 4096
      zeros: .zero \(size)

      """, as: name)
  }

  @Test("Images whose headers share one table take no more memory than one", .limitsMemory)
  func sharedHeaders() throws {
    let name = try Fixtures.raw(
      """
      header: \(Fixtures.header(type: 4, segments: 2))
      .long 4, 0
      .quad note - header, 0, 0, image - note, 0, 4
      .long 1, 5
      .quad image - header, 1 << 24, 0, end - image, end - image, 4096
      \(files(1000) { "(1 << 24) + \(64 * $0), (1 << 24) + \(64 * $0 + 1)" })
      image: \(each(1000) { Fixtures.header(type: 3, segments: 1024, at: "\(64 * (1000 - $0))") })
      .rept 1024
      .long 1, 5
      .quad 0, 0, 0, 64, 64, 1
      .endr
      end:

      """, as: "core-headers")
    try Tool.limited(["live", "--core", name]).expect(2, errors: "/x: ")
  }

  @Test(
    "A forged one takes memory and time in proportion to its size", .limitsMemory,
    arguments: [
      (1, 300, 1, "bytes at"), (400, 1, 1, "The images before it have entries"),
      (2, 1, 0, "NT_FILE tells of"),
    ])
  func forged(images: Int, parts: Int, step: Int, message: String) throws {
    let name = try forged(images: images, parts: parts, 0x70000, step: step)
    try Tool.limited(["live", "--core", name]).expect(2, errors: message)
  }
}
