import BinaryImage
import Foundation
import TestSupport
import Testing

@testable import PluginFiles

@Suite("A folder of files of every kind")
struct EveryKindOfFileTests {
  /// Makes one file of each kind, with a number in its name; the reason why each is no plugin.
  private static func make(
    _ number: Int, in folder: PluginFolder, _ bytes: [String: Data]
  ) throws -> [String: String] {
    let manager = FileManager.default
    var reasons: [String: String] = [:]
    func name(_ kind: String) -> String { "\(number)-\(kind)" }
    func write(_ kind: String, _ data: Data, _ reason: String) throws {
      try data.write(to: folder.folder.place(name(kind)))
      reasons[name(kind)] = reason
    }
    try write("script", Data("#!/bin/sh\nexit 1\n".utf8), "It is no object file.")
    try write("empty", Data(), "It is empty.")
    try write("text", Data("shop".utf8), "It is no object file.")
    try write("archive", Data("!<arch>\n".utf8), "It is no object file.")
    try write("begun", Data([0x7f, 0x45]), "It is no object file.")
    let library = bytes["library"] ?? Data()
    try write("head", library.prefix(40), "The file ends inside the ELF header.")
    try write(
      "object", bytes["object"] ?? Data(),
      "It is an object file; link it into a shared library.")
    try write("program", bytes["program"] ?? Data(), "It is a program, which no host can open.")
    try write(
      "plain", bytes["plain"] ?? Data(), "It is a shared library, and declares nothing.")

    func path(_ kind: String) -> String { folder.folder.place(name(kind)).path }
    let isMade = unsafe mkfifo(path("fifo"), 0o600) == 0
    try #require(isMade)
    reasons[name("fifo")] = "It is a FIFO; only regular files are read."
    try listen(at: name("socket"), in: folder.path)
    reasons[name("socket")] = "It is a socket; only regular files are read."
    try manager.createSymbolicLink(atPath: path("dangling"), withDestinationPath: "nowhere")
    reasons[name("dangling")] = "It is a link that leads nowhere."
    try manager.createSymbolicLink(
      atPath: path("loop"), withDestinationPath: name("loop"))
    reasons[name("loop")] = "Too many levels of symbolic links."
    try manager.createSymbolicLink(atPath: path("null"), withDestinationPath: "/dev/zero")
    reasons[name("null")] = "It is a device; only regular files are read."
    try manager.createDirectory(atPath: path("directory"), withIntermediateDirectories: false)
    reasons[name("directory")] = "It is a directory; only regular files are read."
    return reasons
  }

  /// Makes a socket; its path would be too long from the root on.
  private static func listen(at name: String, in folder: String) throws {
    let directory = unsafe open(folder, O_RDONLY | O_DIRECTORY)
    let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
    defer {
      close(descriptor)
      close(directory)
    }
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    let path = Array("/proc/self/fd/\(directory)/\(name)".utf8)
    unsafe withUnsafeMutableBytes(of: &address.sun_path) { unsafe $0.copyBytes(from: path) }
    let failure = unsafe withUnsafePointer(to: &address) { pointer in
      unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        unsafe bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
      }
    }
    try #require(failure == 0)
  }

  private static func check(kinds count: Int) throws {
    let made = try PluginFolder()
    let bytes = try [
      "library": made.build("one.so"),
      "object": made.build("one.o", kind: "-c"),
      "plain": made.build("plain.so", "int nothing;"),
      "program": made.build("program", "int main(void) { return 0; }", kind: "-pie"),
    ].mapValues { try Data(contentsOf: URL(fileURLWithPath: $0)) }
    let folder = try PluginFolder()
    var expected: [String: String] = [:]
    for number in 0..<count {
      try expected.merge(make(number, in: folder, bytes)) { first, _ in first }
    }
    let library = try #require(bytes["library"])
    try library.write(to: folder.folder.place("good.so"))
    // Cut off anywhere, a library is no plugin, and says so.
    for number in 1...count {
      try library.prefix(library.count * number / (count + 1))
        .write(to: folder.folder.place("cut-\(number)"))
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
    // Nothing has changed, so nothing is read again but what has no file.
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
