internal import BinaryImage
internal import Registration

/// Every entry of a Hive, by name, by type and by image. Lives under the Hive's lock.
///
/// The entries of one image are added at their own cost, however many others there are.
struct EntryTable {
  /// All entries, in order of registration.
  ///
  /// Whoever takes an entry out releases it with no lock held, because that may destroy an instance of the user's.
  private var made: [RegisteredEntry] = []
  /// The same entries by what duplicates share: services only by their names.
  private var filed: [EntryIdentity: Namesakes] = [:]
  /// The services that are known to serve as a type.
  private var servicesByType: [ObjectIdentifier: Namesakes] = [:]
  /// The entries of each image, in order of registration, including removed ones, because images stay mapped.
  private var images: [MappedImage.ID: [RegisteredEntry]] = [:]
  /// The targets and routes, which layers above use, in order of registration.
  private(set) var others: [RegisteredEntry] = []
  /// Changes whenever a target or a route comes or goes.
  private(set) var otherVersion = 0
  /// Changes whenever an entry comes or goes.
  private(set) var version = 0
  /// Whether any service was ever unbound.
  private(set) var hasUnbound = false
  /// The record that others read the states of entries from; only the Hive of the process has one.
  private var stateRecord: StateRecord?

  /// Creates an empty table.
  init(stateRecord: StateRecord? = nil) { self.stateRecord = stateRecord }

  /// Every entry that is part of the Hive, in order of registration.
  var all: [RegisteredEntry] { entries { _ in true } }

  /// Returns the entries that fulfil `condition`, in order of registration. Looks at every entry.
  func entries(where condition: (RegisteredEntry) -> Bool) -> [RegisteredEntry] {
    made.filter(condition)
  }

  /// Returns the services or modules of this name, including rejected ones.
  func named(_ kind: RecordKind, _ name: String) -> Namesakes {
    filed[.named(kind, name)] ?? Namesakes()
  }

  /// Returns the services that are known to serve as a type, whatever their name.
  func serving(_ type: ObjectIdentifier) -> Namesakes { servicesByType[type] ?? Namesakes() }

  /// Returns the names of all services, or of all modules.
  func names(of kind: RecordKind) -> Set<String> {
    Set(filed.keys.compactMap { if case .named(kind, let name) = $0 { name } else { nil } })
  }

  /// Finds the services that a lookup may mean: those with any of these names, and those whose code says that they
  /// serve as `type`, whatever their name.
  ///
  /// - Parameters:
  ///   - names: Every way to spell the type.
  ///   - type: The type; nil for a lookup by name only.
  ///   - given: The given name that they must have; nil for any.
  /// - Returns: The services, each name's in order of registration, and the `version` that they were found at.
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

  /// Returns the entries of an image, including removed ones.
  func declared(by image: MappedImage.ID) -> [RegisteredEntry] { images[image] ?? [] }

  /// The remedy if entries of an image were removed.
  static let adviceOnRemoved =
    "opening it again registers nothing; hive.plugins.load brings a plugin back, else open a new build from a file of another name"

  /// Returns the removed services of a name that images declare. Looks at every entry.
  func removed(_ service: String) -> [RegisteredEntry] {
    images.values.joined().filter { $0.isWithdrawn && $0.kind == .service && $0.name == service }
  }

  // MARK: Coming

  /// Takes note of an image and makes room for its entries, which come next.
  mutating func expect(_ entries: [RegisteredEntry], of image: MappedImage) {
    stateRecord?.add(image)
    images[image.id] = entries
    filed.reserveCapacity(filed.count + entries.count)
  }

  /// Adds an entry. A duplicate is kept, as rejected.
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

  /// Sets the progress of an entry, unless the entry has left or been settled meanwhile. Returns the entries whose
  /// state changed: this one, and those that turn out to be its duplicates.
  mutating func set(
    _ progress: RegisteredEntry.Progress, for entry: RegisteredEntry
  ) -> [RegisteredEntry] {
    guard !entry.isWithdrawn, entry.isUnbound else { return [] }
    entry.progress = progress
    fileByType(entry)
    // The type that an entry serves as, and so its duplicates, may be known only now.
    let rivals = rivals(of: entry)
    entry.reject(ifDuplicateAmong: rivals.filter { $0.order < entry.order })
    if case .rejected = progress {
      // An entry that cannot serve is no reason to reject others.
      giveTurns(among: rivals)
    } else if case .bound = entry.progress {
      return [entry]
        + rivals.filter { $0.order > entry.order && $0.reject(ifDuplicateAmong: [entry]) }
    }
    return [entry]
  }

  /// Files a service under the type that it serves as, if that is known. Returns the others there of its given name.
  @discardableResult
  private mutating func fileByType(_ entry: RegisteredEntry) -> [RegisteredEntry] {
    guard entry.kind == .service, let type = entry.servedType else { return [] }
    entry.filedType = type
    return servicesByType[type, default: Namesakes()].add(entry)
  }

  /// Returns the keys that an entry is filed by, besides its type.
  private func keys(of entry: RegisteredEntry) -> [EntryIdentity] {
    entry.kind == .service ? [.named(.service, entry.name)] : entry.identities
  }

  /// Returns the entries that could be duplicates of an entry, including itself, in order of registration.
  private func rivals(of entry: RegisteredEntry) -> [RegisteredEntry] {
    var rivals = keys(of: entry).flatMap { filed[$0]?.given(entry.givenName) ?? [] }
    if let type = entry.filedType {
      rivals += serving(type).given(entry.givenName).filter { $0.name != entry.name }
    }
    return rivals.sorted { $0.order < $1.order }
  }

  /// Reconsiders entries that were rejected as duplicates.
  private mutating func giveTurns(among list: [RegisteredEntry]) {
    for other in list {
      guard let before = other.setAside, case .rejected = other.progress else { continue }
      other.progress = before.progress
      other.setAside = nil
      // A later entry may have replaced it: an entry of a new build.
      other.reject(ifDuplicateAmong: rivals(of: other))
    }
  }

  /// Returns those removed entries whose instances no other entry shares.
  func withoutSharers(_ gone: [RegisteredEntry]) -> [RegisteredEntry] {
    gone.filter { entry in
      guard entry.attributes.shared != nil, let image = entry.image else { return true }
      return images[image]?.contains {
        $0.keeper === entry.keeper && !$0.isWithdrawn && $0.provider != nil
      } != true
    }
  }

  /// Reconsiders entries that were rejected as duplicates of removed entries.
  mutating func giveTurns(after gone: [RegisteredEntry]) {
    version += 1
    if gone.contains(where: \.kind.isOfLayersAbove) { otherVersion += 1 }
    for entry in gone { giveTurns(among: rivals(of: entry)) }
  }

  // MARK: The state record

  /// Writes the stage of every bound module to the state record, and the stage of modules that come later. Called when
  /// the modules are being started, have been started or were torn down.
  mutating func publish(
    arrival: ModuleStage?, switchedOff: Set<String>, _ stage: (RegisteredEntry) -> ModuleStage?
  ) {
    guard stateRecord != nil else { return }
    stateRecord?.arrival = arrival
    stateRecord?.switchedOff = switchedOff
    for entry in made where entry.kind == .module { entry.publish(stage(entry)) }
  }

  /// Writes the stage of a module that has been bound and was not tried yet.
  func publishArrival(of entry: RegisteredEntry) { stateRecord?.publishArrival(of: entry) }

  // MARK: Going

  /// Unbinds the entries that one call of `bind` has bound, and returns them.
  mutating func unbind(_ binding: Int) -> [RegisteredEntry] {
    let bound = entries {
      guard case .bound(.closure(let factory)) = $0.progress else { return false }
      return factory.binding == binding
    }
    for entry in bound { entry.progress = .accepted(.notYetLooked) }
    if !bound.isEmpty { hasUnbound = true }
    return bound
  }

  /// Removes the entries that fulfil `condition`, and returns them.
  ///
  /// Reconsiders entries that were rejected as their duplicates. Looks at every entry.
  mutating func withdraw(where condition: (RegisteredEntry) -> Bool) -> [RegisteredEntry] {
    withdraw(entries(where: condition))
  }

  /// Removes entries, and returns those that were still there.
  ///
  /// The entries of `next` replace them, and are added again if they have left. Without any, reconsiders entries that
  /// were rejected as duplicates.
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

  /// Adds removed entries again, and reconsiders those that were rejected as duplicates. Returns the added entries.
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
  /// Whether layers above use entries of this kind.
  fileprivate var isOfLayersAbove: Bool { self == .target || self == .route }
}

/// The entries of one name or of one type, grouped by given name.
struct Namesakes {
  /// The entries without a given name, in order of registration: most entries have none.
  private var unnamed: [RegisteredEntry] = []
  /// The other entries by their given names, each group in order of registration; no group is empty.
  private var named: [String: [RegisteredEntry]] = [:]

  var isEmpty: Bool { unnamed.isEmpty && named.isEmpty }

  /// Every entry, in order of registration.
  var all: [RegisteredEntry] {
    named.isEmpty
      ? unnamed : (unnamed + named.values.joined()).sorted { $0.order < $1.order }
  }

  /// Returns the entries with this given name, or without any for nil; in order of registration.
  func given(_ name: String?) -> [RegisteredEntry] { name.map { named[$0] ?? [] } ?? unnamed }

  /// Inserts an entry in its order, and returns the others of its given name. The time grows with their number.
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
    // The usual case, and cheaper.
    if place == count { append(entry) } else { insert(entry, at: place) }
  }
}

extension Dictionary where Value == Namesakes {
  fileprivate mutating func remove(_ entry: RegisteredEntry, for key: Key) {
    guard let place = index(forKey: key) else { return }
    values[place].remove(entry)
    if values[place].isEmpty { remove(at: place) }
  }
}
