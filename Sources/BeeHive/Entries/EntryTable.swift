internal import BinaryImage
internal import Registration

/// Every entry of a Hive, and which of them answers to a name. Lives under the Hive's lock.
///
/// What one image declares is added and withdrawn at the cost of its own entries, however many others
/// there are.
struct EntryTable {
  /// All, by their order.
  ///
  /// Who takes one out releases it with no lock held, since that may destroy an instance of the user's.
  private var made: [UInt64: RegisteredEntry] = [:]
  /// The services by their names.
  var services: [String: Namesakes] = [:]
  /// The modules by theirs.
  var modules: [String: Namesakes] = [:]
  /// The services that are known to serve as a type.
  var servicesByType: [ObjectIdentifier: Namesakes] = [:]
  /// The entries of each image, in order of registration.
  private var images: [MappedImage.ID: [RegisteredEntry]] = [:]
  /// The targets and routes, which layers above make something of, in order of registration.
  var others: [RegisteredEntry] = []
  /// The same by what tells them apart.
  var othersByIdentity: [EntryIdentity: Namesakes] = [:]
  /// Changes whenever one of those comes or goes.
  var otherVersion = 0
  /// Changes whenever an entry comes or goes.
  private(set) var version = 0
  /// The number of entries that nothing makes yet.
  var unboundCount = 0
  /// Where others read what became of the entries; the Hive of the process alone has one.
  private var stateRecord: StateRecord?

  /// An empty table.
  init(stateRecord: StateRecord? = nil) { self.stateRecord = stateRecord }

  /// Every entry that is part of the Hive, in order of registration.
  var all: [RegisteredEntry] { entries { _ in true } }

  /// Those for which `condition` holds, in order of registration. Looks at every entry.
  func entries(where condition: (RegisteredEntry) -> Bool) -> [RegisteredEntry] {
    made.values.filter(condition).sorted { $0.order < $1.order }
  }

  /// The services of this name, the rejected ones among them, in order of registration.
  func services(named name: String) -> [RegisteredEntry] { services[name]?.all ?? [] }

  /// Those of them that have this given name, or none. At no cost for the others.
  func services(named name: String, given: String?) -> [RegisteredEntry] {
    services.given(given, for: name)
  }

  /// The services that are known to serve as a type, whatever their name; with a given name, those that
  /// have it.
  func services(serving type: ObjectIdentifier, given: String?) -> [RegisteredEntry] {
    given.map { servicesByType.given($0, for: type) } ?? servicesByType[type]?.all ?? []
  }

  /// The names of all services.
  var serviceNames: [String] { Array(services.keys) }

  /// The names of all modules.
  var moduleNames: Set<String> { Set(modules.keys) }

  /// Whether anything is left that an image declares.
  func hasEntries(of image: MappedImage.ID) -> Bool { images[image]?.isEmpty == false }

  /// The modules of this name.
  func modules(named name: String) -> [RegisteredEntry] { modules[name]?.all ?? [] }

  // MARK: Coming

  /// Takes note of an image and makes room for its entries, which come next.
  mutating func expect(_ entries: [RegisteredEntry], of image: MappedImage) {
    stateRecord?.add(image)
    images[image.id] = entries
    made.reserveCapacity(made.count + entries.count)
    services.reserveCapacity(services.count + entries.count { $0.kind == .service })
    modules.reserveCapacity(modules.count + entries.count { $0.kind == .module })
  }

  /// Takes in an entry; one that another already provides is kept, as rejected.
  mutating func add(_ entry: RegisteredEntry) {
    version += 1
    made[entry.order] = entry
    file(entry)
    stateRecord?.add(entry)
  }

  // MARK: The state record

  /// Says of each bound module why it does not run.
  mutating func publish(
    arrival: ModuleStage?, switchedOff: Set<String>, _ stage: (RegisteredEntry) -> ModuleStage?
  ) {
    stateRecord?.publish(
      modules.values.lazy.flatMap(\.all), arrival: arrival, switchedOff: switchedOff, stage)
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
    unboundCount += bound.count
    return bound
  }

  /// Takes out every entry for which `condition` holds, and returns them.
  ///
  /// What was rejected as a duplicate of one that goes gets its turn. Looks at every entry.
  mutating func withdraw(where condition: (RegisteredEntry) -> Bool) -> [RegisteredEntry] {
    withdraw(entries(where: condition))
  }

  /// Takes out what these images declare, and returns it. Looks at nothing else.
  mutating func withdraw(imagesOf gone: Set<MappedImage.ID>) -> [RegisteredEntry] {
    let declared = gone.sorted().flatMap { images[$0] ?? [] }
    defer {
      for image in gone {
        images[image] = nil
        stateRecord?.remove(image)
      }
    }
    return withdraw(declared.filter { !$0.isWithdrawn })
  }

  private mutating func withdraw(_ gone: [RegisteredEntry]) -> [RegisteredEntry] {
    if !gone.isEmpty { version += 1 }
    for entry in gone {
      entry.isWithdrawn = true
      made[entry.order] = nil
      if entry.isUnbound { unboundCount -= 1 }
      unfile(entry)
    }
    if gone.contains(where: { $0.kind == .target || $0.kind == .route }) {
      others.removeAll(where: \.isWithdrawn)
      otherVersion += 1
    }
    for image in Set(gone.compactMap(\.image)) {
      images[image]?.removeAll(where: \.isWithdrawn)
    }
    return gone
  }
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

  /// Inserts an entry in its order. The time grows with the number of later entries of the same given name.
  mutating func add(_ entry: RegisteredEntry) {
    let earlier = given(entry.givenName).lastIndex { $0.order < entry.order }
    let place = earlier.map { $0 + 1 } ?? 0
    if let name = entry.givenName {
      named[name, default: []].insert(entry, at: place)
    } else {
      unnamed.insert(entry, at: place)
    }
  }

  /// Takes out an entry.
  mutating func remove(_ entry: RegisteredEntry) {
    guard let name = entry.givenName else { return unnamed.removeAll { $0 === entry } }
    named[name]?.removeAll { $0 === entry }
    if named[name]?.isEmpty == true { named[name] = nil }
  }
}

extension Dictionary where Value == Namesakes {
  /// Those of a key that have this given name, or none; in order of registration.
  func given(_ name: String?, for key: Key) -> [RegisteredEntry] { self[key]?.given(name) ?? [] }

  /// Takes in an entry.
  mutating func add(_ entry: RegisteredEntry, for key: Key) {
    self[key, default: Namesakes()].add(entry)
  }

  /// Takes out an entry.
  mutating func remove(_ entry: RegisteredEntry, for key: Key) {
    self[key]?.remove(entry)
    if self[key]?.isEmpty == true { self[key] = nil }
  }
}
