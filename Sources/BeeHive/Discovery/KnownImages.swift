internal import BinaryImage
internal import LibC

/// What a Hive knows of each image: one state per identity. Lives under the Hive's lock.
struct KnownImages {
  /// An image that declares entries.
  struct Registered {
    var image: LoadedImage
    /// Whether it is never unmapped: it carries Swift, or is the program itself.
    var isPinned: Bool
    /// Whether it announces that it is mapped and unmapped.
    var announces: Bool
    /// Keeps it mapped while something of it is in use.
    var hold: ImageHold?
    /// The number of entries that it declared.
    var entryCount: Int
    /// Its entries that code removed.
    var removed: [RegisteredEntry] = []
    /// The number of announcements when code last removed one.
    var announcementsAtRemoval: UInt = 0
  }

  private struct Known {
    /// The number of the snapshot that this was copied in; nil where the image is not merged yet.
    ///
    /// It is `Int.max` for an unmapped image. Its identity is never used again, so a thread that still copies
    /// the image merges nothing.
    var generation: Int?
    /// Nil where it declares nothing.
    var registered: Registered?
    /// Why its sections cannot be found.
    var failure: ImageError?
    /// What is wrong with the image as a whole, although it can be read.
    var remark: ImageError?
  }

  private var images: [MappedImage.ID: Known] = [:]
  /// The calls that keep an image mapped while they run.
  private var visits: [Visit] = []

  /// What is wrong with whole images, each once, in the order of their identities.
  var problems: [ImageError] {
    images.sorted { $0.key < $1.key }.flatMap { _, known in
      [known.failure, known.remark].compactMap(\.self)
    }
  }

  /// The image with entries of this identity.
  subscript(id: MappedImage.ID) -> Registered? { images[id]?.registered }

  /// Why an image could not be inspected.
  func failure(of id: MappedImage.ID) -> ImageError? { images[id]?.failure }

  /// Returns whether an image was merged, or was removed before it could be.
  func contains(_ id: MappedImage.ID) -> Bool { images[id]?.generation != nil }

  /// Returns whether a snapshot is later than what is known.
  func isNews(_ id: MappedImage.ID, at generation: Int) -> Bool {
    (images[id]?.generation).map { $0 < generation } ?? true
  }

  /// Returns whether another image may have replaced one that has entries, or that could not be read.
  func mayGo(_ id: MappedImage.ID) -> Bool {
    self[id].map { !$0.isPinned && $0.hold == nil } ?? (failure(of: id) != nil)
  }

  /// Replaces what is known of an image by a snapshot; `image` is nil where it declares nothing.
  ///
  /// - Returns: The reference that kept the image mapped, unless a call into it is running. The caller
  ///   releases it without a lock.
  mutating func merge(
    _ id: MappedImage.ID, _ image: Registered?, at generation: Int
  ) -> ImageReference? {
    set(id, Known(generation: generation, registered: image, remark: images[id]?.remark))
  }

  /// Records that an image cannot be inspected. Returns what `merge` does.
  @discardableResult
  mutating func fail(
    _ id: MappedImage.ID, _ error: ImageError, at generation: Int
  ) -> ImageReference? {
    set(id, Known(generation: generation, failure: error, remark: images[id]?.remark))
  }

  /// Records that an image is unchanged in a snapshot.
  mutating func confirm(_ id: MappedImage.ID, at generation: Int) {
    images[id]?.generation = generation
  }

  /// Records what is wrong with an image that can be read.
  mutating func remark(_ id: MappedImage.ID, _ error: ImageError) {
    images[id, default: Known()].remark = error
  }

  /// Records that an image was unmapped. Returns what `merge` does.
  mutating func forget(_ id: MappedImage.ID) -> ImageReference? { set(id, Known(generation: .max)) }

  private mutating func set(_ id: MappedImage.ID, _ known: Known) -> ImageReference? {
    let hold = self[id]?.hold
    images[id] = known
    hold?.keepers = []
    return hold.flatMap { letGo($0) }
  }

  /// Records that this thread calls an image; nil where nothing is known of it.
  mutating func visit(_ id: MappedImage.ID) -> Visit? {
    guard let image = self[id]?.image else { return nil }
    visits.append(Visit(bias: image.mapped.bias))
    return visits.last
  }

  /// Records that a call is over.
  mutating func end(_ visit: Visit) {
    if let index = visits.lastIndex(of: visit) { visits.remove(at: index) }
  }

  /// Returns whether another thread than this one is inside a call of one of these images.
  func isVisited(_ images: Set<MappedImage.ID>) -> Bool {
    let places = images.compactMap { self[$0]?.image.mapped.bias }
    return visits.contains { places.contains($0.bias) && $0.thread != pthread_self() }
  }

  /// Records that code removed an entry, after this number of announcements.
  mutating func noteRemoval(of entry: RegisteredEntry, after announcements: UInt) {
    guard let id = entry.image else { return }
    images[id]?.registered?.removed.append(entry)
    images[id]?.registered?.announcementsAtRemoval = announcements
  }

  /// Returns what code removed of an image, if that is certainly the same image as then: it is held, or
  /// it would have announced that it was unmapped.
  func removed(of id: MappedImage.ID, announces: Bool, announcements: UInt) -> [RegisteredEntry] {
    guard let image = self[id] else { return [] }
    let isSame =
      image.hold != nil || (announces && image.announcementsAtRemoval == announcements)
    return isSame ? image.removed : []
  }

  /// Holds an image by this reference, unless it is held already or not known.
  mutating func hold(_ id: MappedImage.ID, _ reference: ImageReference) {
    if self[id]?.hold == nil { images[id]?.registered?.hold = ImageHold(id, reference) }
  }

  /// Ends a hold that nothing uses. Returns its reference, for the caller to release; nil while it is in use.
  mutating func letGo(_ hold: ImageHold) -> ImageReference? {
    guard hold.isIdle else { return nil }
    if self[hold.image]?.hold === hold { images[hold.image]?.registered?.hold = nil }
    return hold.reference
  }
}
