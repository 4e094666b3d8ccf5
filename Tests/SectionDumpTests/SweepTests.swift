import Foundation
import TestSupport
import Testing

/// The tests of `Scripts/fuzz --sweep`: damaged files of every format, read by every command. The seeds are numbers, so
/// each run reads the same files.
@Suite("A sweep of damaged files", .full, .needs("prlimit"), .mayHang, .limitsMemory)
struct SweepTests {
  /// Every command that reads files, each with a format.
  static let commands = [
    ["records", "--format", "table"], ["records", "--format", "json"], ["sections"],
    ["sections", "--format", "json"], ["strings", "--section", "*"],
    ["strings", "--section", "*", "--format", "json"], ["hex", "--section", "*"],
    ["hex", "--section", "Beehive*", "--format", "json"], ["verify", "--strict"], ["startup"],
    ["conformances"],
    ["verify", "--format", "json"], ["graph", "--format", "dot"], ["graph", "--format", "json"],
  ]

  private static let mutations = 33_000
  private static let perRun = 40
  /// The bytes of all files of a run. Tests read the whole JSON output of a run.
  private static let bytesPerRun = 1 << 20

  @Test("No mutation takes more than its share, whatever is asked of it", arguments: Linkages.names)
  func mutated(name: String) throws {
    let whole = try Linkages.bytes(name)
    let path = try Linkages.path(name)
    // A file larger than a run gets only forty mutations, each alone, because each takes seconds.
    let perRun = max(1, min(Self.perRun, Self.bytesPerRun / whole.count))
    let count = perRun == 1 ? Self.perRun : Self.mutations / Linkages.names.count + 1
    // Made on demand: all variants of every file at once need more memory than there is.
    func variants(_ seeds: Range<Int>) -> [Sweep.Variant] {
      seeds.map { Sweep.Variant(of: whole, named: name, seed: UInt64($0)) }
    }
    var failures: [String] = []
    for start in stride(from: 0, to: count, by: perRun) {
      failures += try Sweep(variants: variants(start..<min(start + perRun, count)))
        .failures(of: Self.commands)
    }
    // Two files at a time.
    for seed in 0..<Self.perRun {
      failures += try Sweep(variants: variants(seed..<seed + 1), others: [path])
        .failures(of: [["diff", "--format", "json"]])
    }
    #expect(failures.isEmpty, "\(failures.joined(separator: "\n"))")
  }

  /// Commands that read every part of a file.
  private static let thorough = [
    ["records", "--format", "json"], ["sections"], ["strings", "--section", "*"],
    ["verify", "--strict"], ["startup"], ["conformances"],
  ]

  /// Files of seven formats.
  static let truncated = [
    "elf-bfd.so", "elf-clang.o", "elf-s390x.so", "macho-arm64-fixup-chains.dylib", "macho-x86_64.o",
    "universal.o", "archive-gnu.a",
  ]

  @Test("Nor does any length of a file that was cut off", arguments: truncated)
  func cut(name: String) throws {
    let whole = try Linkages.bytes(name)
    var failures: [String] = []
    for start in stride(from: 0, to: whole.count, by: 200) {
      let variants = (start..<min(start + 200, whole.count)).map {
        Sweep.Variant(name: "\(name) cut at \($0)", bytes: whole.prefix($0))
      }
      failures += try Sweep(variants: variants).failures(of: Self.thorough)
    }
    #expect(failures.isEmpty, "\(failures.joined(separator: "\n"))")
  }

  @Test("Nor does a damaged core", .needs("gcore"))
  func cores() throws {
    let library = try Fixtures.annotatedLibrary("in-a-core.so")
    var whole = Data()
    try LiveHost.run(LiveHost.open([library])) { pid, _ in
      try Fixtures.tool("gcore", ["-o", "sweep-core", "\(pid)"])
      whole = try Fixtures.bytes("sweep-core.\(pid)")
    }
    let failures = try (0..<400).flatMap { seed in
      try Sweep(variants: [.init(of: whole, named: "core", seed: UInt64(seed))])
        .failures(of: [["live", "--format", "json", "--core"]])
    }
    #expect(failures.isEmpty, "\(failures.joined(separator: "\n"))")
  }
}
