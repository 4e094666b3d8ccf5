internal import BinaryImage
internal import Registration
internal import SwiftContracts

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
  var conformances = DeclaredConformances()
  /// The protocols that others conform to, and what it expects of those of others, likewise.
  var contracts = ContractLibrary()
  var expectations = ContractExpectations()
  /// The library of the Hive that it needs, under the name that it was linked by; read with the types, as what follows.
  var hive: String?
  /// Whether it needs the library of Swift's runtime.
  var needsSwift = false
  /// Whether it holds Swift's runtime itself.
  var holdsSwift = false
  /// Whether annotations were linked into it, so that it should have entries.
  var isAnnotated = false
  /// Whether it was named itself, rather than found in a directory or an archive.
  var isNamed = false
  /// Whether it has no entries, malformed ones included.
  var isBare = false

  /// What the image is for.
  var kind: ImageIdentity.Kind { identity.kind }
  var platform: ImageIdentity { identity.platform }
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
    kind != .executable && !declaresSomething && !(isNamed && isLoadable) && hive == nil
      && !needsSwift && !isAnnotated
  }
  var declaresSomething: Bool {
    !records.isEmpty || !types.isEmpty || !protocols.isEmpty || !expectations.conformances.isEmpty
  }
  /// Whether a process may load it.
  var isLoadable: Bool { kind == .executable || kind == .shared || kind == .bundle }
}

extension [SurveyedImage] {
  /// The positions of images that are the same as one before them, byte by byte, and the first such image of each.
  var originals: [Int: Int] {
    var originals: [Int: Int] = [:]
    // The hashes of what was read of each file; they are seeded anew for each run, so that no file can make two the same.
    var hashes: [FileStamp.FileNumber: [FilePart: Int]] = [:]
    // How many bytes of each file may still be read: those that images share are not read twice.
    var budgets: [FileStamp.FileNumber: UInt64] = [:]
    /// Returns the hash of the bytes; nil if they cannot be read again.
    func hash(of part: FilePart) -> Int? {
      guard let file = try? fileStamp(of: part.path) else { return nil }
      var bytes = part
      bytes.path = []
      if let known = hashes[file.number]?[bytes] { return known }
      let budget = budgets[file.number, default: file.size]
      guard part.size <= budget else { return nil }
      budgets[file.number] = budget - part.size
      var hasher = Hasher()
      // That it could be read was seen before; what is gone by now is no copy.
      let isRead: Void? = try? part.forEachPiece { piece in
        // Sound: the hasher reads the bytes during the call; one by one they would take twenty times as long.
        unsafe piece.withUnsafeBytes { unsafe hasher.combine(bytes: $0) }
      }
      guard isRead != nil else { return nil }
      let hash = hasher.finalize()
      hashes[file.number, default: [:]][bytes] = hash
      return hash
    }
    // Only those are read that have the same headers and the same size.
    let groups = indices.filter { self[$0].declaresSomething }.groups { index in
      var identity = self[index].identity
      identity.path = ""
      return identity
    }.flatMap { $0.groups { self[$0].part?.size } }
    for group in groups where group.count > 1 {
      let hashed = group.compactMap { index in
        self[index].part.flatMap { hash(of: $0) }.map { (index, hash: $0) }
      }
      for same in hashed.groups(by: \.hash) {
        for (copy, _) in same.dropFirst() { originals[copy] = same[0].0 }
      }
    }
    return originals
  }
}

extension SurveyedImage {
  /// Notes which runtimes it brings and needs; nothing of a file that is no ELF file, or whose needs cannot be read.
  mutating func readRuntimes(of image: any FileImage) {
    guard let file = image as? ELFFile, let linkage = try? file.linkage() else { return }
    let needed = linkage.needed
    isAnnotated = linkage.noteVersion != nil
    needsSwift = needed.contains("libswiftCore.so")
    let isPart = linkage.name?.hasPrefix("libBeeHive") ?? false
    if !isPart { hive = needed.first { $0 == "libBeeHive.so" || $0.hasPrefix("libBeeHive.so.") } }
    // What needs no library at all can open none.
    guard kind == .executable, !needsSwift, !needed.isEmpty else { return }
    holdsSwift = linkage.hasSwiftSections
  }
}
