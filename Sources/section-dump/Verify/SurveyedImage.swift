internal import BinaryImage
internal import PluginFiles
internal import Registration

/// What is known of one image of a set.
struct SurveyedImage: Codable {
  var place: Place
  /// What its headers say.
  var identity: ImageIdentity
  /// Which bytes of which file it is; nil where that is not known.
  var part: FilePart?
  /// Whether its entries, or the want of them, are known.
  var isRead = false
  /// Whether the file has all bytes that its headers claim.
  var isWhole = true
  /// Its entries, in order.
  var records: [Record] = []
  /// The Swift types and protocols that it declares, where they were asked for.
  var types = DeclaredTypes()
  var protocols = DeclaredTypes()
  /// The protocols that others conform to, and what it expects of those of others, likewise.
  var contracts = ContractLibrary()
  var expectations = ContractExpectations()
  /// What it has to do with runtimes, where types were asked for.
  var runtimes = RuntimeNeeds()
  /// Whether it was named itself, rather than found in a directory or an archive.
  var isNamed = false
  /// Whether it has no entries, malformed ones included.
  var isBare = false

  /// What the image is for.
  var kind: ImageIdentity.Kind { identity.kind }
  var platform: Survey.Platform { Survey.Platform(of: identity) }
  /// Its entries, with where they are.
  var declared: [Survey.Declared] {
    records.map { record in
      Survey.Declared(
        record: record, place: place.at(section: record.origin.section, index: record.origin.index),
        platform: platform, file: kind)
    }
  }

  /// Whether nothing is to be said of it or compared with it. Objects are linked into executables.
  var isEmpty: Bool {
    kind != .executable && !declaresSomething && !(isNamed && isLoadable) && runtimes.isEmpty
  }
  var declaresSomething: Bool {
    !records.isEmpty || !types.isEmpty || !protocols.isEmpty || !expectations.conformances.isEmpty
  }
  /// Whether a process may load it.
  var isLoadable: Bool { kind == .executable || kind == .shared || kind == .bundle }
}

/// Images that are the same, byte by byte, though they are several files.
struct Copies {
  /// What copies have in common that costs nothing to compare.
  private struct Likeness: Hashable {
    var platform: Survey.Platform
    var kind: ImageIdentity.Kind
    var id: [UInt8]
    var size: UInt64
    var entries: Int
  }

  /// The copies by their positions, and the first image that each is the same as.
  private(set) var originals: [Int: Int] = [:]
  private var digests: [Bytes: Digest] = [:]
  /// How many bytes of each file may still be read: those that images share are not read twice.
  private var budgets: [FileStamp.FileNumber: UInt64] = [:]

  private struct Bytes: Hashable {
    var file: FileStamp.FileNumber
    var offset, size: UInt64
  }

  init(among images: [SurveyedImage]) {
    let groups = images.indices.filter { images[$0].declaresSomething }.groups { index in
      let image = images[index]
      return Likeness(
        platform: image.platform, kind: image.kind, id: image.identity.id,
        size: image.part?.size ?? 0,
        entries: image.records.count)
    }
    for group in groups where group.count > 1 {
      var first: [Digest: Int] = [:]
      for index in group {
        guard let digest = images[index].part.flatMap({ digest(of: $0) }) else { continue }
        if let original = first[digest] {
          originals[index] = original
        } else {
          first[digest] = index
        }
      }
    }
  }

  /// Nil where the bytes cannot be read again.
  private mutating func digest(of part: FilePart) -> Digest? {
    guard let file = try? fileStamp(of: part.path) else { return nil }
    let bytes = Bytes(file: file.number, offset: part.offset, size: part.size)
    if let known = digests[bytes] { return known }
    let budget = budgets[file.number, default: file.size]
    guard part.size <= budget else { return nil }
    budgets[file.number] = budget - part.size
    var maker = Digest.Maker()
    // That it could be read was seen before; what is gone by now is no copy.
    guard (try? part.forEachPiece { maker.add(bytes: $0) }) != nil else { return nil }
    digests[bytes] = maker.digest
    return maker.digest
  }
}
