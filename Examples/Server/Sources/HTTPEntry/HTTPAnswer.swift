internal import BeeHiveRouting
internal import Foundation
internal import NIOHTTP1

/// What an HTTP client is told: a status, and JSON.
struct HTTPAnswer {
  var status: HTTPResponseStatus
  /// Empty for an answer without a value.
  var body: Data

  /// The value that a route or an action has returned.
  init(_ value: any Sendable) {
    switch value {
    case is Void: self.init(.noContent, Data())
    case let value as any Encodable:
      do { self.init(.ok, try Self.json(of: value)) } catch { self.init(error) }
    default: self.init(.internalServerError, reason: "the answer is none that JSON can hold")
    }
  }

  /// Why there is no value: the router's own reasons, of a handler's errors not a word.
  init(_ error: any Error) {
    guard let error = error as? RoutingError, let status = Self.status(of: error.code) else {
      self.init(.internalServerError, reason: "whoever was to answer has failed")
      return
    }
    self.init(status, code: error.code.rawValue, reason: error.message)
  }

  /// A refusal of this server's own.
  init(_ status: HTTPResponseStatus, reason: String) {
    self.init(status, code: "\(status.code)", reason: reason)
  }

  private init(_ status: HTTPResponseStatus, code: String, reason: String) {
    let body = try? Self.json(of: ["error": code, "reason": reason])
    self.init(status, body ?? Data())
  }

  private static func json(of value: any Encodable) throws -> Data {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    return try encoder.encode(value)
  }

  private init(_ status: HTTPResponseStatus, _ body: Data) {
    (self.status, self.body) = (status, body)
  }

  /// Nil for what is no client's fault.
  private static func status(of code: RoutingError.Code) -> HTTPResponseStatus? {
    switch code {
    case .malformedURL, .missingParameter, .wrongParameter, .undeclaredParameter: .badRequest
    case .notRemote, .native, .refused: .forbidden
    case .noRoute, .noTarget, .noAction: .notFound
    case .limitExceeded: .uriTooLong
    case .badPattern, .unknownType, .duplicate, .wrongResult, .redirectLoop, .badTable, .failed: nil
    }
  }
}
