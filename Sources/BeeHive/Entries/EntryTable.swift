internal import Registration

/// Every entry of a Hive, and which of them answers to a name. Lives under the Hive's lock.
struct EntryTable {
  /// In order of registration; the withdrawn ones are swept out when they are half of all.
  private var entries: [RegisteredEntry] = []
  private var services: [String: [RegisteredEntry]] = [:]
  private var modules: [String: [RegisteredEntry]] = [:]
  private var withdrawnCount = 0
  /// Changes whenever an entry comes or goes.
  private(set) var version = 0
  /// Entries that nothing makes yet.
  private(set) var unboundCount = 0

  /// Every entry that is part of the Hive, in order of registration.
  var all: [RegisteredEntry] {
    withdrawnCount == 0 ? entries : entries.filter { !$0.isWithdrawn }
  }

  /// The services of this name, the rejected ones among them, in order of registration.
  func services(named name: String) -> [RegisteredEntry] { services[name] ?? [] }

  /// The modules of this name.
  func modules(named name: String) -> [RegisteredEntry] { modules[name] ?? [] }

  mutating func reserve(_ count: Int) {
    entries.reserveCapacity(entries.count + count)
  }

  /// Takes in an entry; one that another already provides is kept, as rejected.
  mutating func add(_ entry: RegisteredEntry) {
    version += 1
    entries.append(entry)
    file(entry)
  }

  /// Puts an entry under its name, and decides whether it is a duplicate.
  private mutating func file(_ entry: RegisteredEntry) {
    guard !entry.name.isEmpty else { return }
    switch entry.kind {
    case .service:
      reject(entry, ifDuplicateAmong: services[entry.name] ?? [])
      services[entry.name, default: []].append(entry)
    case .module:
      reject(entry, ifDuplicateAmong: modules[entry.name] ?? [])
      modules[entry.name, default: []].append(entry)
    default: break
    }
    if case .accepted = entry.progress { unboundCount += 1 }
  }

  private func reject(_ entry: RegisteredEntry, ifDuplicateAmong others: [RegisteredEntry]) {
    if case .rejected = entry.progress { return }
    guard let first = others.first(where: { $0.isDuplicated(by: entry) }) else { return }
    entry.setAside = entry.progress
    entry.progress = .rejected(.duplicate(of: first, kind: entry.kind))
  }

  /// Says what became of an entry, unless it has left or been settled meanwhile; whether that is so.
  mutating func set(_ progress: RegisteredEntry.Progress, for entry: RegisteredEntry) -> Bool {
    guard !entry.isWithdrawn, case .accepted = entry.progress else { return false }
    if case .accepted = progress {} else { unboundCount -= 1 }
    entry.progress = progress
    // An accessor tells its type only when it is bound, so a duplicate may show only now.
    let others = services(named: entry.name).filter { $0 !== entry && $0.order < entry.order }
    if entry.kind == .service { reject(entry, ifDuplicateAmong: others) }
    return true
  }

  /// Takes out every entry for which `condition` holds, and returns them.
  ///
  /// What was rejected as a duplicate of one that goes gets its turn.
  mutating func withdraw(where condition: (RegisteredEntry) -> Bool) -> [RegisteredEntry] {
    let gone = entries.filter { !$0.isWithdrawn && condition($0) }
    if !gone.isEmpty { version += 1 }
    for entry in gone {
      entry.isWithdrawn = true
      withdrawnCount += 1
      if case .accepted = entry.progress { unboundCount -= 1 }
      unfile(entry)
    }
    if withdrawnCount > 64, withdrawnCount * 2 > entries.count {
      entries.removeAll(where: \.isWithdrawn)
      withdrawnCount = 0
    }
    return gone
  }

  private mutating func unfile(_ entry: RegisteredEntry) {
    let isService = entry.kind == .service
    guard var list = isService ? services[entry.name] : modules[entry.name] else { return }
    list.removeAll { $0 === entry }
    for (index, other) in list.enumerated() {
      guard let before = other.setAside, case .rejected = other.progress else { continue }
      other.progress = before
      other.setAside = nil
      reject(other, ifDuplicateAmong: Array(list[..<index]))
      if case .accepted = other.progress { unboundCount += 1 }
    }
    if isService {
      services[entry.name] = list.isEmpty ? nil : list
    } else {
      modules[entry.name] = list.isEmpty ? nil : list
    }
  }
}

extension RegisteredEntry {
  /// Whether `later` provides what this entry already provides, so that nothing could tell them apart.
  fileprivate func isDuplicated(by later: RegisteredEntry) -> Bool {
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
  fileprivate static func duplicate(of first: RegisteredEntry, kind: RecordKind) -> Problem {
    let remedy =
      kind == .service ? "give one of them a name or a priority" : "rename or remove one of them"
    return Problem(
      .duplicate, "\(first.source) already provides it; \(remedy)", related: [first.source])
  }
}
