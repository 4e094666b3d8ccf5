/// What the reports of some files amount to.
struct ReportSums: Sendable, Codable {
  /// What a child tells; its parent counts the files.
  private enum CodingKeys: CodingKey {
    case shown, empty, skipped, unread, hasProblems, holdsMany, wanted
  }

  var (shown, empty, skipped, unread) = (0, 0, 0, 0)
  var hasProblems = false
  var holdsMany = false
  var files = 0
  /// The first files that were read: more would take long, and hardly have sections of other names.
  var first: [Input] = []
  /// What is looked for, and whether these files have it.
  var wanted = Wanted()

  /// Whether a child may have counted this.
  var isSensible: Bool {
    [shown, empty, skipped, unread].allSatisfy((0..<1 << 32).contains)
  }

  /// Adds what further files amount to; what is looked for is in one of all.
  mutating func add(_ other: Self) {
    shown += other.shown
    empty += other.empty
    skipped += other.skipped
    unread += other.unread
    files += other.files
    first += other.first.prefix(10 - first.count)
    hasProblems = hasProblems || other.hasProblems
    holdsMany = holdsMany || other.holdsMany
    wanted.add(other.wanted)
  }
}
