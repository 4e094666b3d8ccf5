import Foundation
import Testing

@testable import BeeHive

@Suite("The profiler")
struct ProfilerTests {
  private func profiler() -> Profiler {
    let profiler = Profiler()
    let outer = profiler.begin("audio", "setUp")
    let inner = profiler.begin("he said \"hi\"", "setUp")
    profiler.end(inner, isSuccess: false)
    profiler.end(outer, isSuccess: true)
    for _ in 0..<2 { profiler.end(profiler.begin("audio", "splash"), isSuccess: true) }
    return profiler
  }

  @Test("each run of each module and event is a span of its own")
  func runs() {
    let spans = profiler().spans
    #expect(spans.map(\.module) == ["he said \"hi\"", "audio", "audio", "audio"])
    #expect(spans.map(\.run) == [1, 1, 1, 2])
    #expect(spans.map(\.lane) == [1, 0, 0, 0], "what runs at the same time has lanes of its own")
    #expect(spans.allSatisfy { $0.duration >= .zero && $0.start >= .zero })
    #expect(spans[1].duration >= spans[0].duration)
  }

  @Test("the table names every span")
  func table() {
    let lines = profiler().table().split(separator: "\n")
    #expect(lines.count == 4)
    #expect(lines.contains { $0.hasSuffix("splash  run 2") })
    #expect(lines.contains { $0.hasSuffix("failed") })
  }

  @Test("the trace is JSON in Chrome's format")
  func trace() throws {
    let data = Data(profiler().chromeTrace().utf8)
    let object = try #require(try JSONSerialization.jsonObject(with: data) as? [String: Any])
    let events = try #require(object["traceEvents"] as? [[String: Any]])
    #expect(events.count == 4)
    #expect(events.allSatisfy { $0["ph"] as? String == "X" && $0["ts"] is Int && $0["dur"] is Int })
    #expect(events.first?["name"] as? String == "he said \"hi\" setUp")
  }

  @Test("old spans are let go", arguments: [10, 1, 0, -5])
  func limit(limit: Int) {
    let profiler = Profiler(limit: limit)
    for _ in 0..<100 { profiler.end(profiler.begin("a", "b"), isSuccess: true) }
    #expect(profiler.spans.count <= max(2, 2 * limit))
    #expect(profiler.spans.last?.run == 100)
  }
}
