package import BinaryImage

/// What the Hive of another process made of the entries of its images.
///
/// C: the state record of `CSupport/RecordLayout.md`.
package struct EntryStates: Sendable {
  /// How far one entry got.
  package struct Entry: Hashable, Sendable {
    /// The state.
    package var state: State
    /// The stable code of what keeps it from being bound.
    package var code: String?
    /// What keeps it from being bound, and what to do.
    package var reason: String?

    /// Of an image that was taken in, an entry that has no reason, or no cell: nothing has needed it.
    static func unmade(isModule: Bool) -> Self {
      let reason = isModule ? "no start has come to it yet" : "it was not asked for yet"
      return Self(state: .accepted, code: nil, reason: reason)
    }
  }

  /// How far an entry may get, in the order of the numbers of the record, from 1.
  package enum State: String, Sendable, CaseIterable {
    /// Something can make it. A module with a code says by it how far it is.
    case bound
    /// Well formed and known by name, but nothing can make it yet, or nothing has needed it.
    case accepted
    /// Malformed, a duplicate, or named after a type that cannot serve.
    case rejected
    /// Taken out again by the process.
    case withdrawn
  }

  /// The location of an entry.
  struct Place: Hashable {
    var bias: UInt64
    var section: UInt16
    var index: UInt32
  }

  var entries: [Place: Entry] = [:]
  /// The biases of the images that were taken in.
  var images: Set<UInt64> = []
  /// Whether the process had no memory for some of it.
  var isIncomplete = false

  /// What became of the entry at `index` of a section; nil where the process does not say.
  package subscript(
    index: Int, in section: String, of image: RemoteImage, isModule isModule: Bool
  ) -> Entry? {
    let bias = image.headers.bias
    guard let section = SectionNote.names.firstIndex(of: section), images.contains(bias),
      let index = UInt32(exactly: index)
    else { return nil }
    let place = Place(bias: bias, section: UInt16(section), index: index)
    if let entry = entries[place], entry.state != .accepted || entry.code != nil { return entry }
    return isIncomplete && entries[place] == nil ? nil : .unmade(isModule: isModule)
  }
}

extension RemoteImage {
  /// Whether a runtime is in this image, used or not.
  package var carriesRuntime: Bool { (try? headers.stateRecord()) ?? nil != nil }

  /// What the runtime in this image says of all entries of its process; nil where none is in it, or
  /// an older one, or one that was not used yet.
  ///
  /// Throws where what is there cannot be true, or changes all the time.
  package func entryStates() throws(ImageError) -> EntryStates? {
    guard let address = try headers.stateRecord() else { return nil }
    let reader = StateRecordReader(
      memory: memory, address: address, order: identity.byteOrder, mapping: mapping)
    return try reader.states()
  }
}
