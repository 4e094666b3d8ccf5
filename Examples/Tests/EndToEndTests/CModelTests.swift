import Foundation
import Testing

/// Compares the Hive of a process with a model of it in C: each call's answer, what has ended, and what is left.
@Suite(.mayHang) struct CModelTests {
  private func run(_ step: String, builds: Int, under sanitizer: Sanitizer? = nil) throws
    -> [String]
  {
    let workshop = try Workshop()
    let library = try workshop.library("made", Repository.fixture("Hosts/made.c"))
    for number in 0..<builds {
      let copy = workshop.folder.place("made-\(number).so")
      try FileManager.default.copyItem(atPath: library, toPath: copy.path)
    }
    return try Program.host("alarm=3500", step, in: workshop, under: sanitizer)
  }

  /// Runs random sequences, in parts: the thread sanitizer keeps 300 kB of each sequence, and each process has a limit.
  private func model(_ count: Int, builds: Int, under sanitizer: Sanitizer? = nil) throws {
    for first in stride(from: 0, to: count, by: 10_000) {
      let part = "model=\(first)+\(min(count - first, 10_000))"
      #expect(try run(part, builds: builds, under: sanitizer) == ["as modelled"])
    }
  }

  @Test("Random sequences of calls, in children too: each answers as the model")
  func sequences() throws {
    try model(Effort.times(500, full: 100_000), builds: Effort.times(20, full: 300))
  }

  @Test("Four threads in C and four tasks in Swift: each thing ends once, and nothing is left")
  func threads() throws {
    let count = Effort.times(500, full: 20_000)
    #expect(try run("model-threads=\(count)", builds: 200) == ["each ended once"])
  }

  @Test("The same, and the sanitizer is quiet", .needsSanitizedHosts, arguments: Sanitizer.allCases)
  func quiet(sanitizer: Sanitizer) throws {
    let count = Effort.times(500, full: 100_000)
    try model(count, builds: 20, under: sanitizer)
    #expect(
      try run("model-threads=\(count / 50)", builds: 200, under: sanitizer) == ["each ended once"])
  }

  @Test("Each call many times, and nothing more than the header says is left of it")
  func leftovers() throws {
    let count = Effort.times(6_000, full: 200_000)
    #expect(try run("model-leftovers=\(count)", builds: 1) == ["nothing is left"])
  }
}
