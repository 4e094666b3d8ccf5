internal import BinaryImage

/// The images that a Hive has taken in and that matter later. Lives under the Hive's lock.
struct KnownImages {
  /// What is known of one image with entries.
  struct Known {
    var image: LoadedImage
    /// Whether it will never be unmapped: it carries Swift, or is the program itself.
    var isPinned: Bool
    /// Keeps it mapped while something of it is in use.
    var hold: ImageHold?
    /// How many entries it declared.
    var entryCount: Int
    /// Those of its entries that were removed by code.
    var removed: [RegisteredEntry] = []
    /// How many announcements there had been by then.
    var announcementsAtRemoval: UInt = 0
  }

  private var images: [MappedImage.ID: Known] = [:]
  private var failures: [MappedImage.ID: ImageError] = [:]
  private var remarks: [MappedImage.ID: ImageError] = [:]
  /// At which look what is known of each image was copied; the last of all for what is gone.
  private var looks: [MappedImage.ID: Int] = [:]

  /// Why images could not be inspected, and what else is wrong with whole images; each once.
  var problems: [ImageError] {
    (Array(failures) + Array(remarks)).sorted { $0.key < $1.key }.map(\.value)
  }

  subscript(id: MappedImage.ID) -> Known? { images[id] }

  /// Why an image could not be inspected.
  func failure(of id: MappedImage.ID) -> ImageError? { failures[id] }

  /// Whether an image has been merged, or has gone before it could be.
  func contains(_ id: MappedImage.ID) -> Bool { looks[id] != nil }

  /// Whether nothing that is known of an image was copied later than at this look.
  func isNews(_ id: MappedImage.ID, at look: Int) -> Bool { looks[id].map { $0 < look } ?? true }

  /// Whether another image may take the place of one that has entries, or that could not be read.
  func mayGo(_ id: MappedImage.ID) -> Bool {
    guard let known = images[id] else { return failures[id] != nil }
    return !known.isPinned && known.hold == nil
  }

  /// Takes in an image as it was at a look, in place of what is known of it; what held that, unless a
  /// call of it is under way. One without entries is only remembered as seen.
  mutating func merge(_ id: MappedImage.ID, _ known: Known?, at look: Int) -> ImageReference? {
    looks[id] = look
    failures[id] = nil
    let hold = images[id]?.hold
    images[id] = known
    hold?.keepers = []
    return hold.flatMap { letGo($0) }
  }

  /// Takes in an image that cannot be inspected.
  @discardableResult
  mutating func fail(_ id: MappedImage.ID, _ error: ImageError, at look: Int) -> ImageReference? {
    let reference = merge(id, nil, at: look)
    failures[id] = error
    return reference
  }

  /// An image was at a look what is known of it.
  mutating func confirm(_ id: MappedImage.ID, at look: Int) { looks[id] = look }

  /// Notes what is wrong with an image that can be read.
  mutating func remark(_ id: MappedImage.ID, _ error: ImageError) { remarks[id] = error }

  /// Forgets what is known of an image that is gone; what held it. Its identity never comes again, so
  /// that one which another thread is still taking in is not merged afterwards.
  mutating func forget(_ id: MappedImage.ID) -> ImageReference? {
    let reference = merge(id, nil, at: .max)
    remarks[id] = nil
    return reference
  }

  /// Notes that an entry was removed by code, after so many announcements.
  mutating func noteRemoval(of entry: RegisteredEntry, after announcements: UInt) {
    guard let id = entry.image else { return }
    images[id]?.removed.append(entry)
    images[id]?.announcementsAtRemoval = announcements
  }

  /// Returns what was removed by code of an image that is surely the one that it was then: it is held, or
  /// it would have announced that it went.
  func removed(of id: MappedImage.ID, announces: Bool, announcements: UInt) -> [RegisteredEntry] {
    guard let known = images[id] else { return [] }
    let isSame =
      known.hold != nil || (announces && known.announcementsAtRemoval == announcements)
    return isSame ? known.removed : []
  }

  /// Holds an image by this reference, unless one holds it already or it is not known.
  mutating func hold(_ id: MappedImage.ID, _ reference: ImageReference) {
    guard images[id] != nil, images[id]?.hold == nil else { return }
    images[id]?.hold = ImageHold(id, reference)
  }

  /// Lets go of an image that nothing uses any more; what held it.
  mutating func letGo(_ hold: ImageHold) -> ImageReference? {
    guard hold.isIdle else { return nil }
    if images[hold.image]?.hold === hold { images[hold.image]?.hold = nil }
    return hold.reference
  }
}
