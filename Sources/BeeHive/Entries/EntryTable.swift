internal import BinaryImage
internal import Registration

/// Every entry of a Hive, and which of them answers to a name. Lives under the Hive's lock.
///
/// The entries of one image are added at their own cost, however many others there are.
struct EntryTable {
  /// All, in order of registration.
  ///
  /// Who takes one out releases it with no lock held, since that may destroy an instance of the user's.
  private var made: [RegisteredEntry] = []
  /// The same by what duplicates share: services by their names alone.
  private var filed: [EntryIdentity: Namesakes] = [:]
  /// The services that are known to serve as a type.
  private var servicesByType: [ObjectIdentifier: Namesakes] = [:]
  /// The entries of each image, in order of registration: also what was removed, since images stay mapped.
  private var images: [MappedImage.ID: [RegisteredEntry]] = [:]
  /// The targets and routes, which layers above make something of, in order of registration.
  private(set) var others: [RegisteredEntry] = []
  /// Changes whenever one of those comes or goes.
  private(set) var otherVersion = 0
  /// Changes whenever an entry comes or goes.
  private(set) var version = 0
  /// Whether any service has waited for what makes it.
  private(set) var hasUnbound = false
  /// Where others read what became of the entries; the Hive of the process alone has one.
  private var stateRecord: StateRecord?

  /// An empty table.
  init(stateRecord: StateRecord? = nil) { self.stateRecord = stateRecord }

  /// Every entry that is part of the Hive, in order of registration.
  var all: [RegisteredEntry] { entries { _ in true } }

  /// Those for which `condition` holds, in order of registration. Looks at every entry.
  func entries(where condition: (RegisteredEntry) -> Bool) -> [RegisteredEntry] {
    made.filter(condition)
  }

  /// The services or modules of this name, the rejected ones among them.
  func named(_ kind: RecordKind, _ name: String) -> Namesakes {
    filed[.named(kind, name)] ?? Namesakes()
  }

  /// The services that are known to serve as a type, whatever their name.
  func serving(_ type: ObjectIdentifier) -> Namesakes { servicesByType[type] ?? Namesakes() }

  /// The names of all services, or of all modules.
  func names(of kind: RecordKind) -> Set<String> {
    Set(filed.keys.compactMap { if case .named(kind, let name) = $0 { name } else { nil } })
  }

  /// Finds the services that a lookup may mean: those of any of these names, which are the spellings of the
  /// type (`TypeSpelling`), and those whose code says that they serve as `type`, whatever their name.
  ///
  /// - Parameters:
  ///   - names: Every way to spell the type.
  ///   - type: The type; nil for a lookup by name only.
  ///   - given: The given name that they must have; nil for any.
  /// - Returns: The services, in order of registration, and when that was: see `version`.
  func services(
    named names: [String], of type: Any.Type? = nil, given: String? = nil
  ) -> (entries: [RegisteredEntry], version: Int) {
    func chosen(_ namesakes: Namesakes) -> [RegisteredEntry] {
      given.map { namesakes.given($0) } ?? namesakes.all
    }
    var entries = names.flatMap { chosen(named(.service, $0)) }
    if let type {
      entries += chosen(serving(ObjectIdentifier(type))).filter { !names.contains($0.name) }
    }
    return (entries, version)
  }

  /// Returns what an image declares, also what was removed.
  func declared(by image: MappedImage.ID) -> [RegisteredEntry] { images[image] ?? [] }

  /// The remedy where entries of an image were removed.
  static let adviceOnRemoved =
    "opening it again registers nothing; hive.plugins.load brings a plugin back, else open a new build from a file of another name"

  /// The services of a name that images declare and that were removed. Looks at every entry.
  func removed(_ service: String) -> [RegisteredEntry] {
    images.values.joined().filter {
      $0.isWithdrawn && $0.kind == .service && $0.name == service
    }
  }

  // MARK: Coming

  /// Takes note of an image and makes room for its entries, which come next.
  mutating func expect(_ entries: [RegisteredEntry], of image: MappedImage) {
    stateRecord?.add(image)
    images[image.id] = entries
    filed.reserveCapacity(filed.count + entries.count)
  }

  /// Takes in an entry; one that another already provides is kept, as rejected.
  mutating func add(_ entry: RegisteredEntry) {
    version += 1
    made.insert(inOrder: entry)
    if !hasUnbound, entry.kind == .service, entry.isUnbound { hasUnbound = true }
    if !entry.name.isEmpty { file(entry) }
    stateRecord?.add(entry)
  }

  private mutating func file(_ entry: RegisteredEntry) {
    var rivals = fileByType(entry)
    for key in keys(of: entry) {
      let others = filed[key, default: Namesakes()].add(entry)
      // An empty list is copied, too.
      if !others.isEmpty { rivals += others }
    }
    entry.reject(ifDuplicateAmong: rivals)
    if entry.kind.isOfLayersAbove {
      others.append(entry)
      otherVersion += 1
    }
  }

  /// Says what became of an entry, unless it has left or been settled meanwhile. Returns the entries whose
  /// state that changes: with it, those that turn out to be its duplicates.
  mutating func set(
    _ progress: RegisteredEntry.Progress, for entry: RegisteredEntry
  ) -> [RegisteredEntry] {
    guard !entry.isWithdrawn, entry.isUnbound else { return [] }
    entry.progress = progress
    fileByType(entry)
    // The type that an entry serves as may be known only now, and so who is a duplicate.
    let rivals = rivals(of: entry)
    entry.reject(ifDuplicateAmong: rivals.filter { $0.order < entry.order })
    if case .rejected = progress {
      // What cannot serve keeps no other from it.
      giveTurns(among: rivals)
    } else if case .bound = entry.progress {
      return [entry]
        + rivals.filter { $0.order > entry.order && $0.reject(ifDuplicateAmong: [entry]) }
    }
    return [entry]
  }

  /// Puts a service under the type that it serves as, if that is known, and returns the others there of its given name.
  @discardableResult
  private mutating func fileByType(_ entry: RegisteredEntry) -> [RegisteredEntry] {
    guard entry.kind == .service, let type = entry.servedType else { return [] }
    entry.filedType = type
    return servicesByType[type, default: Namesakes()].add(entry)
  }

  /// The keys that an entry is filed by, besides its type.
  private func keys(of entry: RegisteredEntry) -> [EntryIdentity] {
    entry.kind == .service ? [.named(.service, entry.name)] : entry.identities
  }

  /// The entries that could be duplicates of an entry, with itself, in order of registration.
  private func rivals(of entry: RegisteredEntry) -> [RegisteredEntry] {
    var rivals = keys(of: entry).flatMap { filed[$0]?.given(entry.givenName) ?? [] }
    if let type = entry.filedType {
      rivals += serving(type).given(entry.givenName).filter { $0.name != entry.name }
    }
    return rivals.sorted { $0.order < $1.order }
  }

  /// Takes back what was rejected as a duplicate of an entry that is one no more.
  private mutating func giveTurns(among list: [RegisteredEntry]) {
    for other in list {
      guard let before = other.setAside, case .rejected = other.progress else { continue }
      other.progress = before.progress
      other.setAside = nil
      // One that came later may have its place: an entry of a new build.
      other.reject(ifDuplicateAmong: rivals(of: other))
    }
  }

  /// Returns those of entries that have left whose instances no other entry shares.
  func withoutSharers(_ gone: [RegisteredEntry]) -> [RegisteredEntry] {
    gone.filter { entry in
      guard entry.attributes.shared != nil, let image = entry.image else { return true }
      return images[image]?.contains {
        $0.keeper === entry.keeper && !$0.isWithdrawn && $0.provider != nil
      } != true
    }
  }

  /// Takes back what was rejected as a duplicate of entries that have left.
  mutating func giveTurns(after gone: [RegisteredEntry]) {
    version += 1
    if gone.contains(where: \.kind.isOfLayersAbove) { otherVersion += 1 }
    for entry in gone { giveTurns(among: rivals(of: entry)) }
  }

  // MARK: The state record

  /// The modules are being started, have been, or were torn down: says of each bound one why it does not run, and how far
  /// a module is that comes now.
  mutating func publish(
    arrival: ModuleStage?, switchedOff: Set<String>, _ stage: (RegisteredEntry) -> ModuleStage?
  ) {
    guard stateRecord != nil else { return }
    stateRecord?.arrival = arrival
    stateRecord?.switchedOff = switchedOff
    for entry in made where entry.kind == .module { entry.publish(stage(entry)) }
  }

  /// A module that was not tried yet has been bound.
  func publishArrival(of entry: RegisteredEntry) { stateRecord?.publishArrival(of: entry) }

  // MARK: Going

  /// Takes back what the host gave with one call of `bind`; returns the entries that it had bound.
  mutating func unbind(_ binding: Int) -> [RegisteredEntry] {
    let bound = entries {
      guard case .bound(.closure(let factory)) = $0.progress else { return false }
      return factory.binding == binding
    }
    for entry in bound { entry.progress = .accepted(.notYetLooked) }
    if !bound.isEmpty { hasUnbound = true }
    return bound
  }

  /// Takes out every entry for which `condition` holds, and returns them.
  ///
  /// What was rejected as a duplicate of one that goes gets its turn. Looks at every entry.
  mutating func withdraw(where condition: (RegisteredEntry) -> Bool) -> [RegisteredEntry] {
    withdraw(entries(where: condition))
  }

  /// Takes entries out, and returns those that were still there.
  ///
  /// Their places are given to `next`, which are taken in again if they have left; without any, to what was rejected as a
  /// duplicate.
  mutating func withdraw(
    _ entries: [RegisteredEntry], for next: [RegisteredEntry] = []
  ) -> [RegisteredEntry] {
    let gone = entries.filter { !$0.isWithdrawn }
    guard !gone.isEmpty else { return [] }
    version += 1
    for entry in gone {
      entry.isWithdrawn = true
      for key in keys(of: entry) { filed.remove(entry, for: key) }
      if let type = entry.filedType { servicesByType.remove(entry, for: type) }
    }
    made.removeAll(where: \.isWithdrawn)
    restore(next)
    if gone.contains(where: \.kind.isOfLayersAbove) { others.removeAll(where: \.isWithdrawn) }
    if next.isEmpty { giveTurns(after: gone) }
    return gone
  }

  /// Takes entries in again that have left, and takes back that they were rejected as duplicates. Returns those.
  @discardableResult
  mutating func restore(_ entries: [RegisteredEntry]) -> [RegisteredEntry] {
    let returned = entries.filter(\.isWithdrawn)
    for entry in returned {
      entry.isWithdrawn = false
      add(entry)
    }
    giveTurns(among: entries)
    return returned
  }
}

extension RecordKind {
  /// Whether layers above make something of it.
  fileprivate var isOfLayersAbove: Bool { self == .target || self == .route }
}

/// The entries of one name, or of one type: those that have the same given name together.
struct Namesakes {
  /// Those without a given name, in order of registration: most entries have none.
  private var unnamed: [RegisteredEntry] = []
  /// The others by their given names, each group in order of registration; none is empty.
  private var named: [String: [RegisteredEntry]] = [:]

  var isEmpty: Bool { unnamed.isEmpty && named.isEmpty }

  /// Every entry, in order of registration.
  var all: [RegisteredEntry] {
    named.isEmpty
      ? unnamed : (unnamed + named.values.joined()).sorted { $0.order < $1.order }
  }

  /// Those that have this given name, or none; in order of registration.
  func given(_ name: String?) -> [RegisteredEntry] { name.map { named[$0] ?? [] } ?? unnamed }

  /// Inserts an entry in its order, and returns the others of its given name. The time grows with the number of
  /// those.
  @discardableResult
  mutating func add(_ entry: RegisteredEntry) -> [RegisteredEntry] {
    if let name = entry.givenName { return Self.insert(entry, into: &named[name, default: []]) }
    return Self.insert(entry, into: &unnamed)
  }

  private static func insert(
    _ entry: RegisteredEntry, into list: inout [RegisteredEntry]
  ) -> [RegisteredEntry] {
    let others = list
    list.insert(inOrder: entry)
    return others
  }

  /// Takes out an entry.
  mutating func remove(_ entry: RegisteredEntry) {
    guard let name = entry.givenName else { return unnamed.removeAll { $0 === entry } }
    named[name]?.removeAll { $0 === entry }
    if named[name]?.isEmpty == true { named[name] = nil }
  }
}

extension [RegisteredEntry] {
  /// Inserts an entry before those that were registered after it.
  fileprivate mutating func insert(inOrder entry: RegisteredEntry) {
    let place = (lastIndex { $0.order < entry.order } ?? -1) + 1
    // Nearly always, and cheaper.
    if place == count { append(entry) } else { insert(entry, at: place) }
  }
}

extension Dictionary where Value == Namesakes {
  /// Takes out an entry.
  fileprivate mutating func remove(_ entry: RegisteredEntry, for key: Key) {
    guard let place = index(forKey: key) else { return }
    values[place].remove(entry)
    if values[place].isEmpty { remove(at: place) }
  }
}
