import Foundation
import TestSupport
import Testing

/// Inputs that are not ordinary files, or that change while they are read. A problem reports each, and the other inputs
/// are read.
@Suite("Hostile inputs of section-dump")
struct HostileInputsTests {
  /// Returns the messages of the problems of a file.
  private func problems(_ file: [String: Any]) throws -> [String] {
    try #require(file["problems"] as? [[String: Any]]).compactMap { $0["message"] as? String }
  }

  @Test("A socket is named as one, and skipped in directories")
  func socket() throws {
    let directory = try Fixtures.folder("sockets")
    let name = try Fixtures.annotatedLibrary("sockets/lib.so")
    // The socket looks left behind by a listener that has ended.
    let path = directory.appendingPathComponent("socket").path
    try #require(unsafe mknod(path, S_IFSOCK | 0o600, 0) == 0)
    let files = try Tool.files(["sockets/socket", name])
    #expect(try problems(files[0]) == ["It is a socket; only regular files are read."])
    #expect(try Tool.lines(files[1]).count == 4)
    #expect(try Tool.files(["-r", "sockets"]).map { $0["path"] as? String } == [name])
  }

  @Test(
    "Files of the process system are read like any others, though they have no size",
    arguments: ["/proc/self/maps", "/proc/self/mem", "/proc/version", "/proc/self/environ"])
  func processFiles(path: String) throws {
    let outcome = try Tool.run([path, "--format", "json"]).expect(2)
    #expect(outcome.errors.hasPrefix("section-dump: \(path): "))
    let own = try Tool.files(["/proc/self/exe"])
    #expect(try problems(own[0]).isEmpty)
  }

  @Test("A walk over the process system ends")
  func processDirectory() throws {
    let outcome = try Tool.run(["-r", "/proc/self/fdinfo", "/proc/self/attr", "--format", "ndjson"])
    #expect([0, 2].contains(outcome.status), "\(outcome.errors)")
  }

  @Test(
    "A directory that may not be read, or not be looked into, is a problem, and hides no other input",
    arguments: [(0, ""), (0o444, "/lib.so")])
  func unreadableDirectory(mode: Int, place: String) throws {
    let directory = try Fixtures.folder("closed-\(mode)")
    let manager = FileManager.default
    let name = try Fixtures.annotatedLibrary("beside-closed-\(mode).so")
    try Fixtures.bytes(name).write(to: directory.appendingPathComponent("lib.so"))
    let host = try Fixtures.build("int main(void) {}", as: "beside-closed", [])
    try manager.setAttributes([.posixPermissions: mode], ofItemAtPath: directory.path)
    defer { try? manager.setAttributes([.posixPermissions: 0o700], ofItemAtPath: directory.path) }
    // Root may read everything, so the tool gives up its capabilities there.
    let command = getuid() == 0 ? ["setpriv", "--bounding-set=-all", "--inh-caps=-all"] : ["env"]
    try Needs.programs(command[0])
    for arguments in [
      ["-r", "closed-\(mode)", name, "--format", "ndjson"],
      ["verify", "-r", "closed-\(mode)", name],
      ["doctor", "closed-\(mode)", name, "--any-owner", "--host", host],
    ] {
      let outcome = try Fixtures.run(
        command[0], Array(command.dropFirst()) + [Repository.sectionDump] + arguments
      ).expect(2)
      let told = outcome.errors + outcome.output
      #expect(
        told.contains("closed-\(mode)\(place): ") && told.contains("Permission denied"), "\(told)")
      #expect(outcome.output.contains(name))
    }
  }

  @Test("Directories within directories, until no path leads there, are a problem", .needs("bash"))
  func deep() throws {
    try Tool.shell(
      """
      mkdir deep && (cd deep && for n in $(seq 18); do mkdir $1 && cd $1 || exit; done)
      "$0" -r deep; status=$?; rm -rf deep; exit $status
      """, [String(repeating: "d", count: 250)], with: "bash"
    ).expect(2, errors: "name too long")
  }

  @Test("Files that vanish while a directory is walked are a problem each, or were read before")
  func vanishing() throws {
    let directory = try Fixtures.folder("vanishing")
    let library = Fixtures.place(try Fixtures.annotatedLibrary("vanishing.so"))
    for number in 0..<Effort.times(200, full: 2000) {
      try FileManager.default.linkItem(
        at: library, to: directory.appendingPathComponent(String(format: "%04d.so", number)))
    }
    // The remover starts with the last file, so that it meets the walker.
    let outcome = try Tool.shell(
      """
      (ls -r vanishing | while read -r name; do rm "vanishing/$name"; done) &
      "$0" -r vanishing --format ndjson; status=$?; wait; exit $status
      """)
    #expect([0, 2].contains(outcome.status))
    for line in outcome.output.split(separator: "\n") {
      let file = try Tool.object(line)
      let found = try Tool.lines(file).count
      #expect(try found == 4 || problems(file) == ["No such file or directory."])
    }
  }

  @Test(
    "A file that is rewritten while it is read gives its entries or a problem, and no signal",
    .needs("bash"))
  func rewritten() throws {
    let name = try Fixtures.annotatedLibrary("rewritten.so")
    let bytes = try Fixtures.bytes(name)
    try bytes.write(to: Fixtures.place("rewritten.copy"))
    let count = 600
    // The writer cuts the file off, extends it and writes it anew, for as long as the reader takes. It always uses
    // another size: if times are coarse, only the size shows that the file has changed.
    let outcome = try Tool.shell(
      """
      while true; do
        truncate -s $((RANDOM % \(bytes.count))) "\(name)"
        truncate -s $((\(bytes.count + 1) + RANDOM % 8192)) "\(name)"
        cat rewritten.copy > "\(name)"
      done &
      writer=$!
      trap 'kill $writer' EXIT
      yes "\(name)" | head -n \(count) | tr '\\n' '\\0' |
        "$0" --stdin0 --format ndjson 2> /dev/null
      status=$?
      exit $status
      """, with: "bash")
    #expect([0, 2].contains(outcome.status))
    #expect(outcome.lines.count == count)
    let counts = try outcome.lines.map { line in
      let file = try Tool.object(line)
      return try Tool.codes(file).isEmpty ? Tool.lines(file).count : -1
    }
    #expect(Set(counts).isSubset(of: [-1, 4]))
    #expect(counts.contains(-1), "all \(count) were whole")
  }
}
