import BinaryImage
import Foundation
import TestSupport
import Testing

@testable import PluginFiles

@Suite("A folder of files of every kind")
struct EveryKindOfFileTests {
  /// Makes one file of each kind, with a number in its name. Returns the reason why each is no plugin.
  private static func make(
    _ number: Int, in folder: Folder, _ bytes: [String: Data]
  ) throws -> [String: String] {
    let manager = FileManager.default
    var reasons: [String: String] = [:]
    func name(_ kind: String) -> String { "\(number)-\(kind)" }
    let none = "It is no object file."
    for (kind, data, reason) in [
      ("script", Data("#!/bin/sh\nexit 1\n".utf8), none), ("empty", Data(), "It is empty."),
      ("text", Data("shop".utf8), none), ("archive", Data("!<arch>\n".utf8), none),
      ("begun", Data([0x7f, 0x45]), none),
      ("head", bytes["library"]?.prefix(40), "The file ends inside the ELF header."),
      ("object", bytes["object"], "It is an object file; link it into a shared library."),
      ("program", bytes["program"], "It is a program, which no host can open."),
      ("plain", bytes["plain"], "It is a shared library, and declares nothing."),
    ] {
      try (data ?? Data()).save(as: folder.place(name(kind)))
      reasons[name(kind)] = reason
    }

    func path(_ kind: String) -> String { folder.place(name(kind)).path }
    for (kind, mode, what) in [("fifo", S_IFIFO, "FIFO"), ("socket", S_IFSOCK, "socket")] {
      try #require(unsafe mknod(path(kind), mode | 0o600, 0) == 0)
      reasons[name(kind)] = "It is a \(what); only regular files are read."
    }
    try manager.createSymbolicLink(atPath: path("dangling"), withDestinationPath: "nowhere")
    reasons[name("dangling")] = "It is a link that leads nowhere."
    try manager.createSymbolicLink(atPath: path("loop"), withDestinationPath: name("loop"))
    reasons[name("loop")] = "Too many levels of symbolic links."
    try manager.createSymbolicLink(atPath: path("null"), withDestinationPath: "/dev/zero")
    reasons[name("null")] = "It is a device; only regular files are read."
    try manager.createDirectory(atPath: path("directory"), withIntermediateDirectories: false)
    reasons[name("directory")] = "It is a directory; only regular files are read."
    return reasons
  }

  private static func check(kinds count: Int) throws {
    let made = try Folder()
    let bytes = try [
      "library": made.build("one.so"),
      "object": made.build("one.o", kind: "-c"),
      "plain": made.build("plain.so", "int nothing;"),
      "program": made.build("program", "int main(void) { return 0; }", kind: "-pie"),
    ].mapValues { try Data(contentsOf: URL(fileURLWithPath: $0)) }
    let folder = try Folder()
    var expected: [String: String] = [:]
    for number in 0..<count {
      try expected.merge(make(number, in: folder, bytes)) { first, _ in first }
    }
    let library = try #require(bytes["library"])
    try library.save(as: folder.place("good.so"))
    // A library that is cut off anywhere is no plugin, and has a reason.
    for number in 1...count {
      try library.prefix(library.count * number / (count + 1))
        .write(to: folder.place("cut-\(number)"))
    }
    let catalogue = folder.catalogue()
    #expect(catalogue.plugins == ["good.so"])
    #expect(catalogue.problems.isEmpty)
    let reasons = catalogue.reasons
    #expect(reasons.count == expected.count + count)
    for (name, reason) in expected {
      #expect(reasons[name] == reason, "\(name)")
    }
    for number in 1...count { #expect(reasons["cut-\(number)"] != nil) }
    // Nothing has changed, so no file is read again.
    try folder.settle()
    var again = folder.catalogue()
    again.refresh()
    #expect(again.readCount == 0)
    #expect(again.reasons == reasons)
  }

  @Test("is read without blocking, each file with a reason: some hundred")
  func hundreds() throws { try Self.check(kinds: 20) }

  @Test("is read without blocking, each file with a reason: ten thousand", .full)
  func thousands() throws { try Self.check(kinds: 590) }
}
