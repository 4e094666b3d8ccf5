internal import Registration

extension ActionDeclaration {
  /// Reads the text of a declaration; throws where it is none, with the place.
  public init(parsing text: String) throws(RoutingError) {
    do throws(DeclarationProblem) { try self.init(reading: text) } catch {
      throw RoutingError(.badPattern, error.reason)
    }
  }
}
