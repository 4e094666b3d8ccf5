internal import BeeHiveRouting
internal import HTTPTypes

/// The URL that a request calls: `GET /book/7?from=mail` is `app://book/7?from=mail`.
///
/// The router's own rules split the target into segments, and the URL is made of these. The first segment is the host.
/// It is refused if it would read as a user or a port, as in `/x@book/7` and `/book:99/7`.
enum CalledURL {
  /// - Parameters:
  ///   - target: The target of the request, a path that begins with one slash.
  ///   - form: The body of a form; its fields count as the query's.
  ///   - scheme: The scheme of the URL.
  ///   - limits: The router's limits.
  /// - Returns: The text of the URL.
  /// - Throws: The problem that the client has to fix.
  static func text(
    of target: String, form: String, scheme: String, limits: URLLimits
  ) throws(Problem) -> String {
    let path = try read(target, limits) { error in
      // The text is the client's, so the message is of what the client has sent.
      Problem(
        error.code == .limitExceeded ? .uriTooLong : .badRequest, error.code.rawValue,
        error.message)
    }
    let fields =
      form.isEmpty
      ? []
      : try read("?" + form, limits) { error in
        error.code == .limitExceeded
          ? Problem(
            .contentTooLarge, error.code.rawValue,
            "The form is too large for the query of a URL: \(error.message).")
          : Problem(
            .badRequest, error.code.rawValue,
            "The form cannot be read: it is key=value pairs with & between them, and %XX for others."
          )
      }.items
    do {
      return try URLText(
        scheme: scheme, segments: path.path, items: path.items + fields, limits: limits
      ).text
    } catch {
      throw Problem(error)
    }
  }

  private static func read(
    _ text: String, _ limits: URLLimits, orTell problem: (RoutingError) -> Problem
  ) throws(Problem) -> URLText {
    let url: URLText
    do {
      url = try URLText(text, limits: limits)
    } catch {
      throw problem(error)
    }
    guard url.fragment == nil else {
      throw Problem(.badRequest, "malformed-url", "No # is sent to a server; write %23 for it.")
    }
    return url
  }
}
