import Foundation
import TestSupport
import Testing

/// Takes one behaviour at a time out of a copy of the sources, and looks whether the test that is
/// named for it fails. Each is a build of one file, and a run of one test; the first build takes
/// minutes, unless the copy is still there.
///
/// `BEEHIVE_MUTATIONS="Suite/function …"` takes those of these tests alone.
@Suite("A mutation", .serialized, .full)
struct MutationTests {
  /// The mutations that are asked for.
  private static let wanted: [Mutation] = {
    let names = (ProcessInfo.processInfo.environment["BEEHIVE_MUTATIONS"] ?? "")
      .split(separator: " ").map(String.init)
    return Mutation.all.filter { names.isEmpty || names.contains($0.test) }
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
