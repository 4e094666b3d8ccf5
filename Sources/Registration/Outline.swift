public import BinaryImage

/// What a loaded image declares, looked at but not yet made into values.
///
/// An entry whose form is plain is checked and left where it stands: of ten thousand that a library
/// declares, a process asks for a few. `record(of:)` reads one by the rules of `RecordScanner`, so
/// that an outline and a scan say the same. All other entries have been read.
public struct Outline: Sendable {
  /// An entry that is known to be well formed and to have no accessor.
  public struct PlainEntry: Sendable {
    /// A module or a service.
    public var kind: RecordKind
    /// The hash of its name, as `NameHash` makes it.
    public var hash: UInt32
    /// How many entries that are no refusals come before it.
    public var position: UInt32
    /// Which of the image's sections holds it.
    var section: UInt16
    /// The slot, as `Origin` counts.
    var index: UInt32
    /// Where it stands in its section.
    var offset: UInt32
    /// Where its name stands in the image's copy: ASCII, and not empty.
    var nameStart: UInt32
    var nameCount: UInt32
  }

  /// The image.
  public let image: LoadedImage
  /// The entries that were left where they stand, in the image's order.
  public internal(set) var plain: [PlainEntry] = []
  /// The other entries, in the image's order, and everything that was refused.
  public internal(set) var others = Scan()
  /// The positions of the others' records, among those of the plain entries.
  public internal(set) var otherPositions: [UInt32] = []
  var sections: [Section] = []

  /// Whether the image declares nothing at all.
  public var isEmpty: Bool { count == 0 && others.rejections.isEmpty }

  /// How many entries there are that are no refusals.
  public var count: Int { plain.count + others.records.count }

  init(of image: LoadedImage) { self.image = image }

  /// Reads an entry that was left where it stands.
  public func record(of entry: PlainEntry) -> Result<Record, Rejection> {
    let section = sections[Int(entry.section)]
    var collector = ScanCollector(image: image.identity.path)
    collector.begin(sectionsNamed: section.name, of: entry.kind)
    collector.begin(section, entryCount: 1)
    collector.index = Int(entry.index)
    let offset = UInt64(entry.offset)
    switch section.name {
    case RecordScanner.modules:
      PointerEntries.readSlot(
        at: offset, in: section, of: image, into: &collector, decode: PointerEntries.module)
    case RecordScanner.services:
      PointerEntries.readSlot(
        at: offset, in: section, of: image, into: &collector, decode: PointerEntries.service)
    default: TypedRecords.readOne(at: offset, in: section, of: image, into: &collector)
    }
    if let record = collector.scan.records.first { return .success(record) }
    return .failure(
      collector.scan.rejections.first
        ?? Rejection(
          .unreadableSection, of: entry.kind, origin: collector.origin(at: offset),
          message: "cannot be read a second time"))
  }

  /// Calls `body` with each plain entry and its name.
  public func forEachName(_ body: (PlainEntry, Span<UInt8>) -> Void) {
    image.withCopy { copy in
      for entry in plain {
        let start = Int(entry.nameStart)
        body(entry, copy.extracting(start..<start + Int(entry.nameCount)))
      }
    }
  }
}

/// The hash under which names are looked for: of their bytes, and of the kind of what they name.
public enum NameHash {
  /// The hash of a name as it stands in a record.
  public static func of(_ name: Span<UInt8>, _ kind: RecordKind) -> UInt32 {
    var hash = UInt64(kind.rawValue) &* 0x9E37_79B9_7F4A_7C15 ^ UInt64(name.count)
    var start = 0
    while start + 8 <= name.count {
      hash = mixed(hash, name.word(at: start))
      start += 8
    }
    if start < name.count {
      // The last eight bytes, some of them for the second time; a short name byte by byte.
      hash = mixed(hash, name.count >= 8 ? name.word(at: name.count - 8) : name.shortWord)
    }
    return UInt32(truncatingIfNeeded: hash)
  }

  @inline(__always)
  private static func mixed(_ hash: UInt64, _ word: UInt64) -> UInt64 {
    // Both halves of the product: the low one depends on the low bits alone.
    let product = (hash ^ word).multipliedFullWidth(by: 0xD6E8_FEB8_6659_FD93)
    return product.high ^ product.low
  }
}
