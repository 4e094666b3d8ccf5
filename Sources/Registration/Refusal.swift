/// Why an entry is rejected. The reader adds the location.
package struct Refusal: Error {
  package var reason: Rejection.Reason
  var name: String?
  package var message: String

  init(_ reason: Rejection.Reason, name: String? = nil, _ message: String) {
    (self.reason, self.name, self.message) = (reason, name, message)
  }
}
