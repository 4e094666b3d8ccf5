internal import BinaryImage
internal import Registration
internal import SwiftContracts

/// One image of a file set, as far as it is known.
struct FileSetImage: Codable {
  var place: Place
  /// The identity from its headers.
  var identity: ImageIdentity
  /// Its file and its bytes there; nil if they are not known.
  var part: FilePart?
  /// Whether its entries were read, even if it has none.
  var isRead = false
  /// Whether the file has all bytes that its headers claim.
  var isWhole = true
  /// Its entries, in order.
  var records: [Record] = []
  /// The Swift types and protocols that it declares, if types were requested.
  var types = DeclaredTypes()
  var protocols = DeclaredTypes()
  var conformances = DeclaredConformances()
  /// The contracts that it has and those that it expects of other images, if types were requested.
  var contracts = ContractLibrary()
  var expectations = ContractExpectations()
  /// The Hive library that it needs, by its linked name. It and the next three properties are read with the types.
  var hive: String?
  /// Whether it needs the library of Swift's runtime.
  var needsSwift = false
  /// Whether it holds Swift's runtime itself.
  var holdsSwift = false
  /// Whether annotations were linked into it, so that it should have entries.
  var isAnnotated = false
  /// Whether it was named itself, and not found in a directory or an archive.
  var isNamed = false
  /// Whether it has no entries at all, not even malformed ones.
  var isBare = false

  /// The purpose of the image.
  var kind: ImageIdentity.Kind { identity.kind }
  var platform: ImageIdentity { identity.platform }
  /// Its entries, with their locations.
  var declared: [FileSet.Declared] {
    records.map { record in
      FileSet.Declared(
        record: record, place: place.at(section: record.origin.section, index: record.origin.index),
        platform: platform, file: kind)
    }
  }

  /// Whether to skip the image. Executables are kept, because objects are linked into them.
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

extension [FileSetImage] {
  /// The positions of images that equal an earlier one byte by byte, each with that of the first such image.
  var originals: [Int: Int] {
    var originals: [Int: Int] = [:]
    // The hashes of the parts read so far, by file. They are seeded for each run, so no file can force a collision.
    var hashes: [FileStamp.FileNumber: [FilePart: Int]] = [:]
    // The number of bytes of each file that may still be read. Bytes that images share are not read twice.
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
      // The part could be read before. If it is gone now, it is no copy.
      let isRead: Void? = try? part.forEachPiece { piece in
        // Sound: the hasher reads the bytes during the call; one by one they would take twenty times as long.
        unsafe piece.withUnsafeBytes { unsafe hasher.combine(bytes: $0) }
      }
      guard isRead != nil else { return nil }
      let hash = hasher.finalize()
      hashes[file.number, default: [:]][bytes] = hash
      return hash
    }
    // Only images with the same headers and the same size are read.
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

extension FileSetImage {
  /// Notes the runtimes that it holds and needs, if it is an ELF file whose needs can be read.
  mutating func readRuntimes(of image: any FileImage) {
    guard let file = image as? ELFFile, let linkage = try? file.linkage() else { return }
    let needed = linkage.needed
    isAnnotated = linkage.noteVersion != nil
    needsSwift = needed.contains("libswiftCore.so")
    let isPart = linkage.name?.hasPrefix("libBeeHive") ?? false
    if !isPart { hive = needed.first { $0 == "libBeeHive.so" || $0.hasPrefix("libBeeHive.so.") } }
    // An executable that needs no library can open none.
    guard kind == .executable, !needsSwift, !needed.isEmpty else { return }
    holdsSwift = linkage.hasSwiftSections
  }
}
