internal import BeeHiveRouting
internal import Glibc

extension Host {
  /// Calls by URL and by name, and the list of what can be called.
  static let routingSteps: [(String, Step)] = [
    // Every action and route with its mark and its place; none says "nothing can be called".
    (
      "catalogue",
      { _, _ in
        let lines = "\(Hive.process.catalogue())".split(separator: "\n")
        for line in lines { print(line.split(separator: " ").joined(separator: " ")) }
        if lines.isEmpty { print("nothing can be called") }
      }
    ),
    ("ask", { _, url in print(call(.url(url), from: .local)) }),
    ("ask-remote", { _, url in print(call(.url(url), from: .remote)) }),
    // `perform=shop.stock`
    (
      "perform",
      { _, name in
        let parts = name.split(separator: ".").map(String.init)
        guard parts.count == 2 else { throw StepFailure("target.action, please") }
        print(call(.action(target: parts[0], action: parts[1]), from: .local))
      }
    ),
    // The same, or a URL, and why it failed.
    (
      "why",
      { _, name in
        if name.contains("://") {
          print(waiting { "\(try await Hive.process.calls.send(.url(name), origin: .local))" })
          return
        }
        let parts = name.split(separator: ".").map(String.init)
        guard parts.count == 2 else { throw StepFailure("target.action, please") }
        print(
          waiting {
            "\(try await Hive.process.calls.send(.action(target: parts[0], action: parts[1]), origin: .local))"
          })
      }
    ),
    // `reopen-while-asking-url=./libshop.so,app://page/7`: one thread opens and closes the library a
    // hundred times while this one asks. Somebody answers, or nobody does: nothing between.
    (
      "reopen-while-asking-url",
      { _, words in
        let parts = words.split(separator: ",", maxSplits: 1).map(String.init)
        guard parts.count == 2 else { throw StepFailure("a library and a URL, please") }
        print(askWhileReopening(parts[0], url: parts[1]))
      }
    ),
  ]

  /// The answer, or the code of the error.
  private static func call(_ destination: Destination, from origin: CallOrigin) -> String {
    waiting {
      do {
        return "\(try await Hive.process.calls.send(destination, origin: origin))"
      } catch let error as RoutingError {
        return error.code.rawValue
      }
    }
  }

  /// What the answers were, each once.
  private static func askWhileReopening(_ path: String, url: String) -> String {
    var answers: Set<String> = []
    // Mapped by the first round, and closed by each.
    Threads.run({
      for _ in 0..<100 { try? Handle(opening: path).close() }
    }) {
      for _ in 0..<100 { answers.insert(call(.url(url), from: .local)) }
    }
    return answers.sorted().joined(separator: ", ")
  }
}
