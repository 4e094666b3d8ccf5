internal import BinaryImage
internal import Registration

/// Plain entries whose values were not asked for yet, and the names in use. Lives under the Hive's lock.
///
/// Of each the outline of its image is known and the hash of its name, nothing else: so an image with
/// thousands of entries arrives in the time that it takes to read them. One is made when its name is
/// asked for, or when a namesake comes, which may only be another name of the same hash.
struct UnmadeEntries {
  /// An entry: one of the views of an image's outline.
  struct Reference {
    let image: MappedImage.ID
    let index: Int
  }

  /// What one image declares. Under the same lock.
  private struct Group {
    let outline: Outline
    let firstOrder: UInt64
    /// Which of the entries are still to be made.
    var isLeft: [Bool]
  }

  /// The place of one name in the table.
  private struct Place {
    var hash: UInt32
    /// The image of the entry, or one of those below.
    var image: Int32
    var index: UInt32

    static let vacant: Int32 = -1
    /// Entries that are made have the name.
    static let made: Int32 = -2
    /// No entry has it any more.
    static let free: Int32 = -3
    static let empty = Place(hash: 0, image: vacant, index: 0)
  }

  private var groups: [MappedImage.ID: Group] = [:]
  /// Open addressing; the number of places is a power of two, and a quarter of them stays empty.
  private var places: [Place] = []
  private var usedCount = 0
  /// How many entries there are.
  private(set) var count = 0

  /// Makes room for more names, beside those that entries which are made have: these hashes.
  mutating func makeRoom(for more: Int, made: @autoclosure () -> [UInt32]) {
    guard (usedCount + more) * 4 > places.count * 3 else { return }
    let old = places.filter { $0.image >= 0 }
    let made = made()
    var capacity = 64
    while capacity * 3 < (old.count + made.count + more) * 4 { capacity *= 2 }
    places = Array(repeating: .empty, count: capacity)
    usedCount = 0
    for place in old { fill(position(of: place.hash), place) }
    for hash in made { _ = claim(hash) }
  }

  /// Begins with an image, of which `add` then takes in each plain entry.
  mutating func begin(_ outline: Outline, firstOrder: UInt64) {
    groups[outline.image.mapped.id] = Group(
      outline: outline, firstOrder: firstOrder, isLeft: outline.views.map { $0.isPlain })
  }

  /// Adds a plain entry, for which there is room. Returns false if the hash is in use: the caller then makes
  /// this entry, and the other one if it is unmade.
  mutating func add(_ entry: Reference, named hash: UInt32) -> Bool {
    count += 1
    let position = position(of: hash)
    let image = places[position].image
    guard image < 0, image != Place.made else { return false }
    fill(position, Place(hash: hash, image: Int32(entry.image), index: UInt32(entry.index)))
    return true
  }

  /// Marks the hash as used by made entries. Returns the unmade entry that had it, which the caller must
  /// make.
  mutating func claim(_ hash: UInt32) -> Reference? {
    let position = position(of: hash)
    let place = places[position]
    fill(position, Place(hash: hash, image: Place.made, index: 0))
    guard place.image >= 0 else { return nil }
    return Reference(image: Int(place.image), index: Int(place.index))
  }

  /// Gives up a name that no entry has any more.
  mutating func free(_ hash: UInt32) {
    guard usedCount > 0 else { return }
    let position = position(of: hash)
    if places[position].image == Place.made { places[position].image = Place.free }
  }

  /// The entry that a name may mean and that is to be made for it.
  mutating func take(_ hash: UInt32) -> Reference? {
    guard count > 0, places[position(of: hash)].image >= 0 else { return nil }
    return claim(hash)
  }

  /// The entries of an image that are left, which are to be made.
  mutating func take(of image: MappedImage.ID) -> [Reference] {
    guard let group = groups[image] else { return [] }
    return group.isLeft.indices.compactMap { index in
      group.isLeft[index] ? claim(group.outline.views[index].hash) : nil
    }
  }

  /// The names of the plain entries of a kind, also of those that were made meanwhile.
  func names(of kind: RecordKind) -> [String] {
    var names: [String] = []
    for group in groups.values {
      group.outline.forEachName { entry, name in
        guard entry.kind == kind, entry.isPlain, let text = try? UTF8Span(validating: name) else {
          return
        }
        names.append(String(copying: text))
      }
    }
    return names
  }

  /// The images that entries are left of.
  var images: [MappedImage.ID] { Array(groups.keys) }

  /// Makes an entry that was taken, each once.
  mutating func make(_ reference: Reference) -> RegisteredEntry? {
    groups[reference.image]?.isLeft[reference.index] = false
    guard let group = groups[reference.image] else { return nil }
    count -= 1
    return RegisteredEntry(
      group.outline.views[reference.index], of: group.outline,
      order: group.firstOrder + UInt64(reference.index), binding: .nothing)
  }

  /// Forgets an image of which no entry is left.
  mutating func forget(_ image: MappedImage.ID) { groups[image] = nil }

  /// The position of a hash, or the one that it would get.
  private func position(of hash: UInt32) -> Int {
    var position = Int(hash) & (places.count - 1)
    while places[position].image != Place.vacant, places[position].hash != hash {
      position = (position + 1) & (places.count - 1)
    }
    return position
  }

  private mutating func fill(_ position: Int, _ place: Place) {
    if places[position].image == Place.vacant { usedCount += 1 }
    places[position] = place
  }
}
