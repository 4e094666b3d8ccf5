internal import BeeHive

extension Host {
  /// What the Hive says of itself.
  static let hiveSteps: [(String, Step)] = [
    ("touch", { _, _ in _ = Hive.process }),
    ("refresh", { _, _ in Hive.process.refresh() }),
    (
      "withdraw",
      { _, path in
        print(waiting { "\(await Hive.process.remove(image: path)) removed" })
      }
    ),
    // Every entry that stands in an image; none says "no entries".
    ("entries", { _, _ in printEntries() }),
    ("reasons", { _, _ in printEntries { entry in "\(entry.summary): \(entry.reason)" } }),
    ("records", { _, _ in for entry in Hive.process.entries { print(entry.columns) } }),
    ("count", { _, _ in print(Tally(Hive.process.entries)) }),
    (
      "images",
      { _, _ in
        let problems = Hive.process.imageProblems
        for problem in problems {
          print("\(lastPart(of: problem.image)): \(problem.code.rawValue)")
        }
        if problems.isEmpty { print("every image is well") }
      }
    ),
    ("report", { _, _ in print(Hive.process.report().json) }),
    (
      "validate",
      { _, _ in
        try Hive.process.validate()
        print("valid")
      }
    ),
  ]

  private static func printEntries(_ line: (Entry) -> String = \.summary) {
    let entries = Hive.process.entries
    for entry in entries { print(line(entry)) }
    if entries.isEmpty { print("no entries") }
  }
}

/// How many entries are in which state.
struct Tally: CustomStringConvertible {
  var bound = 0
  var accepted = 0
  var rejected = 0

  init(_ entries: [Entry]) {
    for entry in entries {
      switch entry.state {
      case .bound: bound += 1
      case .accepted: accepted += 1
      case .rejected: rejected += 1
      }
    }
  }

  var description: String { "\(bound) bound, \(accepted) accepted, \(rejected) rejected" }
}

extension Entry {
  /// `bound service Greeter at libplugin.so BeehiveRecords[0]`, with the reason's code if there is one.
  var summary: String {
    let state =
      switch state {
      case .bound: "bound"
      case .accepted(let problem): "accepted (\(problem.code.rawValue))"
      case .rejected(let problem): "rejected (\(problem.code.rawValue))"
      }
    let what = name.isEmpty ? "\(kind)" : "\(kind) \(name)"
    return "\(state) \(what) at \(source)"
  }

  /// What `section-dump` prints of the same entry too, between tabs: kind, name, implementation,
  /// priority, attributes in alphabetical order, section and index.
  var columns: String {
    guard case .image(let origin) = source else { return "\(self)" }
    let priority = fields.first { $0.hasPrefix("priority=") }?.dropFirst(9) ?? "0"
    let words = fields.filter { !$0.hasPrefix("priority=") }.sorted()
    let columns = [
      kind.description, name, implementation ?? "-", String(priority),
      words.joined(separator: " "), origin.section, String(origin.index),
    ]
    return columns.joined(separator: "\t")
  }

  /// The whole sentence, for who is bound too.
  var reason: String {
    switch state {
    case .bound: "bound"
    case .accepted(let problem), .rejected(let problem): problem.message
    }
  }
}
