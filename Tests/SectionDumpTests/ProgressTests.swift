import Foundation
import Testing

@Suite("A long scan says how far it is", .serialized)
struct ProgressTests {
  /// As many files as take longer than anybody waits without a word.
  private static var manyFiles: Int {
    #if DEBUG
      4000
    #else
      14000
    #endif
  }

  private static let library = Result { try Fixtures.annotatedLibrary("watched.so") }

  /// What a terminal is sent that both streams, or standard error alone, lead to.
  private func transcript(
    _ arguments: [String], files: Int, output: FileHandle? = nil, terminal: String = "xterm"
  ) throws -> String {
    let library = try Self.library.get()
    let list = Fixtures.directory.appendingPathComponent("list-\(UUID().uuidString)")
    // The last of them cannot be read: a line that comes in the midst of it all.
    let names = [String](repeating: library, count: files) + ["nosuch"]
    try Data(names.joined(separator: "\0").utf8).write(to: list)

    let terminalMaster = unsafe open("/dev/ptmx", O_RDWR | O_NOCTTY)
    var (number, isLocked): (Int32, Int32) = (0, 0)
    // TIOCSPTLCK unlocks the other end, TIOCGPTN tells its number; both take an int.
    try #require(unsafe ioctl(terminalMaster, 0x4004_5431, &isLocked) == 0)
    try #require(unsafe ioctl(terminalMaster, 0x8004_5430, &number) == 0)
    let terminalEnd = try #require(FileHandle(forUpdatingAtPath: "/dev/pts/\(number)"))
    let process = Process()
    process.executableURL = Tool.products.appendingPathComponent("section-dump")
    process.currentDirectoryURL = Fixtures.directory
    process.arguments = ["--stdin0"] + arguments
    process.environment = ProcessInfo.processInfo.environment.merging(["TERM": terminal]) { $1 }
    process.standardInput = try FileHandle(forReadingFrom: list)
    process.standardOutput = output ?? terminalEnd
    process.standardError = terminalEnd
    try process.run()
    try terminalEnd.close()

    // The other end reports an error, in place of the end of a file, once nobody has it open.
    var bytes: [UInt8] = []
    while true {
      let chunk = unsafe [UInt8](unsafeUninitializedCapacity: 1 << 16) { buffer, count in
        count = unsafe max(0, read(terminalMaster, buffer.baseAddress, buffer.count))
      }
      if chunk.isEmpty { break }
      bytes += chunk
    }
    process.waitUntilExit()
    close(terminalMaster)
    return String(decoding: bytes, as: UTF8.self).replacingOccurrences(of: "\r\n", with: "\n")
  }

  /// The lines that a person sees in the end.
  private func screen(_ transcript: String) -> [String] {
    transcript.split(separator: "\n", omittingEmptySubsequences: false).map { line in
      // Each part overwrites what stands before it; one that starts with this removes it first.
      line.split(separator: "\r").reduce("") { shown, part in
        part.hasPrefix("\u{1b}[K")
          ? String(part.dropFirst(3)) : String(part) + shown.dropFirst(part.count)
      }
    }
  }

  @Test("It is told on a terminal, and gone before anything else is printed", arguments: [1, 2])
  func told(jobs: Int) throws {
    let transcript = try transcript(
      ["--format", "csv", "--jobs", "\(jobs)"], files: Self.manyFiles)
    #expect(transcript.contains(" files read"))
    let lines = screen(transcript)
    #expect(lines.count == 1 + 4 * Self.manyFiles + 2)
    #expect(lines.dropFirst().dropLast(2).allSatisfy { $0.hasPrefix("watched.so,,") })
    #expect(lines.dropLast().last?.hasPrefix("section-dump: nosuch: ") == true)
  }

  @Test("It is told where the report goes into a file")
  func toldBesideAFile() throws {
    let file = try #require(FileHandle(forWritingAtPath: "/dev/null"))
    let transcript = try transcript(["--format", "csv"], files: Self.manyFiles, output: file)
    #expect(transcript.contains(" files read"))
    #expect(screen(transcript).first?.hasPrefix("section-dump: nosuch: ") == true)
  }

  @Test("A short scan needs no word of it")
  func shortScan() throws {
    // On a machine that has much to do, now and then even a short one takes long.
    let isSilent = try (0..<10).contains { _ in
      try !transcript(["--format", "csv"], files: 20).contains("files read")
    }
    #expect(isSilent)
  }

  @Test("A terminal that cannot remove it is not told")
  func dumbTerminal() throws {
    let transcript = try transcript(
      ["--format", "csv"], files: Self.manyFiles, terminal: "dumb")
    #expect(!transcript.contains("files read"))
  }

  @Test("It never goes into a pipe or a file")
  func notTold() throws {
    let list = [String](repeating: try Self.library.get(), count: Self.manyFiles)
    let outcome = try Tool.run(
      ["--stdin0", "--format", "csv"], input: Data(list.joined(separator: "\0").utf8))
    #expect(outcome.status == 0)
    #expect(outcome.errors.isEmpty)
    #expect(!outcome.output.contains("\r"))
  }
}
