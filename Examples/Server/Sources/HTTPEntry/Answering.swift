internal import BeeHiveRouting
internal import Foundation
internal import HTTPTypes
internal import Hummingbird
internal import Logging
internal import NIOCore
internal import NIOHTTPTypes

/// Answers requests whose form is right: each opens a URL, with the fields of a form if its body is one.
struct Answering: HTTPResponder {
  let router: BeeHiveRouting.Router
  let scheme: String
  let limits: ServerLimits
  /// Makes the values that rules may test from a request's header fields.
  let context: @Sendable (HTTPFields) -> Arguments

  func respond(to request: Request, context: Context) async throws -> Response {
    let answer: Response
    do {
      answer = try await self.answer(to: request, on: context.channel)
    } catch let refusal as Refusal {
      let problem = refusal.problem
      problem.log(to: context.logger, id: context.id, because: refusal.reason)
      answer = Response(
        status: problem.status, headers: problem.fields(id: context.id),
        body: ResponseBody(byteBuffer: ByteBuffer(bytes: problem.body)))
    }
    var response = request.method == .head ? answer.createHeadResponse() : answer
    response.headers[.requestID] = context.id
    return response
  }

  private func answer(to request: Request, on channel: any Channel) async throws -> Response {
    do {
      try check(request)
      if request.headers[.expect] != nil {
        let goOn = HTTPResponsePart.head(HTTPResponse(status: .continue))
        try await channel.writeAndFlush(goOn)
      }
      let form = try await body(of: request)
      let url = try CalledURL.text(
        of: request.head.path ?? "", form: takesForm(request) ? form : "", scheme: scheme,
        limits: router.calls.limits)
      let call = ClientCall(request.method, context: self.context(request.headers))
      return try Self.response(with: try await call.open(url, router))
    } catch let problem as Problem {
      throw Refusal(problem, problem.detail)
    } catch let error as RoutingError {
      throw Refusal(Problem(error), "\(error.code.rawValue): \(error.message)")
    } catch let failure as ClientCall.HandlerFailure {
      throw Refusal(.internalError, "the handler threw \(failure.cause)")
    } catch let error as EncodingError {
      throw Refusal(.internalError, "the value cannot be written as JSON: \(error)")
    }
  }

  /// Checks a request's head, before any of the body is read.
  private func check(_ request: Request) throws(Problem) {
    let length = request.headers[.contentLength].flatMap(Int.init)
    let hasBody = length.map { $0 > 0 } ?? request.headers.contains(.transferEncoding)
    let type = request.headers[.contentType]
    if takesForm(request), hasBody || type != nil, !Self.isForm(type) {
      throw Problem(
        .unsupportedMediaType, "unsupported-media-type",
        "A body has to be application/x-www-form-urlencoded.")
    }
    if let length, length > limits.bodyBytes { throw tooLong }
    if let expectation = request.headers[.expect], expectation.lowercased() != "100-continue" {
      throw Problem(
        .expectationFailed, "expectation-failed", "100-continue is all that can be expected.")
    }
  }

  /// Returns whether a body counts as a form.
  ///
  /// Bodies of the other methods have no meaning (RFC 9110, 9.3). They are read and discarded.
  private func takesForm(_ request: Request) -> Bool {
    ![.get, .head, .options].contains(request.method)
  }

  private static func isForm(_ type: String?) -> Bool {
    let name = type?.prefix { $0 != ";" }.trimmingCharacters(in: .whitespaces).lowercased()
    return name == "application/x-www-form-urlencoded"
  }

  private func body(of request: Request) async throws -> String {
    let buffer: ByteBuffer
    do {
      buffer = try await request.body.collect(upTo: limits.bodyBytes)
    } catch is NIOTooManyBytesError {
      throw tooLong
    }
    guard let text = String(validating: buffer.readableBytesView, as: UTF8.self) else {
      throw Problem(
        .badRequest, "malformed-url", "The body is not UTF-8; write other bytes as %XX.")
    }
    return text
  }

  private var tooLong: Problem {
    Problem(
      .contentTooLarge, "body-too-long", "At most \(limits.bodyBytes) bytes of a body are read.")
  }

  private static func response(with value: any Sendable) throws -> Response {
    switch value {
    case is Void: return Response(status: .noContent)
    case let allowed as Methods.Allowed:
      return Response(status: .noContent, headers: [.allow: allowed.methods])
    case let value as any Encodable:
      return Response(
        status: .ok, headers: [.contentType: "application/json"],
        body: ResponseBody(byteBuffer: ByteBuffer(bytes: try JSON.data(of: value))))
    default:
      throw Refusal(.internalError, "a value of type \(type(of: value)) is not Encodable")
    }
  }

  /// A refusal: the problem for the client, and the reason for the operator.
  private struct Refusal: Error {
    var problem: Problem
    var reason: String

    init(_ problem: Problem, _ reason: String) { (self.problem, self.reason) = (problem, reason) }
  }

  /// A request's connection, and its logger, which has the request's number.
  struct Context: RequestContext {
    var coreContext: CoreRequestContextStorage
    let channel: any Channel
    /// The number of the request. Hummingbird keeps it only in the logger, and not all log handlers keep metadata.
    let id: String

    init(source: ApplicationRequestContextSource) {
      coreContext = CoreRequestContextStorage(source: source)
      channel = source.channel
      let number = source.logger[metadataKey: Problem.requestKey]
      id = number.map { "\($0)" } ?? RequestID().description
    }
  }
}
