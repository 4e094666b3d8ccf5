internal import BeeHive
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

  /// Opens one library after another and asks for a service of each: what the last of them cost
  /// compared with the first. Processor time, and not that of `dlopen`.
  private mutating func grow(_ folder: String) throws {
    let files = Self.files(in: folder)
    var costs: [Double] = []
    for (number, file) in files.enumerated() {
      _ = try Handle(opening: file)
      let start = Self.processorTime
      _ = try Self.say("Speaker\(String(10_000 + number).dropFirst())0")
      costs.append(Self.processorTime - start)
    }
    // The middle of each quarter: a page fault here or there says nothing.
    let quarter = files.count / 4
    let early = costs[quarter..<2 * quarter].sorted()[quarter / 2]
    let late = costs[(3 * quarter)...].sorted()[quarter / 2]
    print("\(files.count) answers, growth \(late / early)")
    print("microseconds each: early \(early * 1e6), late \(late * 1e6)")
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
