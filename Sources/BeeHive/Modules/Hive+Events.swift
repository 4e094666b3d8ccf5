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
  /// Tells every module that runs of an event, in order.
  ///
  /// Each module that runs now is told once: one that registers meanwhile is not, and one that leaves
  /// before its turn is not either. Events may overlap each other. In a Hive that is not started, no module
  /// is told.
  ///
  /// - Parameter event: Goes to each module until one answers `.stop`.
  /// - Returns: The answer of each module, and what went wrong.
  @discardableResult
  public func trigger(_ event: Event) async -> EventOutcome { await runner.dispatch(event) }

  /// Asks every module that runs, and returns the first answer of a type.
  ///
  /// A module answers with `.value`, or with `.stop` to be the last. Later answers are reported to
  /// observers as `surplusReply`.
  ///
  /// - Parameters:
  ///   - event: The question.
  ///   - type: The type of the answer.
  /// - Returns: The first answer.
  /// - Throws: ``AskError`` where no module gives one; it says what they did instead.
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
  ///
  /// - Parameters:
  ///   - question: What the modules are asked.
  ///   - type: The type of the answer.
  /// - Returns: The first answer.
  /// - Throws: ``AskError`` where no module gives one.
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
    let head =
      "\(event): no module answered with a \(answer); asked: \(asked), failed: \(lines.count)"
    return ([head.escaped] + lines).joined(separator: "\n")
  }
}
