/// The named types and protocols of Swift images, by the last component of their name.
///
/// Only remembers where descriptors lie: 24 bytes for each, and no text. Adding an image reads its
/// tables and calls nothing, so it may happen under a lock.
struct TypeIndex: Sendable {
  /// One declaration, and the image that declares it.
  struct Entry: Sendable {
    let descriptor: ContextDescriptor
    /// The image's first mapped byte.
    let image: UInt
    /// The position of the one before it with a name of the same hash; -1 for none.
    fileprivate let previous: Int32
  }

  /// How many images were added.
  private(set) var imageCount = 0
  /// False when an image has tables in a layout that is not understood.
  private(set) var isComplete = true

  private var entries: [Entry] = []
  /// The position of the last one with a name of this hash.
  private var last: [UInt64: Int32] = [:]

  /// Adds the declarations of an image.
  mutating func add(_ image: SwiftImage) {
    imageCount += 1
    if !image.isReadable { isComplete = false }
    last.reserveCapacity(last.count + (image.types.count + image.protocols.count) / 4)
    unsafe image.forEachDescriptor { descriptor, name in
      let hash = unsafe Self.hash(name)
      let previous = last.updateValue(Int32(entries.count), forKey: hash) ?? -1
      entries.append(Entry(descriptor: descriptor, image: image.base, previous: previous))
    }
  }

  /// The declarations whose last component is `name`, in the order of registration.
  func entries(named name: Substring) -> [Entry] {
    var found: [Entry] = []
    forEachCandidate(named: name) { if $0.descriptor.isNamed(name) { found.append($0) } }
    return found.reversed()
  }

  /// Every declaration.
  var descriptors: [ContextDescriptor] { entries.map(\.descriptor) }

  /// Passes over the declarations whose names have the hash of this one, the last one first.
  @inline(__always)
  func forEachCandidate(named name: Substring, _ body: (Entry) -> Void) {
    var next = last[Self.hash(name.utf8)] ?? -1
    while next >= 0 {
      let entry = entries[Int(next)]
      body(entry)
      next = entry.previous
    }
  }

  // FNV-1a.
  private static func hash(_ name: some Sequence<UInt8>) -> UInt64 {
    name.reduce(0xcbf2_9ce4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }
  }
}
