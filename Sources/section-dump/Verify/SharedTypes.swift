internal import BinaryImage
internal import Registration
internal import SwiftContracts

extension FileSet {
  /// The findings on Swift types and protocols that several files of one process declare.
  ///
  /// To the runtime they are different types of the same name. A lookup by name finds either of them. A value of one
  /// type is not a value of the other.
  var sharedTypes: [Finding] { loadable.flatMap(\.sharedTypes) }
}

/// Two images that declare the same name and may be in one process, and the first entry that means it.
private typealias Pair = (name: [String], entry: FileSet.Declared?, first: Int, other: Int)

/// The types and protocols that several images of one platform declare.
extension [FileSetImage] {
  /// The findings on protocols of services, then on types that entries name, then on all other types. Other types get
  /// one finding for each module and pair of files.
  fileprivate var sharedTypes: [Finding] {
    let types = pairs(of: \.types, namedBy: \.namedType)
    let kinds: [(Finding.Code, [Pair], kind: String, effect: String, remedy: Remedy)] = [
      (
        .duplicateProtocol, pairs(of: \.protocols) { $0.kind == .service ? $0.name : nil },
        "protocol", "a service that one of them registers is not found through the other's",
        .shareContracts
      ),
      (
        .duplicateType, types, "Swift type",
        "which one is found by name depends on what is loaded first",
        .shareType
      ),
    ]
    let named = kinds.flatMap { code, pairs, kind, effect, remedy in
      pairs.compactMap { name, entry, first, other in
        entry.map { entry in
          Finding(
            code, .error, entry.place,
            "the \(kind) \(name.joined(separator: ".")) is in \(self[first].place.file) and in "
              + "\(self[other].place.file): \(effect)", remedy: remedy)
        }
      }
    }
    let modules = types.filter { $0.entry == nil }
      .groups { ["\($0.other)", "\($0.first)", $0.name[0]] }
      .sorted {
        ($0[0].other, $0[0].first, $0[0].name[0]) < ($1[0].other, $1[0].first, $1[0].name[0])
      }
    return named
      + modules.map { types in
        let (name, _, first, other) = types[0]
        let isOne = types.count == 1
        return Finding(
          .duplicateType, .warning, self[other].place,
          "\(self[first].place.file) holds the Swift module \(name[0]) too: "
            + (isOne ? "the type" : "\(types.count) types such as")
            + " \(name.joined(separator: ".")) \(isOne ? "is" : "are") there twice",
          remedy: .shareModule)
      }
  }

  /// Returns the pairs of images that declare the same name. `written` returns the name that an entry uses.
  private func pairs(
    of declared: KeyPath<FileSetImage, DeclaredTypes>, namedBy written: (Record) -> String?
  ) -> [Pair] {
    var owners: [[String]: [Int]] = [:]
    // The first entry with each name. The key is the entry's image if that image declares the name too, because the
    // entry means that declaration. Otherwise the key is nil.
    var entries: [Int?: [[String]: (entry: FileSet.Declared, position: Int)]] = [:]
    var position = 0
    for (index, image) in enumerated() {
      // Every image that uses a C type describes it. The runtime treats these as one type.
      for name in image[keyPath: declared].wholeNames where !name[0].hasPrefix("__C") {
        owners[name, default: []].append(index)
      }
      var known: Set<[String]> = []
      for entry in image.declared where !entry.record.attributes.isC {
        guard let text = written(entry.record), let names = TypeName(text).path,
          known.insert(names).inserted
        else { continue }
        position += 1
        let owner = image[keyPath: declared].has(text) ? index : nil
        if entries[owner]?[names] == nil {
          entries[owner, default: [:]][names] = (entry, position)
        }
      }
    }
    let shared = owners.filter { $0.value.count > 1 }
      .sorted { $0.key.lexicographicallyPrecedes($1.key) }
    return shared.flatMap { name, owners in
      let candidates = name.indices.flatMap { start in
        ([nil] + owners).compactMap { entries[$0]?[[String](name[start...])] }
      }
      let entry = candidates.min { $0.position < $1.position }?.entry
      // Two executables are never in one process.
      let library = owners.first { self[$0].kind != .executable }
      return owners.dropFirst().compactMap { other -> Pair? in
        let first = self[other].kind == .executable ? library : owners.first
        return first.flatMap { $0 < other ? (name, entry, $0, other) : nil }
      }
    }
  }
}
