import Benchmark
import Glibc
import Workloads

// Each benchmark runs in a process of its own. One iteration runs base, floor and candidate in turn, so that the
// machine's other load disturbs all alike. The least of each is reported.
let benchmarks: @Sendable () -> Void = {
  let fixtures = Fixtures(
    folder: unsafe getenv("BENCHMARK_FIXTURES").map { unsafe String(cString: $0) } ?? "")
  let base = BenchmarkMetric.custom("base", useScalingFactor: false)
  let floor = BenchmarkMetric.custom("floor", useScalingFactor: false)
  let candidate = BenchmarkMetric.custom("candidate", useScalingFactor: false)
  for name in Workloads.names {
    nonisolated(unsafe) var comparison: Comparison?
    nonisolated(unsafe) var rounds = 0
    Benchmark(
      name,
      configuration: .init(
        metrics: [base, floor, candidate],
        units: [base: .count, floor: .count, candidate: .count], warmupIterations: 1,
        maxDuration: .seconds(2), maxIterations: 1_000_000)
    ) { benchmark in
      guard let comparison, rounds < comparison.rounds ?? .max else { return }
      rounds += 1
      if let side = comparison.base { benchmark.measurement(base, side.time()) }
      if let side = comparison.floor { benchmark.measurement(floor, side.time()) }
      benchmark.measurement(candidate, comparison.candidate.time())
    } setup: {
      comparison = Workloads.make(name, fixtures: fixtures)
    }
  }
}
