/// Why a URL, a part of one, a pattern or a declaration cannot be read, and at which of its bytes.
package struct TextProblem: Error, Hashable {
  /// The index among the bytes that were to be read; of a pattern, among those of the part that is wrong.
  package var index: Int
  /// The rule that it breaks, for people.
  package var reason: String

  package init(_ index: Int, _ reason: String) {
    self.index = index
    self.reason = reason
  }

  /// Throws a problem where something is not as it has to be.
  static func check(
    _ isRight: Bool, _ index: Int, _ reason: @autoclosure () -> String
  ) throws(TextProblem) {
    if !isRight { throw TextProblem(index, reason()) }
  }
}
