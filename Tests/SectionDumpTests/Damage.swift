import Foundation
import Testing

/// Variants of a file, and what the tool says of each: one process reads all of them, within bounds
/// that hold for every single one.
struct Damage {
  /// What the tool says of one variant.
  struct Answer {
    var entries: [String] = []
    var hasProblem = false
  }

  /// No file may take more of a processor's time: told when the line of each comes, since each is
  /// flushed. Other work on the machine does not count.
  static let mostSeconds = 1.0
  /// The address space of the process in bytes. What it has read is forgotten with each file, so
  /// that none of them may take more.
  static let mostMemory = 256 << 20

  private let variants: [(name: String, bytes: Data)]
  private(set) var answers: [Answer]

  /// Has the tool read the variants.
  init(_ variants: [(name: String, bytes: Data)]) throws {
    self.variants = variants
    answers = variants.map { _ in Answer() }
    let size = variants.reduce(0) { $0 + $1.bytes.count + 4096 }
    let directory = (Self.memory(for: size) ?? Fixtures.directory)
      .appendingPathComponent("section-dump-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: directory) }
    var list = Data()
    for (number, variant) in variants.enumerated() {
      let file = directory.appendingPathComponent(String(number))
      try variant.bytes.write(to: file)
      list += Data(file.path.utf8) + [0]
    }
    let lines = try Self.lines(of: list)
    var seen: Set<Int> = []
    for line in lines {
      let object = try JSONSerialization.jsonObject(with: line)
      let file = try #require(object as? [String: Any])
      let path = try #require(file["path"] as? String)
      let number = try #require(Int(URL(fileURLWithPath: path).lastPathComponent))
      seen.insert(number)
      answers[number].entries += try Tool.lines(file)
      if try !#require(file["problems"] as? [Any]).isEmpty { answers[number].hasProblem = true }
    }
    #expect(seen.count == variants.count, "each file is told of")
  }

  /// The variants that show other entries than the file of that name, and no problem.
  func silentlyDifferent(from name: String) throws -> [String] {
    let whole = try Self.entries(of: name)
    return zip(variants, answers).compactMap { variant, answer in
      answer.hasProblem || answer.entries.sorted() == whole ? nil : variant.name
    }
  }

  /// The variants that show fewer entries than the file of that name, and no problem.
  func silentlyFewer(than name: String) throws -> [String] {
    let count = try Self.entries(of: name).count
    return zip(variants, answers).compactMap { variant, answer in
      answer.hasProblem || answer.entries.count >= count ? nil : variant.name
    }
  }

  private static func entries(of name: String) throws -> [String] {
    let entries = try Tool.files([Linkages.path(name)]).flatMap(Tool.lines).sorted()
    #expect(!entries.isEmpty)
    return entries
  }

  /// A place in memory, where there is one with so much room: thousands of files would keep a disk
  /// busy. Others write there too.
  private static func memory(for size: Int) -> URL? {
    let place = URL(fileURLWithPath: "/dev/shm")
    let attributes = try? FileManager.default.attributesOfFileSystem(forPath: place.path)
    let free = (attributes?[.systemFreeSize] as? NSNumber)?.intValue ?? 0
    return free > 4 * size && FileManager.default.isWritableFile(atPath: place.path) ? place : nil
  }

  /// The lines that the tool prints of the files in a list.
  private static func lines(of list: Data) throws -> [Data] {
    let tool = Tool.products.appendingPathComponent("section-dump").path
    // Passes the lines on, and tells last how much of a processor's time one took at most. The tool
    // cannot be further ahead than a pipe holds, so of some lines together that is too much.
    let timing = #"""
      use POSIX;
      my $pid = open(my $tool, "-|", @ARGV) or die "cannot start @ARGV: $!";
      my ($last, $most) = (0, 0);
      sub used {
        open(my $stat, "<", "/proc/$pid/stat") or return $last;
        my @fields = split(" ", (<$stat> =~ s/^.*\) //r));
        return ($fields[11] + $fields[12]) / POSIX::sysconf(POSIX::_SC_CLK_TCK);
      }
      while (<$tool>) {
        print;
        my $now = used();
        $most = $now - $last if $now - $last > $most;
        $last = $now;
      }
      close($tool);
      print "$most\n";
      exit($? >> 8 || ($? & 127 ? 99 : 0));
      """#
    let outcome = try Fixtures.run(
      "perl",
      ["-e", timing, "prlimit", "--as=\(mostMemory)", tool]
        + ["--stdin0", "--jobs", "1", "--format", "ndjson"],
      input: list, limit: 900)
    #expect(outcome.status == 2)
    let lines = outcome.output.components(separatedBy: "\n").dropLast()
    let slowest = try #require(lines.last.flatMap { Double($0) })
    #expect(slowest < mostSeconds, "a file took \(slowest) s")
    return lines.dropLast().map { Data($0.utf8) }
  }
}
