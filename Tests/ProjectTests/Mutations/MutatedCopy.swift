import Foundation
import TestSupport

/// A copy of the sources that is built with mutations. It is kept between runs, so a build compiles only what changed.
struct MutatedCopy {
  /// A package whose tests notice mutations.
  enum Package: String, CaseIterable {
    case library = "."
    case examples = "Examples"
    case server = "Examples/Server"

    /// The target of its tests, if a mutation has to name it.
    var tests: String? {
      switch self {
      case .library: nil
      case .examples: "EndToEndTests"
      case .server: "HTTPEntryTests"
      }
    }
  }

  /// The result of a mutation.
  enum Verdict: Equatable {
    /// The test named for the mutation fails.
    case noticed
    /// The test passes nevertheless, or is skipped.
    case survived
    /// The compiler rejects the mutation with this message.
    case notBuilt(String)
  }

  /// The failure of the sources without a mutation.
  struct Unsound: Error, CustomStringConvertible {
    var description: String

    init(_ outcome: Outcome) {
      let lines = outcome.lines.filter { $0.contains("error:") || $0.hasPrefix("✘") }
      description =
        "without a mutation: \(outcome.command): status \(outcome.status)\n"
        + (lines.isEmpty ? outcome.lines : lines).suffix(20).joined(separator: "\n")
        + outcome.errors
    }
  }

  private let root: URL

  /// Makes the copy, and checks that the tests named for these mutations pass in it. A test that fails by itself would
  /// prove nothing.
  init(for mutations: [Mutation]) throws {
    root = try Scratch.folder("mutations")
    try Sources.copy(to: root)
    for (package, mutations) in Dictionary(grouping: mutations, by: \.package) {
      let built = try build(package)
      guard built.status == 0 else { throw Unsound(built) }
      let tested = try run(Set(mutations.map(\.test)), of: package, limit: 3600)
      guard tested.status == 0 else { throw Unsound(tested) }
    }
  }

  /// Builds the copy with a mutation, runs the test named for it, and undoes the mutation.
  func verdict(of mutation: Mutation) throws -> Verdict {
    let file = root.appendingPathComponent(mutation.file)
    let text = try String(contentsOf: file, encoding: .utf8)
    guard let mutated = mutation.applied(to: text) else {
      return .notBuilt("not exactly once in it: \(mutation.old)")
    }
    try Data(mutated.utf8).write(to: file)
    defer { try? Data(text.utf8).write(to: file) }
    let built = try build(mutation.package)
    guard built.status == 0 else {
      return .notBuilt(built.lines.first { $0.contains("error:") } ?? "\(built)")
    }
    // A program that never ends is a failure of the test too. Without a mutation each program takes seconds.
    let tested = try run([mutation.test], of: mutation.package, limit: 90)
    return tested.status == 0 ? .survived : .noticed
  }

  /// Builds the tests without debug information, which makes linking slow.
  private func build(_ package: Package, _ options: [String] = []) throws -> Outcome {
    try Command.run(
      "swift",
      ["build", "--package-path", root.appendingPathComponent(package.rawValue).path]
        + ["--build-tests", "--disable-xctest", "-debug-info-format", "none"] + options,
      limit: 3600)
  }

  /// Runs tests with their own program, because `swift test` takes longer to start it than most tests take to run.
  private func run(_ tests: Set<String>, of package: Package, limit: Int) throws -> Outcome {
    let products = URL(fileURLWithPath: try build(package, ["--show-bin-path"]).lines.last ?? "")
    let bundles = try FileManager.default.contentsOfDirectory(atPath: products.path)
      .filter { $0.hasSuffix(".xctest") }
    let names = tests.map { $0.replacing(/^[^\/]*\./, with: "") }.sorted().joined(separator: "|")
    // Hosts that a user has built with sanitizers contain no mutation.
    return try Command.run(
      "env",
      ["-u", "BEEHIVE_SANITIZED_HOSTS", products.appendingPathComponent(bundles.joined()).path]
        + ["--testing-library", "swift-testing", "--filter", #"(^|[./])(\#(names))\("#],
      in: root, limit: limit)
  }
}
