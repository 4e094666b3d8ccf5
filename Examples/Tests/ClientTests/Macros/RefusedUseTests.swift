import Testing

/// The errors for an author who uses a macro where it does not belong: the macro's words, at the places that the
/// compiler shows.
@Suite struct RefusedUseTests {
  static let uses = RefusedUse.entries + [RefusedUse.several] + RefusedUse.routing

  private static let found = Result {
    try Diagnostics.of(uses.map(\.source), behind: RefusedUse.prelude)
  }

  @Test(arguments: uses.indices)
  func theCompilerShowsWhatTheMacroFound(index: Int) throws {
    let use = Self.uses[index]
    let found = try Self.found.get()[index]
    let expected =
      use.problems.map { "\($0.line):\($0.column): error: \($0.message) (from macro)" }
      + use.besides
    let errors = found.errors.map { error in
      error.firstRange(of: " (from macro '").map { error[..<$0.lowerBound] + " (from macro)" }
        ?? error
    }
    #expect(errors.sorted() == expected.sorted(), "\(use.source)")
  }
}
