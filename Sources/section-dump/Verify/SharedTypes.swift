internal import BinaryImage
internal import PluginFiles
internal import Registration

extension Survey {
  /// Swift types and protocols that several files of one process declare, each for itself.
  ///
  /// To the runtime they are different ones of the same name. A lookup by name finds either; values of
  /// one are none of the other.
  var sharedTypes: [Finding] {
    loadable.flatMap { images in
      let shared = SharedTypes(images: images)
      return shared.protocols + shared.types
    }
  }
}

/// The types and protocols that several images of one platform declare.
private struct SharedTypes {
  let images: [SurveyedImage]

  /// Protocols that services are registered under.
  var protocols: [Finding] {
    let namings = Namings(in: images, \.protocols) { $0.kind == .service ? $0.name : nil }
    return shared(\.protocols).flatMap { name, owners in
      guard let entry = namings.entry(for: name, in: owners) else { return [] as [Finding] }
      return pairs(owners).map { first, other in
        Finding(
          .duplicateProtocol, .error, entry.place,
          "the protocol \(name.joined(separator: ".")) is in \(file(first)) and in \(file(other)): a service that "
            + "one of them registers is not found through the other's",
          remedy: "put the contracts into one dynamic library that all link")
      }
    }
  }

  /// Types that entries name, then all others: one finding for each module and pair of files.
  var types: [Finding] {
    let namings = Namings(in: images, \.types, \.namedType)
    var findings: [Finding] = []
    var others: [(other: Int, first: Int, name: [String])] = []
    for (name, owners) in shared(\.types) {
      guard let entry = namings.entry(for: name, in: owners) else {
        others += pairs(owners).map { ($1, $0, name) }
        continue
      }
      findings += pairs(owners).map { first, other in
        Finding(
          .duplicateType, .error, entry.place,
          "the Swift type \(name.joined(separator: ".")) is in \(file(first)) and in \(file(other)): which one is "
            + "found by name depends on what is loaded first",
          remedy: "keep it in one file, or put it into a dynamic library that both link")
      }
    }
    let modules = others.groups { ["\($0.other)", "\($0.first)", $0.name[0]] }
      .sorted {
        ($0[0].other, $0[0].first, $0[0].name[0]) < ($1[0].other, $1[0].first, $1[0].name[0])
      }
    return findings
      + modules.map { types in
        let (other, first, name) = types[0]
        let isOne = types.count == 1
        return Finding(
          .duplicateType, .warning, images[other].place,
          "\(file(first)) holds the Swift module \(name[0]) too: "
            + (isOne ? "the type" : "\(types.count) types such as")
            + " \(name.joined(separator: ".")) \(isOne ? "is" : "are") there twice",
          remedy: "put the module into one dynamic library that both link")
      }
  }

  private func file(_ image: Int) -> String { images[image].place.file }

  /// The names that several images declare, each with those images in order.
  private func shared(
    _ declared: KeyPath<SurveyedImage, DeclaredTypes>
  ) -> [(name: [String], owners: [Int])] {
    var owners: [[String]: [Int]] = [:]
    for (index, image) in images.enumerated() {
      // Every image that uses a type of C describes it; the runtime takes those for one.
      for name in image[keyPath: declared].wholeNames where !name[0].hasPrefix("__C") {
        owners[name, default: []].append(index)
      }
    }
    return owners.filter { $0.value.count > 1 }
      .sorted { $0.key.lexicographicallyPrecedes($1.key) }
      .map { ($0.key, $0.value) }
  }

  /// Each owner but the first that may come into one process with one before it, and that one.
  private func pairs(_ owners: [Int]) -> [(first: Int, other: Int)] {
    // Two executables are never in one.
    let library = owners.first { images[$0].kind != .executable }
    return owners.dropFirst().compactMap { other in
      let first = images[other].kind == .executable ? library : owners.first
      return first.flatMap { $0 < other ? ($0, other) : nil }
    }
  }
}

/// The first entries that name types or protocols, by the names as they are written.
private struct Namings {
  /// By the image that has the entry, if it has something of the name too: then the entry means that. By nil otherwise.
  private var entries: [Int?: [[String]: (entry: Survey.Declared, position: Int)]] = [:]

  init(
    in images: [SurveyedImage], _ declared: KeyPath<SurveyedImage, DeclaredTypes>,
    _ written: (Record) -> String?
  ) {
    var position = 0
    for (index, image) in images.enumerated() {
      var known: Set<[String]> = []
      for entry in image.declared where !entry.record.attributes.isC {
        guard let text = written(entry.record), let names = DeclaredTypes.names(in: text),
          known.insert(names).inserted
        else { continue }
        position += 1
        let owner = image[keyPath: declared].has(text) ? index : nil
        if entries[owner]?[names] == nil {
          entries[owner, default: [:]][names] = (entry, position)
        }
      }
    }
  }

  /// Returns the first entry that means this name of one of these images.
  func entry(for name: [String], in owners: [Int]) -> Survey.Declared? {
    let candidates = name.indices.flatMap { start in
      ([nil] + owners).compactMap { entries[$0]?[Array(name[start...])] }
    }
    return candidates.min { $0.position < $1.position }?.entry
  }
}
