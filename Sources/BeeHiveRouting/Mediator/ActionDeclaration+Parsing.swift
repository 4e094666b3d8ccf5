extension ActionDeclaration {
  /// Reads the text of a declaration.
  ///
  /// - Parameter text: The declaration: `remote price(sku: String) async throws -> Price`.
  /// - Throws: `RoutingError` with `badPattern` if it cannot be read; the message says where and why.
  public init(parsing text: String) throws(RoutingError) {
    do throws(TextProblem) { try self.init(reading: text) } catch {
      throw RoutingError(.badPattern, error.reason)
    }
  }
}
