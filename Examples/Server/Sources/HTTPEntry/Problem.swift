internal import BeeHiveRouting
internal import Foundation
internal import HTTPTypes
internal import Hummingbird
internal import Logging
internal import NIOCore
internal import NIOHTTP1

/// The reply to a client instead of an answer: problem details, as RFC 9457 has them.
///
/// It has no text of the router or of a handler. Missing and local things look alike.
struct Problem: Error {
  var status: HTTPResponse.Status
  /// A stable word for programs.
  var code: String
  /// A sentence for a person.
  var detail: String
  /// The parameter that the problem is about.
  var key: String?
  /// The header fields that belong to its status.
  private var ownFields: HTTPFields = [:]

  init(_ status: HTTPResponse.Status, _ code: String, _ detail: String, key: String? = nil) {
    (self.status, self.code, self.detail, self.key) = (status, code, detail, key)
  }

  /// There is nothing here for clients. There may be something for others.
  static let notFound = Problem(.notFound, "not-found", "There is nothing here.")

  /// The server failed; its log says why.
  static let internalError = Problem(
    .internalServerError, "internal-error", "The server could not answer; its log says why.")

  /// Something is here, but does not answer the method.
  static func methodNotAllowed(_ allowed: String) -> Problem {
    var problem = Problem(
      .methodNotAllowed, "method-not-allowed", "The methods here are \(allowed).")
    problem.ownFields[.allow] = allowed
    return problem
  }

  /// The server has as many connections as it takes.
  static func tooManyConnections(retryingAfter seconds: Int) -> Problem {
    var problem = Problem(
      .serviceUnavailable, "too-many-connections", "There are too many connections; try later.")
    problem.ownFields[.retryAfter] = "\(seconds)"
    return problem
  }

  /// Describes the router's refusal to a client.
  init(_ error: RoutingError) {
    func parameter(_ detail: String) -> Problem {
      Problem(.badRequest, error.code.rawValue, detail, key: error.key)
    }
    switch error.code {
    case .notRemote, .native, .noRoute, .noTarget, .noAction: self = .notFound
    case .missingParameter: self = parameter("This parameter has to be given.")
    case .wrongParameter: self = parameter("This parameter has another type, or one value only.")
    case .undeclaredParameter: self = parameter("There is no such parameter.")
    case .malformedURL:
      self.init(.badRequest, error.code.rawValue, "The target is no URL that is read here.")
    case .limitExceeded:
      self.init(.uriTooLong, error.code.rawValue, "The target is longer than is read.")
    case .refused: self.init(.forbidden, error.code.rawValue, "This call is refused.")
    case .badPattern, .unknownType, .duplicate, .wrongResult, .redirectLoop, .badTable, .failed:
      self = .internalError
    }
  }

  /// The problem as JSON.
  var body: Data {
    var members = [
      "type": "about:blank", "title": status.reasonPhrase, "code": code, "detail": detail,
    ]
    members["key"] = key
    let texts = members.mapValues(Member.text)
    return (try? JSON.data(of: texts.merging(["status": .number(status.code)]) { $1 })) ?? Data()
  }

  /// Returns the header fields of an answer with this problem.
  func fields(id: String) -> HTTPFields {
    var fields = ownFields
    fields[.contentType] = "application/problem+json"
    fields[.requestID] = id
    return fields
  }

  /// Hummingbird's name in a log for the number of a request.
  static let requestKey = "hb.request.id"

  /// Logs the reason for the operator. The client does not see it.
  func log(to logger: Logger, id: String, because reason: String) {
    logger.log(
      level: status.code < 500 ? .notice : .error, "\(status.code) \(code): \(reason.visible)",
      metadata: [Self.requestKey: "\(id)"])
  }

  /// Returns the parts of the answer that a connection ends with, after a line in the log.
  func lastAnswer(
    hasBody: Bool = true, logger: Logger, because reason: String
  ) -> [HTTPServerResponsePart] {
    let id = RequestID().description
    log(to: logger, id: id, because: reason)
    var headers: HTTPHeaders = ["connection": "close", "content-length": "\(body.count)"]
    for field in fields(id: id) { headers.add(name: field.name.rawName, value: field.value) }
    let head = HTTPResponseHead(
      version: .http1_1, status: HTTPResponseStatus(statusCode: status.code), headers: headers)
    var parts: [HTTPServerResponsePart] = [.head(head)]
    if hasBody { parts.append(.body(.byteBuffer(ByteBuffer(bytes: body)))) }
    return parts + [.end(nil)]
  }

  private enum Member: Encodable {
    case text(String)
    case number(Int)

    func encode(to encoder: any Encoder) throws {
      var container = encoder.singleValueContainer()
      switch self {
      case .text(let text): try container.encode(text)
      case .number(let number): try container.encode(number)
      }
    }
  }
}

/// Writes values for clients.
enum JSON {
  static func data(of value: any Encodable) throws -> Data {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    return try encoder.encode(value)
  }
}

extension HTTPField.Name {
  /// Names an answer in the log.
  static let requestID: Self = {
    guard let name = Self("X-Request-ID") else { preconditionFailure("this is a legal name") }
    return name
  }()
}

extension String {
  /// The text without line breaks and control characters, so that a client cannot write lines of a log.
  var visible: String {
    unicodeScalars.map {
      $0.properties.generalCategory == .control ? $0.escaped(asASCII: true) : String($0)
    }.joined()
  }
}
