internal import Registration

/// The entries of one name, in order of registration: one, almost always.
///
/// Of several, one that nothing could tell from an earlier one is rejected as its duplicate.
enum Namesakes {
  case none
  case one(RegisteredEntry)
  case several([RegisteredEntry])

  var all: [RegisteredEntry] {
    switch self {
    case .none: []
    case .one(let entry): [entry]
    case .several(let entries): entries
    }
  }

  init(_ entries: [RegisteredEntry]) {
    self = entries.count > 1 ? .several(entries) : entries.first.map(Namesakes.one) ?? .none
  }
}

extension RegisteredEntry {
  /// Rejects this entry where one of `others` provides what it does; that one's end gives it its turn.
  func reject(ifDuplicateAmong others: [RegisteredEntry]) {
    if case .rejected = progress { return }
    guard let first = others.first(where: { $0.isDuplicated(by: self) }) else { return }
    setAside = progress
    progress = .rejected(.duplicate(of: first, by: self))
  }

  /// Whether `later` provides what this entry already provides, so that nothing could tell them apart.
  private func isDuplicated(by later: RegisteredEntry) -> Bool {
    if case .rejected = progress { return false }
    guard kind == .service, later.kind == .service else { return true }
    guard !isOverride, !later.isOverride else { return false }
    guard attributes.name == later.attributes.name else { return false }
    guard attributes.priority == later.attributes.priority else { return false }
    guard isC == later.isC else { return false }
    // Two Swift accessors may make protocols of one name from two modules.
    if let mine = madeType, let other = later.madeType { return mine == other }
    return (madeType == nil) == (later.madeType == nil)
  }
}

extension Problem {
  fileprivate static func duplicate(
    of first: RegisteredEntry, by later: RegisteredEntry
  ) -> Problem {
    let remedy =
      later.kind == .service
      ? "give one of them a name or a priority" : "rename or remove one of them"
    let place = Source.told(apart: [first.source, later.source])[0]
    return Problem(.duplicate, "\(place) already provides it; \(remedy)", related: [first.source])
  }
}
