internal import BinaryImage

/// Why a question has no answer.
public struct AskError: Error, Sendable {
  /// The question.
  public var event: String
  /// The type that an answer should have had.
  public var answer: String
  /// What the modules made of it instead.
  public var outcome: EventOutcome
}

extension Hive {
  /// Tells every module that runs of an event, in order; what they made of it.
  ///
  /// Each module that runs now is told once: who registers meanwhile is not, who leaves before its
  /// turn is not either. Events may overlap each other; in a Hive that is not started nobody is told.
  @discardableResult
  public func trigger(_ event: Event) async -> EventOutcome { await runner.dispatch(event) }

  /// Asks every module that runs; the first answer of the type wins, and there is exactly one.
  ///
  /// Whoever answers after it is reported to observers as `surplusReply`. No answer is an error, which
  /// says what the modules did instead. A module answers with `.value`, or with `.stop` to be the last.
  public func ask<Answer: Sendable>(
    _ event: Event, for type: Answer.Type = Answer.self
  ) async throws(AskError) -> Answer {
    let outcome = await runner.dispatch(event)
    let replies = outcome.answers.compactMap { answer in
      (answer.response.value as? Answer).map { (module: answer.module, value: $0) }
    }
    guard let first = replies.first else {
      throw AskError(
        event: event.name, answer: TypeSpelling.of(type).unqualified, outcome: outcome)
    }
    for reply in replies.dropFirst() {
      observers.tell(
        .surplusReply(
          SurplusReply(event: event.name, module: reply.module, winner: first.module)))
    }
    return first.value
  }

  /// Asks with a value of the application's own, by its type.
  public func ask<Question: Sendable, Answer: Sendable>(
    _ question: Question, for type: Answer.Type = Answer.self
  ) async throws(AskError) -> Answer {
    try await ask(Event(question), for: type)
  }
}

extension AskError: CustomStringConvertible {
  /// `PriceQuestion: no module answered with a Price; asked: 2, failed: 0`
  public var description: String {
    let lines = outcome.failures.map(\.description)
    let asked = outcome.answers.count + lines.count
    return
      ([
        "\(event): no module answered with a \(answer); asked: \(asked), failed: \(lines.count)"
          .escaped
      ] + lines).joined(separator: "\n")
  }
}
