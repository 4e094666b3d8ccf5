internal import BinaryImage
internal import Registration

/// Every entry of a Hive, and which of them answers to a name. Lives under the Hive's lock.
///
/// What one image declares is added and withdrawn at the cost of its own entries, however many others
/// there are; and what is never asked for is not even made.
struct EntryTable {
  private var made = MadeEntries()
  var unmade = UnmadeEntries()
  var services: [String: Namesakes] = [:]
  /// Those that are known to serve as a type.
  var servicesByType: [ObjectIdentifier: Namesakes] = [:]
  var modules: [String: Namesakes] = [:]
  private var images: [MappedImage.ID: [RegisteredEntry]] = [:]
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
  /// Where others read what became of the entries; the Hive of the process alone has one.
  private var stateRecord: StateRecord?

  /// An empty table.
  init(stateRecord: StateRecord? = nil) { self.stateRecord = stateRecord }

  /// How many entries there are that nothing makes yet, at most.
  var unboundCount: Int { knownUnboundCount + unmade.count }

  /// Every entry that is part of the Hive, in order of registration.
  var all: [RegisteredEntry] {
    mutating get {
      makeAll()
      return made.all
    }
  }

  /// The services of this name, the rejected ones among them, in order of registration.
  mutating func services(named name: String) -> [RegisteredEntry] {
    make(NameHash.of(name.utf8Span.span, .service))
    return services[name]?.all ?? []
  }

  /// Those of them that have this given name, or none. At no cost for the others.
  mutating func services(named name: String, given: String?) -> [RegisteredEntry] {
    make(NameHash.of(name.utf8Span.span, .service))
    return services.given(given, for: name)
  }

  /// The services that are known to serve as a type, whatever their name; with a given name, those that
  /// have it.
  func services(serving type: ObjectIdentifier, given: String?) -> [RegisteredEntry] {
    given.map { servicesByType.given($0, for: type) } ?? servicesByType[type]?.all ?? []
  }

  /// The names of all services; those that were never asked for are not made for it.
  var serviceNames: [String] { services.keys + unmade.names(of: .service) }

  /// The modules of this name.
  mutating func modules(named name: String) -> [RegisteredEntry] {
    make(NameHash.of(name.utf8Span.span, .module))
    return modules[name]?.all ?? []
  }

  /// What an image declares, in order of registration.
  mutating func entries(of image: MappedImage.ID) -> [RegisteredEntry] {
    makeAll(of: image)
    return (images[image] ?? []).sorted { $0.order < $1.order }
  }

  // MARK: Coming

  /// Takes in what an image declares, in its order.
  mutating func add(_ arrival: ImageEntries) {
    version += 1
    let (outline, image) = (arrival.outline, arrival.outline.image.mapped.id)
    stateRecord?.add(outline.image.mapped)
    makeRoom(for: arrival.count)
    unmade.begin(outline, firstOrder: arrival.firstOrder)
    var rest = arrival.made[...]
    for (index, view) in outline.views.enumerated() {
      guard view.isPlain else {
        if let next = rest.first, next.order == arrival.firstOrder + UInt64(index) {
          add(next)
          rest.removeFirst()
        }
        continue
      }
      let entry = UnmadeEntries.Reference(image: image, index: index)
      guard !unmade.add(entry, named: view.hash) else { continue }
      if let other = unmade.claim(view.hash) { make(other) }
      make(entry)
    }
    for entry in rest { add(entry) }
  }

  /// Takes in an entry; one that another already provides is kept, as rejected.
  mutating func add(_ entry: RegisteredEntry) {
    version += 1
    if !entry.name.isEmpty, entry.kind == .service || entry.kind == .module {
      makeRoom(for: 1)
      if let other = unmade.claim(NameHash.of(entry.name.utf8Span.span, entry.kind)) { make(other) }
    }
    keep(entry)
  }

  private mutating func keep(_ entry: RegisteredEntry) {
    made.append(entry)
    if let image = entry.image { images[image, default: []].append(entry) }
    file(entry)
    stateRecord?.add(entry)
  }

  private mutating func makeRoom(for more: Int) {
    unmade.makeRoom(
      for: more,
      made: services.keys.map { NameHash.of($0.utf8Span.span, .service) }
        + modules.keys.map { NameHash.of($0.utf8Span.span, .module) })
  }

  // MARK: Making

  private mutating func make(_ hash: UInt32) {
    if let reference = unmade.take(hash) { make(reference) }
  }

  private mutating func make(_ reference: UnmadeEntries.Reference) {
    if let entry = unmade.make(reference) { keep(entry) }
  }

  private mutating func makeAll(of image: MappedImage.ID) {
    for reference in unmade.take(of: image) { make(reference) }
    unmade.forget(image)
  }

  private mutating func makeAll() {
    if unmade.count > 0 { for image in unmade.images { makeAll(of: image) } }
  }

  // MARK: Going

  /// Takes back what the host gave with one call of `bind`; returns the entries that it had bound.
  mutating func unbind(_ binding: Int) -> [RegisteredEntry] {
    let bound = made.all.filter {
      guard case .bound(.closure(let factory)) = $0.progress else { return false }
      return factory.binding == binding
    }
    for entry in bound { entry.progress = .accepted(.notYetLooked) }
    knownUnboundCount += bound.count
    return bound
  }

  /// Takes out every entry for which `condition` holds, and returns them.
  ///
  /// What was rejected as a duplicate of one that goes gets its turn. Looks at every entry.
  mutating func withdraw(where condition: (RegisteredEntry) -> Bool) -> [RegisteredEntry] {
    withdraw(all.filter(condition))
  }

  /// Takes out what these images declare, and returns it. Looks at nothing else.
  mutating func withdraw(imagesOf gone: Set<MappedImage.ID>) -> [RegisteredEntry] {
    let declared = gone.sorted().flatMap { entries(of: $0) }
    defer { for image in gone { stateRecord?.remove(image) } }
    return withdraw(declared.filter { !$0.isWithdrawn })
  }

  private mutating func withdraw(_ gone: [RegisteredEntry]) -> [RegisteredEntry] {
    if !gone.isEmpty { version += 1 }
    for entry in gone {
      entry.isWithdrawn = true
      made.remove(entry)
      if entry.isUnbound { knownUnboundCount -= 1 }
      unfile(entry)
    }
    if gone.contains(where: { $0.kind == .target || $0.kind == .route }) {
      others.removeAll(where: \.isWithdrawn)
      otherVersion += 1
    }
    for image in Set(gone.compactMap(\.image)) {
      let left = images[image]?.filter { !$0.isWithdrawn }
      images[image] = left?.isEmpty == false ? left : nil
    }
    return gone
  }
}
