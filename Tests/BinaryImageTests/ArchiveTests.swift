import BinaryImage
import Foundation
import ObjectFiles
import Testing

@Suite("Archives")
struct ArchiveTests {
  /// A member's header and contents, as `ar` would write them.
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

  /// What is found in a file of these bytes: `member` for an image, `member: code` for a failure.
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

  /// Bytes behind the magic, and what is found in them.
  struct Variant: Sendable, CustomTestStringConvertible {
    var testDescription: String
    var bytes: [UInt8]
    var found: [String]
  }

  static let variants: [Variant] = [
    Variant(testDescription: "empty", bytes: [], found: []),
    Variant(
      testDescription: "with an index alone", bytes: member("/", [0, 0, 0, 0]),
      found: [": not-an-object"]),
    Variant(
      testDescription: "System V", bytes: member("a.o/", object), found: ["a.o x86_64 2"]),
    Variant(
      testDescription: "BSD, short", bytes: member("a.o", object), found: ["a.o x86_64 2"]),
    Variant(
      testDescription: "BSD, long",
      bytes: member("#1/20", Array("a name.o".utf8) + [UInt8](repeating: 0, count: 12) + object),
      found: ["a name.o x86_64 2"]),
    Variant(
      testDescription: "GNU, long",
      bytes: member("//", Array("first.o/\nsecond name.o/\n".utf8)) + member("/9", object),
      found: ["second name.o x86_64 2"]),
    Variant(
      testDescription: "with indices and tables of other linkers",
      bytes: member("/", [0, 0, 0, 0]) + member("/<ECSYMBOLS>/", [0]) + member("a.o/", object),
      found: ["a.o x86_64 2"]),
    Variant(
      testDescription: "with a name that begins like a table's",
      bytes: member("/a.o/", object), found: ["/a.o/ x86_64 2"]),
    Variant(
      testDescription: "with members of odd size, of none, and of other sorts",
      bytes: member("odd/", [1]) + member("none/", []) + member("a.o/", object + [0])
        + member("text/", Array("text".utf8)),
      found: [
        "odd: not-an-object", "none: not-an-object", "a.o x86_64 2", "text: not-an-object",
      ]),
    Variant(
      testDescription: "in archives",
      bytes: member("inner.a/", magic + member("a.o/", object)), found: ["inner.a/a.o x86_64 2"]),
    Variant(
      testDescription: "with intermediate code",
      bytes: member("lto.o/", [0x42, 0x43, 0xc0, 0xde]), found: ["lto.o: unsupported"]),
  ]

  @Test("give their members in every variant", arguments: variants)
  func members(variant: Variant) throws {
    #expect(try Self.found(in: Self.magic + variant.bytes) == variant.found)
  }

  static let damaged: [Variant] = [
    Variant(
      testDescription: "cut off in a header", bytes: Array(member("a.o/", object)[..<40]),
      found: [": truncated"]),
    Variant(
      testDescription: "cut off in a member", bytes: Array(member("a.o/", object)[..<100]),
      found: ["a.o: truncated", ": truncated"]),
    Variant(
      testDescription: "cut off between members",
      bytes: member("/", [0, 0, 0, 1, 0, 0, 0x40, 0]) + member("a.o/", object),
      found: ["a.o x86_64 2", ": truncated"]),
    Variant(
      testDescription: "with no number as a size", bytes: member("a.o/", object, size: "12x"),
      found: [": malformed"]),
    Variant(
      testDescription: "with a size beyond all bounds",
      bytes: member("a.o/", object, size: "9999999999"), found: ["a.o x86_64 2", ": truncated"]),
    Variant(
      testDescription: "with a table of names of 7 GB",
      bytes: member("//", [], size: "7777777777"), found: [": truncated"]),
    Variant(
      testDescription: "with a name outside the table", bytes: member("/9", object),
      found: [": malformed"]),
    Variant(
      testDescription: "with a name longer than the member", bytes: member("#1/9999", object),
      found: [": malformed"]),
    Variant(
      testDescription: "with something else between members",
      bytes: member("a.o/", object) + [UInt8](repeating: 0x41, count: 60),
      found: ["a.o x86_64 2", ": malformed"]),
    Variant(
      testDescription: "five deep in each other",
      bytes: (0..<5).reduce(member("a.o/", object)) { inner, _ in member("b/", magic + inner) },
      found: ["b/b/b/b: malformed"]),
  ]

  @Test("that are damaged say so, and give what comes before", arguments: damaged)
  func damage(variant: Variant) throws {
    #expect(try Self.found(in: Self.magic + variant.bytes) == variant.found)
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
    // Five deep that would be ten million million members.
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
