internal import BinaryImage

/// What a Hive knows of each image: one state per identity. Lives under the Hive's lock.
struct KnownImages {
  /// The outcome of looking at an image.
  enum State {
    /// It declares nothing.
    case empty
    /// It has registered, and stays mapped.
    case registered(LoadedImage)
    /// Its sections cannot be found.
    case failed(ImageError)
    /// It was unmapped. Its identity is never used again: a thread that still copies the image merges nothing.
    case gone
  }

  private var states: [MappedImage.ID: State] = [:]
  /// Faults of images that can be read.
  private var remarks: [MappedImage.ID: ImageError] = [:]

  subscript(id: MappedImage.ID) -> State? { states[id] }

  /// What is wrong with whole images, each once, in the order of their identities.
  var problems: [ImageError] {
    Set(states.keys).union(remarks.keys).sorted().flatMap { id in
      [failure(of: id), remarks[id]].compactMap(\.self)
    }
  }

  /// Why an image could not be inspected.
  func failure(of id: MappedImage.ID) -> ImageError? {
    if case .failed(let error) = states[id] { error } else { nil }
  }

  /// Returns whether nothing is left to find out about an image: one that could not be read may be another by now.
  func isSettled(_ id: MappedImage.ID) -> Bool { states[id] != nil && failure(of: id) == nil }

  /// The images that registered and are called so, by the loader or by where their files are.
  func registered(at path: String) -> [MappedImage.ID] {
    states.compactMap { id, state in
      guard case .registered(let image) = state else { return nil }
      return image.identity.path == path || image.mapped.name == path ? id : nil
    }
  }

  /// Records what became of an image, unless that is settled already. Returns whether it was not.
  mutating func settle(_ id: MappedImage.ID, _ state: State) -> Bool {
    guard !isSettled(id) else { return false }
    states[id] = state
    return true
  }

  /// Records that an image was unmapped.
  mutating func forget(_ id: MappedImage.ID) { (states[id], remarks[id]) = (.gone, nil) }

  /// Records what is wrong with an image that can be read.
  mutating func remark(_ id: MappedImage.ID, _ error: ImageError) { remarks[id] = error }
}
