internal import Registration

extension RegisteredEntry {
  /// What tells a service from others of its type; a module has its name alone.
  var givenName: String? { kind == .service ? attributes.name : nil }

  /// Rejects this entry as a duplicate if one of `others` already provides the same; it is reconsidered
  /// when that one leaves. Returns whether it was rejected.
  @discardableResult
  func reject(ifDuplicateAmong others: [RegisteredEntry]) -> Bool {
    if case .rejected = progress { return false }
    guard let first = others.first(where: { $0.isDuplicated(by: self) }) else { return false }
    setAside = SetAside(progress: progress, isDuplicate: true)
    progress = .rejected(.duplicate(of: first, by: self))
    return true
  }

  /// Whether `later` provides what this entry already does, so that nothing could tell them apart.
  private func isDuplicated(by later: RegisteredEntry) -> Bool {
    if case .rejected = progress { return false }
    let mine = identities
    guard kind == .service else { return later.identities.contains(where: mine.contains) }
    // A service is a type, whatever it is called; where that is not known, it is its name.
    guard let type = filedType, let other = later.filedType else {
      return filedType == later.filedType && mine == later.identities
    }
    return type == other && givenName == later.givenName && isC == later.isC
      && attributes.priority == later.attributes.priority
  }
}

extension Problem {
  fileprivate static func duplicate(
    of first: RegisteredEntry, by later: RegisteredEntry
  ) -> Problem {
    let remedy = remedy(for: first, later)
    let place = Source.told(apart: [first.source, later.source])[0]
    return Problem(.duplicate, "\(place) already provides it; \(remedy)", related: [first.source])
  }

  /// What the authors of two duplicates can do, in their language.
  private static func remedy(for first: RegisteredEntry, _ later: RegisteredEntry) -> String {
    guard later.kind == .service, later.isC else { return later.kind.remedyOfDuplicates }
    // What a C host registers by a call has neither.
    let isRecorded = first.image != nil || later.image != nil
    return isRecorded
      ? "give one of them BEEHIVE_NAME or BEEHIVE_PRIORITY" : "unregister the first one before"
  }
}
