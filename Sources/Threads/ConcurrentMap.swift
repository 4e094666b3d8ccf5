extension Array where Element: Sendable {
  /// What `body` makes of each element, in their order. As many threads as there are processors take part where
  /// there are many elements; this one is among them.
  package func mapConcurrently<Made: Sendable>(
    _ body: @escaping @Sendable (Element) -> Made
  ) -> [Made] {
    let batch = 32
    let batches = (count + batch - 1) / batch
    guard batches > 1 else { return map(body) }
    let progress = Lock((next: 0, made: [[Made]](repeating: [], count: batches)))
    let work: @Sendable () -> Void = {
      while true {
        let number = progress.change { progress in
          progress.next += 1
          return progress.next - 1
        }
        guard number < batches else { return }
        let made = self[number * batch..<Swift.min(count, (number + 1) * batch)].map(body)
        progress.change { $0.made[number] = made }
      }
    }
    let helpers = (1..<Swift.min(POSIXThread.processors, batches)).compactMap { _ in
      POSIXThread(work)
    }
    work()
    for helper in helpers { helper.join() }
    return progress.withLock { $0.made.flatMap { $0 } }
  }
}
