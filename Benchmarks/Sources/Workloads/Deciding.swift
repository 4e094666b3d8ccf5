internal import BeeHiveRouting
internal import Foundation

/// Taking in routes and rules, and calls that pass rules for others.
enum Deciding {
  /// Registers so many routes, one by one, spread over a hundred hosts.
  static func registering(_ count: Int) -> Comparison {
    Comparison(
      "register-routes-\(count)", floor: nil,
      candidate: .init(
        run: {
          let router = Router()
          do {
            for index in 0..<count {
              try router.register("app://host\(index % 100)/item\(index)/:id<Int>") { _ in }
            }
          } catch { stop("\(error)") }
        }, operations: count))
  }

  /// Loads a table of so many redirections.
  static func loading(_ count: Int) -> Comparison {
    let table = table(count)
    return Comparison(
      "load-rules-\(count)", floor: nil,
      candidate: .init(
        run: { do { try Router().calls.load(table) } catch { stop("\(error)") } },
        operations: count))
  }

  /// Carries out calls that none of so many rules is about. For 0 there is no table.
  static func passing(_ count: Int) -> Comparison {
    let router = Router()
    do {
      try router.register("app://page/:id<Int>") { _ in }
      if count > 0 { try router.calls.load(table(count)) }
    } catch { stop("\(error)") }
    return Comparison(
      "pass-rules-\(count)", floor: nil,
      candidate: .init(
        run: {
          let isDone = DispatchSemaphore(value: 0)
          Task.detached {
            do { for _ in 0..<1000 { try await router.open("app://page/7") } } catch {
              stop("\(error)")
            }
            isDone.signal()
          }
          isDone.wait()
        }, operations: 1000))
  }

  private static func table(_ count: Int) -> DecisionTable {
    let rules = (0..<count).map { index in
      """
      {"name": "rule \(index)", "match": {"url": "app://host\(index % 100)/old\(index)/:id"}, \
      "do": {"redirect": "app://page/:id"}}
      """
    }
    let text = "{\"version\": 1, \"rules\": [\(rules.joined(separator: ","))]}"
    do { return try JSONDecoder().decode(DecisionTable.self, from: Data(text.utf8)) } catch {
      stop("\(error)")
    }
  }
}
