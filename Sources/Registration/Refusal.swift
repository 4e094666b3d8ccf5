/// Why an entry is rejected. The reader adds the location.
package struct Refusal: Error {
  package var reason: Rejection.Reason
  var name: String?
  package var message: String

  init(_ reason: Rejection.Reason, name: String? = nil, _ message: String) {
    (self.reason, self.name, self.message) = (reason, name, message)
  }

  /// Throws a refusal where something is not as it has to be.
  @inline(__always)
  static func check(
    _ isRight: Bool, _ reason: Rejection.Reason, _ message: @autoclosure () -> String
  ) throws(Refusal) {
    if !isRight { throw Refusal(reason, message()) }
  }
}
