import SwiftSyntaxMacrosGenericTestSupport
import Testing

/// Uses that the macros refuse by the look of the source. Each message has its place and its advice.
@Suite struct RefusalTests {
  @Test(arguments: RefusedUse.entries + [RefusedUse.several])
  func isRefused(refused: RefusedUse) {
    expectExpansion(
      of: refused.source, refused.bare,
      diagnostics: refused.problems.map { problem in
        DiagnosticSpec(message: problem.message, line: problem.line, column: problem.column)
      })
  }
}

extension RefusedUse {
  /// The source without the annotation. The macros add nothing to it.
  fileprivate var bare: String {
    var lines = source.split(separator: "\n", omittingEmptySubsequences: false)
    lines.removeAll { $0.drop { $0 == " " }.hasPrefix("@BeeHive") }
    let text = lines.joined(separator: "\n")
    // The test support puts the brace of an expanded body on a line of its own.
    return text.hasSuffix(" }") ? text.dropLast() + "\n}" : text
  }
}
