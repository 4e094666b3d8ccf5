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
    let group: Int32
    let index: Int
  }

  /// What became of an entry that came.
  enum Arrival {
    /// Its name is new: it is made when it is asked for.
    case left
    /// Its name is taken by entries that are made: it has to be made as well.
    case meets
    /// The same, once this one has been made.
    case joins(Reference)
  }

  /// What one image declares. Under the same lock.
  private final class Group {
    let image: MappedImage.ID
    let outline: Outline
    let firstOrder: UInt64
    /// Which of the entries are still to be made.
    var isLeft: [Bool]

    init(_ outline: Outline, firstOrder: UInt64) {
      image = outline.image.mapped.id
      self.outline = outline
      self.firstOrder = firstOrder
      isLeft = outline.views.map { $0.isPlain }
    }
  }

  /// The place of one name in the table.
  private struct Place {
    var hash: UInt32
    /// The number of the group, or one of those below.
    var group: Int32
    var index: UInt32

    static let vacant: Int32 = -1
    /// Entries that are made have the name.
    static let made: Int32 = -2
    /// No entry has it any more.
    static let free: Int32 = -3
    static let empty = Place(hash: 0, group: vacant, index: 0)
  }

  /// By number; those of images that are gone are vacant.
  private var groups: [Group?] = []
  private var vacant: [Int32] = []
  private var numbers: [MappedImage.ID: Int32] = [:]
  /// Open addressing; the number of places is a power of two, and a quarter of them stays empty.
  private var places: [Place] = []
  private var usedCount = 0
  /// How many entries there are.
  private(set) var count = 0

  /// Whether there is room for as many more names; without it, `rebuild` comes first.
  func hasRoom(for more: Int) -> Bool { (usedCount + more) * 4 <= places.count * 3 }

  /// Makes room for more names beside those that entries which are made have: these hashes.
  mutating func rebuild(for more: Int, made: [UInt32]) {
    let old = places.filter { $0.group >= 0 }
    var capacity = 64
    while capacity * 3 < (old.count + made.count + more) * 4 { capacity *= 2 }
    places = Array(repeating: .empty, count: capacity)
    usedCount = 0
    for place in old { fill(position(of: place.hash), place) }
    for hash in made { _ = claim(hash) }
  }

  /// Begins with an image, of which `add` then takes in each plain entry; the group's number.
  mutating func begin(_ outline: Outline, firstOrder: UInt64) -> Int32 {
    let group = Group(outline, firstOrder: firstOrder)
    let number = vacant.popLast() ?? Int32(groups.count)
    if number == groups.count { groups.append(group) } else { groups[Int(number)] = group }
    numbers[group.image] = number
    return number
  }

  /// Takes in a plain entry. There is room.
  mutating func add(_ hash: UInt32, group number: Int32, index: Int) -> Arrival {
    count += 1
    let position = position(of: hash)
    switch places[position].group {
    case Place.vacant, Place.free:
      fill(position, Place(hash: hash, group: number, index: UInt32(index)))
      return .left
    case Place.made: return .meets
    default: return claim(hash).map(Arrival.joins) ?? .meets
    }
  }

  /// Gives a name to entries that are made: the entry that had it until now and must be made.
  mutating func claim(_ hash: UInt32) -> Reference? {
    let position = position(of: hash)
    let place = places[position]
    fill(position, Place(hash: hash, group: Place.made, index: 0))
    guard place.group >= 0 else { return nil }
    return Reference(group: place.group, index: Int(place.index))
  }

  /// Gives up a name that no entry has any more.
  mutating func free(_ hash: UInt32) {
    guard usedCount > 0 else { return }
    let position = position(of: hash)
    if places[position].group == Place.made { places[position].group = Place.free }
  }

  /// The entry that a name may mean and that is to be made for it.
  mutating func take(_ hash: UInt32) -> Reference? {
    guard count > 0, places[position(of: hash)].group >= 0 else { return nil }
    return claim(hash)
  }

  /// The entries of an image that are left, which are to be made.
  mutating func take(of image: MappedImage.ID) -> [Reference] {
    guard let number = numbers[image], let group = groups[Int(number)] else { return [] }
    return group.isLeft.indices.compactMap { index in
      group.isLeft[index] ? claim(group.outline.views[index].hash) : nil
    }
  }

  /// The names of the plain entries of a kind, also of those that were made meanwhile.
  func names(of kind: RecordKind) -> [String] {
    var names: [String] = []
    for group in groups {
      group?.outline.forEachName { entry, name in
        guard entry.kind == kind, entry.isPlain, let text = try? UTF8Span(validating: name) else {
          return
        }
        names.append(String(copying: text))
      }
    }
    return names
  }

  /// The images that entries are left of.
  var images: [MappedImage.ID] { Array(numbers.keys) }

  /// Makes an entry that was taken, each once.
  mutating func make(_ reference: Reference) -> RegisteredEntry? {
    guard let group = groups[Int(reference.group)] else { return nil }
    group.isLeft[reference.index] = false
    count -= 1
    return RegisteredEntry(
      group.outline.views[reference.index], of: group.outline,
      order: group.firstOrder + UInt64(reference.index), binding: .nothing)
  }

  /// Forgets an image of which no entry is left.
  mutating func forget(_ image: MappedImage.ID) {
    guard let number = numbers.removeValue(forKey: image) else { return }
    groups[Int(number)] = nil
    vacant.append(number)
  }

  /// The position of a hash, or the one that it would get.
  private func position(of hash: UInt32) -> Int {
    var position = Int(hash) & (places.count - 1)
    while places[position].group != Place.vacant, places[position].hash != hash {
      position = (position + 1) & (places.count - 1)
    }
    return position
  }

  private mutating func fill(_ position: Int, _ place: Place) {
    if places[position].group == Place.vacant { usedCount += 1 }
    places[position] = place
  }
}
