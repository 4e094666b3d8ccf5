internal import BinaryImage

/// The images that a Hive has taken in and that matter later. Lives under the Hive's lock.
struct KnownImages {
  /// What is known of one image with entries.
  struct Known {
    var image: LoadedImage
    /// Whether it will never be unmapped: it carries Swift, or is the program itself.
    var isPinned: Bool
    /// Keeps it mapped since something of it was handed out.
    var reference: ImageReference?
    /// How many entries it declared.
    var entryCount: Int
  }

  private var images: [MappedImage.ID: Known] = [:]
  private var failures: [MappedImage.ID: ImageError] = [:]
  private var remarks: [MappedImage.ID: ImageError] = [:]
  /// Every image up to here has been merged or has gone, and those of `late` besides.
  private var merged: Set<MappedImage.ID> = []

  /// Why images could not be inspected, and what else is wrong with whole images; each once.
  var problems: [ImageError] {
    (Array(failures) + Array(remarks)).sorted { $0.key < $1.key }.map(\.value)
  }

  subscript(id: MappedImage.ID) -> Known? { images[id] }

  /// Whether an image has been merged, or has gone before it could be.
  func contains(_ id: MappedImage.ID) -> Bool { merged.contains(id) }

  /// Whether an image has entries and may really be unmapped.
  func mayGo(_ id: MappedImage.ID) -> Bool {
    guard let known = images[id] else { return false }
    return !known.isPinned && known.reference == nil
  }

  /// Takes in an image; one without entries is only remembered as seen.
  mutating func merge(_ id: MappedImage.ID, _ known: Known?) {
    merged.insert(id)
    images[id] = known
  }

  mutating func fail(_ id: MappedImage.ID, _ error: ImageError) {
    merged.insert(id)
    failures[id] = error
  }

  /// Notes what is wrong with an image that can be read.
  mutating func remark(_ id: MappedImage.ID, _ error: ImageError) { remarks[id] = error }

  /// Forgets what is known of images that are gone. Their identities never come again, so that one
  /// which another thread is still taking in is not merged afterwards.
  mutating func forget(_ id: MappedImage.ID) {
    merged.insert(id)
    images[id] = nil
    failures[id] = nil
    remarks[id] = nil
  }

  mutating func hold(_ id: MappedImage.ID, _ reference: ImageReference) -> Bool {
    guard images[id] != nil, images[id]?.reference == nil else { return false }
    images[id]?.reference = reference
    return true
  }
}
