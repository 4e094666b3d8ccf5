import Foundation
import Testing

@Suite("Tools that load servers find nothing amiss", .serialized, .mayHang)
struct ToolTests {
  @Test("wrk: every answer is 200", .needs("wrk"))
  func wrk() async throws {
    try await serving(try Shop.router()) { port in
      var requests = 0
      // Runs longer if the machine is too busy for a single answer.
      for duration in ["2s", "20s", "60s"] where requests == 0 {
        let output = try await run(
          "wrk", "-t", "2", "-c", "64", "-d", duration, "--timeout", "600s",
          "http://127.0.0.1:\(port)/book/7?from=wrk")
        requests = output.firstMatch(of: /(\d+) requests in/).flatMap { Int($0.output.1) } ?? 0
        #expect(!output.contains("Non-2xx") && !output.contains("Socket errors"), "\(output)")
      }
      #expect(requests > 0)
    }
  }

  @Test("ab -k: HTTP/1.0 connections are kept, and every answer is 200", .needs("ab"))
  func ab() async throws {
    try await serving(try Shop.router()) { port in
      let output = try await run(
        "ab", "-k", "-q", "-n", "2000", "-c", "16", "http://127.0.0.1:\(port)/book/7")
      func count(_ what: String) -> Int? {
        let line = output.split(separator: "\n").first { $0.hasPrefix(what) }
        return line.flatMap { Int($0.split(separator: " ").last ?? "") }
      }
      #expect(count("Complete requests") == 2000 && count("Failed requests") == 0, "\(output)")
      #expect(count("Keep-Alive requests") == 2000, "\(output)")
      #expect(count("Non-2xx responses") == nil, "\(output)")
    }
  }

  @Test("curl -I, and a second request on the same connection", .needs("curl"))
  func curl() async throws {
    try await serving(try Shop.router()) { port in
      let url = "http://127.0.0.1:\(port)/book/7"
      let output = try await run(
        "curl", "-sS", "-I", url, "-w", "%{http_code} %{num_connects}\n", "--next", "-sS", url,
        "-w", "\n%{http_code} %{num_connects}\n")
      let lines = output.split(whereSeparator: \.isNewline)
      #expect(lines.suffix(3) == ["200 1", #""book 7, found by chance""#, "200 0"], "\(output)")
    }
  }

  @Test("curl: a form that expects to be asked for", .needs("curl"))
  func curlExpects() async throws {
    try await serving(try Shop.router()) { port in
      let output = try await run(
        "curl", "-sS", "-v", "--stderr", "-", "-H", "Expect: 100-continue",
        "--expect100-timeout", "600", "-d", "isbn=978", "http://127.0.0.1:\(port)/books/price")
      #expect(
        output.contains("HTTP/1.1 100 Continue") && output.contains(#"{"euro":3}"#), "\(output)")
    }
  }

  /// Returns a program's output. The program must succeed; the server goes on meanwhile.
  private func run(_ program: String, _ arguments: String...) async throws -> String {
    try await withCheckedThrowingContinuation { continuation in
      let thread = Thread {
        continuation.resume(
          with: Result {
            try Command.output(program, arguments, environment: ["no_proxy": "127.0.0.1"])
          })
      }
      thread.start()
    }
  }
}
