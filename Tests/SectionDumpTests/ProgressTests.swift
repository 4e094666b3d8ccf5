import Foundation
import TestSupport
import Testing

@testable import section_dump

@Suite("A long scan says how far it is", .serialized, .mayHang)
struct ProgressTests {
  /// The number of files to read.
  private static let files = 40

  private static let library = Result { try Fixtures.annotatedLibrary("watched.so") }

  /// Starts a scan of the files in a list. The last file cannot be read, which makes a line in the middle of the
  /// output.
  ///
  /// A long scan lasts longer than the tool stays silent, however fast the machine is, because its list comes late.
  /// Empty names come before the list, more than a pipe holds. Once all of them are written, the scan has read some of
  /// them and its clock runs.
  private func scan(
    _ arguments: [String], isLong: Bool, terminal: String = "xterm", output: FileHandle,
    errors: FileHandle, _ body: (Process) throws -> Void
  ) throws {
    let names = [String](repeating: try Self.library.get(), count: Self.files) + ["nosuch"]
    let list = Pipe()
    let process = Process()
    process.executableURL = URL(fileURLWithPath: Repository.sectionDump)
    process.currentDirectoryURL = Fixtures.directory
    process.arguments = ["--stdin0"] + arguments
    process.environment = ProcessInfo.processInfo.environment.merging(["TERM": terminal]) { $1 }
    process.standardInput = list
    process.standardOutput = output
    process.standardError = errors
    try Command.start(process)
    let end = list.fileHandleForWriting
    if isLong {
      try end.write(contentsOf: Data(count: 1 << 20))
      Thread.sleep(forTimeInterval: 1.1 * (Progress.patience / .seconds(1)))
    }
    try end.write(contentsOf: Data(names.joined(separator: "\0").utf8))
    try end.close()
    try body(process)
    process.waitUntilExit()
  }

  /// Returns the bytes sent to a terminal that both streams, or only standard error, lead to.
  private func transcript(
    _ arguments: [String], isLong: Bool = true, output: FileHandle? = nil,
    terminal: String = "xterm"
  ) throws -> String {
    let terminalMaster = unsafe open("/dev/ptmx", O_RDWR | O_NOCTTY)
    defer { close(terminalMaster) }
    var (number, isLocked): (Int32, Int32) = (0, 0)
    // TIOCSPTLCK unlocks the other end, TIOCGPTN gets its number. Both take an int.
    try #require(unsafe ioctl(terminalMaster, 0x4004_5431, &isLocked) == 0)
    try #require(unsafe ioctl(terminalMaster, 0x8004_5430, &number) == 0)
    let terminalEnd = try #require(FileHandle(forUpdatingAtPath: "/dev/pts/\(number)"))
    var bytes: [UInt8] = []
    try scan(
      arguments, isLong: isLong, terminal: terminal, output: output ?? terminalEnd,
      errors: terminalEnd
    ) { _ in
      try terminalEnd.close()
      // Once nobody has the other end open, reading gives an error instead of the end of a file.
      while true {
        let chunk = unsafe [UInt8](unsafeUninitializedCapacity: 1 << 16) { buffer, count in
          count = unsafe max(0, read(terminalMaster, buffer.baseAddress, buffer.count))
        }
        if chunk.isEmpty { break }
        bytes += chunk
      }
    }
    return String(decoding: bytes, as: UTF8.self).replacingOccurrences(of: "\r\n", with: "\n")
  }

  /// Returns the lines that a person sees in the end.
  private func screen(_ transcript: String) -> [String] {
    transcript.split(separator: "\n", omittingEmptySubsequences: false).map { line in
      // Each part overwrites the earlier text. A part that starts with this sequence removes that text first.
      line.split(separator: "\r").reduce("") { shown, part in
        part.hasPrefix("\u{1b}[K")
          ? String(part.dropFirst(3)) : String(part) + shown.dropFirst(part.count)
      }
    }
  }

  @Test("It is told on a terminal, and gone before anything else is printed", arguments: [1, 2])
  func told(jobs: Int) throws {
    let transcript = try transcript(["--format", "csv", "--jobs", "\(jobs)"])
    #expect(transcript.contains(/[0-9]+ files? read/))
    let lines = screen(transcript)
    #expect(lines.count == 1 + 4 * Self.files + 2)
    #expect(lines.dropFirst().dropLast(2).allSatisfy { $0.hasPrefix("watched.so,,") })
    #expect(lines.dropLast().last?.hasPrefix("section-dump: nosuch: ") == true)
  }

  @Test("A short scan needs no word of it")
  func shortScan() throws {
    // On a busy machine even a short scan sometimes takes long.
    let isSilent = try Patience.spin {
      try !transcript(["--format", "csv"], isLong: false).contains(/files? read/)
    }
    #expect(isSilent)
  }

  @Test(
    "It is shown where the report goes into a file, on a terminal that can remove it",
    arguments: [("xterm", true), ("dumb", false)])
  func besideAFile(terminal: String, isShown: Bool) throws {
    let file = try #require(FileHandle(forWritingAtPath: "/dev/null"))
    let transcript = try transcript(["--format", "csv"], output: file, terminal: terminal)
    #expect(transcript.contains(/[0-9]+ files? read/) == isShown)
    #expect(screen(transcript).first?.hasPrefix("section-dump: nosuch: ") == true)
  }

  @Test("It never goes into a pipe or a file")
  func notTold() throws {
    let folder = try Folder()
    defer { folder.remove() }
    let files = try ["output", "errors"].map { try folder.write("", as: $0) }
    try scan(
      ["--format", "csv"], isLong: true, output: FileHandle(forWritingTo: files[0]),
      errors: FileHandle(forWritingTo: files[1])
    ) { process in
      process.waitUntilExit()
      #expect(process.terminationStatus == 2)
    }
    let texts = try files.map { try String(contentsOf: $0, encoding: .utf8) }
    #expect(texts[0].split(separator: "\n").count == 1 + 4 * Self.files)
    #expect(!texts[0].contains("\r"))
    #expect(texts[1] == "section-dump: nosuch: No such file or directory.\n")
  }
}
