internal import BeeHive
internal import CContract
internal import Glibc

extension Host {
  /// Many libraries at once; the argument is the folder that they stand in.
  static let crowdSteps: [(String, Step)] = [
    (
      "open-all",
      { host, folder in
        for file in files(in: folder) {
          host.handles[file, default: []].append(try Handle(opening: file))
        }
      }
    ),
    (
      "close-all",
      { host, _ in
        for handle in host.handles.values.joined() { try handle.close() }
        host.handles = [:]
      }
    ),
    (
      "walk-twice",
      { _, _ in
        let first = Hive.process.entries
        Hive.process.refresh()
        let second = Hive.process.entries
        let distinct = Set(first.map(\.source)).count
        print("\(distinct) distinct, the second walk \(first == second ? "the same" : "another")")
      }
    ),
    ("grow", { host, folder in try host.grow(folder) }),
  ]

  /// Opens one library after another and asks for a service of each: what that cost in the second
  /// quarter and in the last. Processor time, without that of `dlopen` and of the loader's walks of
  /// its own list, which are as long as the list: one to see what is new, and one to copy it.
  private mutating func grow(_ folder: String) throws {
    let files = Self.files(in: folder)
    var answers: [Double] = []
    var walks: [Double] = []
    for (number, file) in files.enumerated() {
      _ = try Handle(opening: file)
      // In turn, since what walks second finds the list in the cache.
      if number % 2 == 0 {
        walks.append(
          Self.cost {
            contract_walk(); contract_walk()
          })
      }
      let cost = try Self.cost {
        _ = try Self.say("Speaker\(String(10_000 + number).dropFirst())0")
      }
      if number % 2 == 1 { answers.append(cost) }
    }
    // The middle of each quarter: a page fault here or there says nothing.
    let quarter = walks.count / 4
    let costs = [quarter..<2 * quarter, 3 * quarter..<4 * quarter].map { part in
      answers[part].sorted()[quarter / 2] - walks[part].sorted()[quarter / 2]
    }
    print(
      "\(files.count) answers, microseconds each: early \(costs[0] * 1e6), late \(costs[1] * 1e6)")
  }

  /// The processor time that `body` takes, in seconds.
  private static func cost(_ body: () throws -> Void) rethrows -> Double {
    let start = processorTime
    try body()
    return processorTime - start
  }

  private static var processorTime: Double {
    var time = timespec()
    unsafe clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
    return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
  }

  /// The files of a folder in the order of their names.
  private static func files(in folder: String) -> [String] {
    guard let stream = unsafe opendir(folder) else { return [] }
    defer { unsafe closedir(stream) }
    var names: [String] = []
    while let entry = unsafe readdir(stream) {
      let name = unsafe withUnsafePointer(to: &entry.pointee.d_name) { name in
        unsafe name.withMemoryRebound(to: CChar.self, capacity: 256) { unsafe String(cString: $0) }
      }
      if name.hasSuffix(".so") { names.append("\(folder)/\(name)") }
    }
    return names.sorted()
  }
}
