import BinaryImage
import Foundation
import ObjectFiles
import Testing

@Suite("Archives")
struct ArchiveTests {
  /// Returns a member's header and contents, as `ar` would write them.
  static func member(_ name: String, _ contents: [UInt8], size: String? = nil) -> [UInt8] {
    func field(_ text: String, _ width: Int) -> [UInt8] {
      Array(text.padding(toLength: width, withPad: " ", startingAt: 0).utf8)
    }
    let header =
      field(name, 16) + field("0", 12) + field("0", 6) + field("0", 6) + field("644", 8)
      + field(size ?? String(contents.count), 10) + [0x60, 0x0a]
    return header + contents + (contents.count % 2 == 1 ? [0x0a] : [])
  }

  static let magic = Array("!<arch>\n".utf8)
  static let thinMagic = Array("!<thin>\n".utf8)
  static let object = (try? Fixture.bytes(of: objectPath())) ?? []

  private static func objectPath() throws -> String {
    try Fixture.compile(ELFPointersTests.source, as: "member.o", ["-fPIC", "-c"])
  }

  /// Returns what is found in a file of these bytes: `member` for an image, `member: code` for a failure.
  static func found(
    in bytes: [UInt8], as name: String = "found-\(UUID().uuidString).a", architecture: String? = nil
  ) throws -> [String] {
    let path = try Fixture.write(bytes, as: name)
    var found: [String] = []
    ImageFile.forEachImage(pathBytes: Array(path.utf8), architecture: architecture) { image in
      let place = image.container.joined(separator: "/")
      switch image.image {
      case .success(let image):
        let count = (try? image.texts(of: "BeehiveMods"))?.count ?? -1
        found.append("\(place) \(image.identity.machine) \(count)")
      case .failure(let error): found.append("\(place): \(error.code.rawValue)")
      }
    }
    return found
  }

  /// A name, the bytes after the magic, and the findings in them.
  typealias Variant = (name: String, bytes: [UInt8], found: [String])

  static let variants: [Variant] = [
    ("empty", [], []),
    ("with an index alone", member("/", [0, 0, 0, 0]), [": not-an-object"]),
    ("System V", member("a.o/", object), ["a.o x86_64 2"]),
    ("BSD, short", member("a.o", object), ["a.o x86_64 2"]),
    (
      "BSD, long",
      member("#1/20", Array("a name.o".utf8) + [UInt8](repeating: 0, count: 12) + object),
      ["a name.o x86_64 2"]
    ),
    (
      "GNU, long", member("//", Array("first.o/\nsecond name.o/\n".utf8)) + member("/9", object),
      ["second name.o x86_64 2"]
    ),
    (
      "with indices and tables of other linkers",
      member("/", [0, 0, 0, 0]) + member("/<ECSYMBOLS>/", [0]) + member("a.o/", object),
      ["a.o x86_64 2"]
    ),
    ("with a name that begins like a table's", member("/a.o/", object), ["/a.o/ x86_64 2"]),
    (
      "with members of odd size, of none, and of other sorts",
      member("odd/", [1]) + member("none/", []) + member("a.o/", object + [0])
        + member("text/", Array("text".utf8)),
      ["odd: not-an-object", "none: not-an-object", "a.o x86_64 2", "text: not-an-object"]
    ),
    ("in archives", member("inner.a/", magic + member("a.o/", object)), ["inner.a/a.o x86_64 2"]),
    ("with intermediate code", member("lto.o/", [0x42, 0x43, 0xc0, 0xde]), ["lto.o: unsupported"]),
  ]

  @Test("give their members in every variant", arguments: variants)
  func members(name: String, bytes: [UInt8], found: [String]) throws {
    #expect(try Self.found(in: Self.magic + bytes) == found)
  }

  static let damaged: [Variant] = [
    ("cut off in a header", Array(member("a.o/", object)[..<40]), [": truncated"]),
    (
      "cut off in a member", Array(member("a.o/", object)[..<100]),
      ["a.o: truncated", ": truncated"]
    ),
    (
      "cut off between members", member("/", [0, 0, 0, 1, 0, 0, 0x40, 0]) + member("a.o/", object),
      ["a.o x86_64 2", ": truncated"]
    ),
    ("with no number as a size", member("a.o/", object, size: "12x"), [": malformed"]),
    (
      "with a size beyond all bounds", member("a.o/", object, size: "9999999999"),
      ["a.o x86_64 2", ": truncated"]
    ),
    ("with a table of names of 7 GB", member("//", [], size: "7777777777"), [": truncated"]),
    ("with a name outside the table", member("/9", object), [": malformed"]),
    ("with a name longer than the member", member("#1/9999", object), [": malformed"]),
    (
      "with something else between members",
      member("a.o/", object) + [UInt8](repeating: 0x41, count: 60),
      ["a.o x86_64 2", ": malformed"]
    ),
    (
      "five deep in each other",
      (0..<5).reduce(member("a.o/", object)) { inner, _ in member("b/", magic + inner) },
      ["b/b/b/b: malformed"]
    ),
  ]

  @Test("that are damaged say so, and give what comes before", arguments: damaged)
  func damage(name: String, bytes: [UInt8], found: [String]) throws {
    #expect(try Self.found(in: Self.magic + bytes) == found)
  }

  @Test("that are thin give the files beside them, and lead nowhere else")
  func thin() throws {
    let directory = Fixture.path("thin")
    try FileManager.default.createDirectory(
      atPath: directory + "/inside", withIntermediateDirectories: true)
    _ = try Fixture.write(Self.object, as: "outside.o")
    _ = try Fixture.write(Self.object, as: "thin/inside/a.o")
    try Fixture.run("ln", ["-s", Fixture.path("outside.o"), directory + "/link.o"])
    let names = "inside/a.o/\n../outside.o/\n\(Fixture.path("outside.o"))/\nlink.o/\nmissing.o/\n"
    var bytes = Self.thinMagic + Self.member("//", Array(names.utf8))
    var offset = 0
    for name in names.split(separator: "\n", omittingEmptySubsequences: true) {
      bytes += Self.member("/\(offset)", [], size: String(Self.object.count))
      offset += name.utf8.count + 1
    }
    #expect(
      try Self.found(in: bytes, as: "thin/lib.a") == [
        "inside/a.o x86_64 2", ": unreadable", ": unreadable", ": unreadable", ": unreadable",
      ])
    let inner = Self.magic + Self.member("inner.a/", bytes)
    #expect(try Self.found(in: inner, as: "thin/outer.a").first == "inner.a: unreadable")
  }

  @Test("that are thin hold no thin ones, nor one archive more than once: work would have no end")
  func nested() throws {
    try FileManager.default.createDirectory(
      atPath: Fixture.path("nested"), withIntermediateDirectories: true)
    _ = try Fixture.write(Self.magic + Self.member("a.o/", Self.object), as: "nested/whole.a")
    func thin(_ name: String, naming other: String, times: Int) throws -> [String] {
      var bytes = Self.thinMagic + Self.member("//", Array("\(other)/\n".utf8))
      for _ in 0..<times { bytes += Self.member("/0", [], size: "100") }
      return try Self.found(in: bytes, as: "nested/\(name)")
    }
    #expect(
      try thin("thin.a", naming: "whole.a", times: 3) == [
        "whole.a/a.o x86_64 2", ": malformed", ": malformed",
      ])
    #expect(try thin("outer.a", naming: "thin.a", times: 1) == [": unsupported"])
    // Nested five deep, that would be ten million million members.
    #expect(try thin("self.a", naming: "self.a", times: 400).count == 400)
    let other = Self.thinMagic + Self.member("//", Array("whole.a/\n".utf8))
    let members = ["/0:68", "/0:136", "/0"].flatMap { Self.member($0, [], size: "100") }
    #expect(
      try Self.found(in: other + members, as: "nested/other.a") == [
        ": unsupported", "whole.a/a.o x86_64 2",
      ])
  }

  @Test("give the members for one machine alone where one is asked for")
  func architecture() throws {
    let bytes = Self.magic + Self.member("a.o/", Self.object) + Self.member("text/", [0x41])
    #expect(try Self.found(in: bytes, architecture: "x86_64").first == "a.o x86_64 2")
    #expect(
      try Self.found(in: bytes, architecture: "s390x") == [
        "text: not-an-object", ": no-such-architecture",
      ])
  }
}
