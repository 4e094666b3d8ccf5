import Foundation
import TestSupport
import Testing

/// Takes one behaviour at a time out of a copy of the sources. The test named for it must then fail. Each mutation
/// builds one file and runs one test. The first build takes minutes, unless the copy still exists.
///
/// `BEEHIVE_MUTATIONS="Suite/function …"` takes the mutations of these tests, `2/4` the second quarter of the list.
@Suite("A mutation", .serialized, .full)
struct MutationTests {
  /// The requested mutations.
  private static let wanted: [Mutation] = {
    let all = Mutation.all
    let names = (ProcessInfo.processInfo.environment["BEEHIVE_MUTATIONS"] ?? "")
      .split(separator: " ").map(String.init)
    let part = names.first?.split(separator: "/").compactMap { Int($0) } ?? []
    if part.count == 2, (1...max(1, part[1])).contains(part[0]) {
      return Array(all[all.count * (part[0] - 1) / part[1]..<all.count * part[0] / part[1]])
    }
    return all.filter { names.isEmpty || names.contains($0.test) }
  }()

  private static let copy = Result { try MutatedCopy(for: wanted) }

  @Test("fails the test that is named for it", arguments: Mutation.all)
  func noticed(mutation: Mutation) throws {
    guard Self.wanted.contains(where: { $0.line == mutation.line }) else {
      try Test.cancel("BEEHIVE_MUTATIONS does not ask for it")
    }
    let verdict = try Self.copy.get().verdict(of: mutation)
    #expect(verdict == .noticed, "with \(mutation.file) saying: \(mutation.new)")
  }
}
