internal import BinaryImage
internal import Registration

/// Every entry of a Hive, and which of them answers to a name. Lives under the Hive's lock.
///
/// What one image declares is added and withdrawn at the cost of its own entries, however many others
/// there are. A plain entry is no more than a place until its values are asked for, or a namesake comes.
struct EntryTable {
  /// What has a name: entries, or the place of the only one that has it.
  private enum Named {
    case place(Place)
    case entries(Namesakes)
  }

  /// A plain entry whose values were not asked for yet.
  private struct Place: Equatable {
    let image: MappedImage.ID
    /// Its number among the views of the image's records.
    let index: Int
  }

  /// What one image declares. A class: each entry that is made changes it.
  private final class ImagePart: @unchecked Sendable {
    // Sound: the variables are read and written under the lock of the Hive that owns the table.
    let records: LoadedRecords
    let firstOrder: UInt64
    /// How many of the plain entries are places.
    var unmadeCount: Int
    /// Those that are made.
    var entries: [RegisteredEntry] = []

    init(_ arrival: ArrivingEntries) {
      (records, firstOrder) = (arrival.records, arrival.firstOrder)
      unmadeCount = arrival.plainCount
    }
  }

  /// Those that are made, by their order.
  ///
  /// Who takes one out releases it with no lock held, since that may destroy an instance of the user's.
  private var made: [UInt64: RegisteredEntry] = [:]
  /// The modules and services by the hash of their name, which another name may have too.
  private var names: [UInt32: Named] = [:]
  /// The services that are known to serve as a type.
  var servicesByType: [ObjectIdentifier: Namesakes] = [:]
  private var images: [MappedImage.ID: ImagePart] = [:]
  /// The targets and routes, which layers above make something of, in order of registration.
  var others: [RegisteredEntry] = []
  /// The same by what tells them apart.
  var othersByIdentity: [EntryIdentity: Namesakes] = [:]
  /// Changes whenever one of those comes or goes.
  var otherVersion = 0
  /// Changes whenever an entry comes or goes.
  private(set) var version = 0
  /// Those that are made and that nothing makes yet.
  var knownUnboundCount = 0
  private var unmadeCount = 0
  /// Where others read what became of the entries; the Hive of the process alone has one.
  private var stateRecord: StateRecord?

  /// An empty table.
  init(stateRecord: StateRecord? = nil) { self.stateRecord = stateRecord }

  /// How many entries there are that nothing makes yet, at most.
  var unboundCount: Int { knownUnboundCount + unmadeCount }

  /// Every entry that is part of the Hive, in order of registration.
  var all: [RegisteredEntry] { mutating get { entries { _ in true } } }

  /// Those for which `condition` holds, in order of registration. Looks at every entry.
  mutating func entries(where condition: (RegisteredEntry) -> Bool) -> [RegisteredEntry] {
    if unmadeCount > 0 { for image in images.keys { makeAll(of: image) } }
    return made.values.filter(condition).sorted { $0.order < $1.order }
  }

  /// The services of this name, the rejected ones among them, in order of registration.
  mutating func services(named name: String) -> [RegisteredEntry] {
    namesakes(name, .service).all.filter { $0.isCalled(name, .service) }
  }

  /// Those of them that have this given name, or none. At no cost for the others.
  mutating func services(named name: String, given: String?) -> [RegisteredEntry] {
    namesakes(name, .service).given(given).filter { $0.isCalled(name, .service) }
  }

  /// The services that are known to serve as a type, whatever their name; with a given name, those that
  /// have it.
  func services(serving type: ObjectIdentifier, given: String?) -> [RegisteredEntry] {
    given.map { servicesByType.given($0, for: type) } ?? servicesByType[type]?.all ?? []
  }

  /// The names of all services; those that were never asked for are not made for it.
  var serviceNames: [String] {
    var found: [String] = []
    for case .entries(let entries) in names.values {
      found += entries.all.filter { $0.kind == .service }.map(\.name)
    }
    for part in images.values where part.unmadeCount > 0 {
      part.records.forEachName { view, name in
        guard view.isPlain, view.kind == .service, case .place = names[view.hash],
          let text = try? UTF8Span(validating: name)
        else { return }
        found.append(String(copying: text))
      }
    }
    return found
  }

  /// The modules of this name.
  mutating func modules(named name: String) -> [RegisteredEntry] {
    namesakes(name, .module).all.filter { $0.isCalled(name, .module) }
  }

  /// What an image declares, in order of registration.
  mutating func entries(of image: MappedImage.ID) -> [RegisteredEntry] {
    makeAll(of: image)
    return (images[image]?.entries ?? []).sorted { $0.order < $1.order }
  }

  // MARK: Coming

  /// Takes in what an image declares, in its order.
  mutating func add(_ arrival: ArrivingEntries) {
    version += 1
    let (records, image) = (arrival.records, arrival.records.image.mapped.id)
    stateRecord?.add(records.image.mapped)
    images[image] = ImagePart(arrival)
    unmadeCount += arrival.plainCount
    names.reserveCapacity(names.count + arrival.count)
    var rest = arrival.made[...]
    for (index, view) in records.views.enumerated() {
      if view.isPlain {
        place(Place(image: image, index: index), view.hash)
      } else if rest.first?.order == arrival.firstOrder + UInt64(index) {
        add(rest.removeFirst())
      }
    }
    for entry in rest { add(entry) }
  }

  /// Takes in an entry; one that another already provides is kept, as rejected.
  mutating func add(_ entry: RegisteredEntry) {
    version += 1
    // A namesake whose values were not asked for came before it.
    if let hash = entry.hash { make(hash) }
    keep(entry)
  }

  private mutating func keep(_ entry: RegisteredEntry) {
    made[entry.order] = entry
    if let image = entry.image { images[image]?.entries.append(entry) }
    file(entry)
    stateRecord?.add(entry)
  }

  /// Notes a plain entry under the hash of its name; where that is in use, it is made at once.
  private mutating func place(_ place: Place, _ hash: UInt32) {
    guard let other = names.updateValue(.place(place), forKey: hash) else { return }
    names[hash] = other
    make(hash)
    make(place)
  }

  // MARK: Making

  /// The entries of a name, made if they were not, and of other names that have its hash.
  private mutating func namesakes(_ name: String, _ kind: RecordKind) -> Namesakes {
    let hash = NameHash.of(name.utf8Span.span, kind)
    make(hash)
    if case .entries(let entries) = names[hash] { return entries }
    return Namesakes()
  }

  private mutating func make(_ hash: UInt32) {
    guard case .place(let place) = names[hash] else { return }
    names[hash] = nil
    make(place)
  }

  /// Makes an entry, each once: its place is not found any more.
  private mutating func make(_ place: Place) {
    guard let part = images[place.image] else { return }
    part.unmadeCount -= 1
    unmadeCount -= 1
    keep(
      RegisteredEntry(
        part.records.views[place.index], of: part.records,
        order: part.firstOrder + UInt64(place.index), binding: .nothing))
  }

  private mutating func makeAll(of image: MappedImage.ID) {
    guard let part = images[image], part.unmadeCount > 0 else { return }
    for (index, view) in part.records.views.enumerated() where view.isPlain {
      let place = Place(image: image, index: index)
      if case .place(place) = names[view.hash] { make(view.hash) }
    }
  }

  // MARK: Names

  /// Puts a module or a service under its name.
  mutating func name(_ entry: RegisteredEntry, _ hash: UInt32) {
    var entries = Namesakes()
    // Taken out, or its groups would be copied.
    if case .entries(let others) = names.removeValue(forKey: hash) { entries = others }
    entries.add(entry)
    names[hash] = .entries(entries)
  }

  /// Takes it from under its name.
  mutating func unname(_ entry: RegisteredEntry, _ hash: UInt32) {
    guard case .entries(var entries) = names.removeValue(forKey: hash) else { return }
    entries.remove(entry)
    if !entries.isEmpty { names[hash] = .entries(entries) }
  }

  // MARK: The state record

  /// Says of each module that is made and bound why it does not run.
  mutating func publish(_ states: ModuleStates, switchedOff: Set<String>) {
    stateRecord?.publish(made.values, states, switchedOff: switchedOff)
  }

  /// A module that was not tried yet has been bound.
  func publishArrival(of entry: RegisteredEntry) { stateRecord?.publishArrival(of: entry) }

  // MARK: Going

  /// Takes back what the host gave with one call of `bind`; returns the entries that it had bound.
  mutating func unbind(_ binding: Int) -> [RegisteredEntry] {
    let bound = made.values.filter {
      guard case .bound(.closure(let factory)) = $0.progress else { return false }
      return factory.binding == binding
    }.sorted { $0.order < $1.order }
    for entry in bound { entry.progress = .accepted(.notYetLooked) }
    knownUnboundCount += bound.count
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
    let declared = gone.sorted().flatMap { entries(of: $0) }
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
      if entry.isUnbound { knownUnboundCount -= 1 }
      unfile(entry)
    }
    if gone.contains(where: { $0.kind == .target || $0.kind == .route }) {
      others.removeAll(where: \.isWithdrawn)
      otherVersion += 1
    }
    for image in Set(gone.compactMap(\.image)) {
      images[image]?.entries.removeAll(where: \.isWithdrawn)
    }
    return gone
  }
}

extension RegisteredEntry {
  /// The hash under which a module or service is found; nil of others, and where it has no name.
  var hash: UInt32? {
    guard !name.isEmpty, kind == .service || kind == .module else { return nil }
    return NameHash.of(name.utf8Span.span, kind)
  }

  fileprivate func isCalled(_ name: String, _ kind: RecordKind) -> Bool {
    self.kind == kind && self.name == name
  }
}
