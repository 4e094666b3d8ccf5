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
    // Does each operation so many times.
    (
      "leftovers",
      { _, count in
        print(waiting { try await Leftovers.measure(Int(count) ?? 0) })
      }
    ),
    ("grow", { _, folder in try Growth.measure(files: files(in: folder)) }),
  ]

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
