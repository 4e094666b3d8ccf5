internal import Glibc

extension Host {
  /// Runs async work to its end while this thread waits; what came of it, in words.
  static func waiting(_ work: @escaping @Sendable () async throws -> String) -> String {
    let answer = Guarded<String?>(nil)
    Task {
      let text: String
      do { text = try await work() } catch { text = "\(error)" }
      answer.withLock { $0 = text }
    }
    while true {
      if let text = answer.withLock({ $0 }) { return text }
      usleep(1000)
    }
  }
}
