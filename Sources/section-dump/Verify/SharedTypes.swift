internal import BinaryImage
internal import PluginFiles
internal import Registration

/// Swift types and protocols that several files of one process declare, each for itself.
///
/// To the runtime they are different ones of the same name. A lookup by name finds either; values of
/// one are none of the other.
struct SharedTypes {
  private typealias Image = SurveyedImage

  private var findings: [Finding] = []

  static func findings(in survey: Survey) -> [Finding] {
    var shared = SharedTypes()
    for images in survey.images.filter(\.isLoadable).groups(by: \.platform) {
      shared.find(in: images)
    }
    return shared.findings
  }

  /// Words that name a type or a protocol.
  private struct Words: Hashable {
    var names: [String]
    /// The image that has the entry, where that has something of the name too: then the entry means it.
    var image: Int?
  }

  private typealias Naming = (entry: Survey.Declared, position: Int)

  /// A module that two images hold.
  private struct Doubled: Hashable {
    var other, first: Int
    var module: String

    var order: (Int, Int, String) { (other, first, module) }
  }

  private mutating func find(in images: [Image]) {
    let protocols = Self.shared(images.map(\.protocols))
    let types = Self.shared(images.map(\.types))
    guard !protocols.isEmpty || !types.isEmpty else { return }
    let contracts = Self.namings(in: images, \.protocols) { $0.kind == .service ? $0.name : nil }
    for (name, owners) in protocols {
      guard let naming = Self.naming(name, owners, contracts) else { continue }
      report(name, owners, naming, isProtocol: true, images)
    }
    let implementations = Self.namings(in: images, \.types, \.namedType)
    // Types that no entry names: one finding for each module and pair of files.
    var modules: [Doubled: [[String]]] = [:]
    for (name, owners) in types {
      if let naming = Self.naming(name, owners, implementations) {
        report(name, owners, naming, isProtocol: false, images)
        continue
      }
      for (first, other) in Self.pairs(owners, images) {
        modules[Doubled(other: other, first: first, module: name[0]), default: []].append(name)
      }
    }
    for (doubled, names) in modules.sorted(by: { $0.key.order < $1.key.order }) {
      let isOne = names.count == 1
      findings.append(
        Finding(
          .duplicateType, .warning, images[doubled.other].place,
          "\(images[doubled.first].place.file) holds the Swift module \(doubled.module) too: "
            + (isOne ? "the type" : "\(names.count) types such as")
            + " \(names[0].joined(separator: ".")) \(isOne ? "is" : "are") there twice",
          remedy: "put the module into one dynamic library that both link"))
    }
  }

  private mutating func report(
    _ name: [String], _ owners: [Int], _ entry: Survey.Declared, isProtocol: Bool, _ images: [Image]
  ) {
    for (first, other) in Self.pairs(owners, images) {
      let files = "\(images[first].place.file) and in \(images[other].place.file)"
      let name = name.joined(separator: ".")
      let (code, message, remedy): (Finding.Code, String, String) =
        isProtocol
        ? (
          .duplicateProtocol,
          "the protocol \(name) is in \(files): a service that one of them registers is not found through the other's",
          "put the contracts into one dynamic library that all link"
        )
        : (
          .duplicateType,
          "the Swift type \(name) is in \(files): which one is found by name depends on what is loaded first",
          "keep it in one file, or put it into a dynamic library that both link"
        )
      findings.append(Finding(code, .error, entry.place, message, remedy: remedy))
    }
  }

  /// What several images declare: the name, and the images in order.
  private static func shared(_ declared: [DeclaredTypes]) -> [(name: [String], owners: [Int])] {
    var owners: [[String]: [Int]] = [:]
    for (index, types) in declared.enumerated() where !types.isEmpty {
      // Every image that uses a type of C describes it; the runtime takes those for one.
      for name in types.wholeNames where !name[0].hasPrefix("__C") {
        owners[name, default: []].append(index)
      }
    }
    return owners.filter { $0.value.count > 1 }
      .sorted { $0.key.lexicographicallyPrecedes($1.key) }
      .map { ($0.key, $0.value) }
  }

  /// Each owner but the first that may come into one process with one before it, and that one.
  private static func pairs(_ owners: [Int], _ images: [Image]) -> [(first: Int, other: Int)] {
    // Two executables are never in one.
    let library = owners.first { images[$0].kind != .executable }
    return owners.dropFirst().compactMap { other in
      let first = images[other].kind == .executable ? library : owners.first
      return first.flatMap { $0 < other ? ($0, other) : nil }
    }
  }

  /// The first entries that name something, by the words.
  private static func namings(
    in images: [Image], _ declared: KeyPath<Image, DeclaredTypes>, _ written: (Record) -> String?
  ) -> [Words: Naming] {
    var result: [Words: Naming] = [:]
    var position = 0
    for (index, image) in images.enumerated() {
      var known: Set<[String]> = []
      for entry in image.declared where !entry.record.attributes.isC {
        guard let text = written(entry.record), let names = DeclaredTypes.names(in: text),
          known.insert(names).inserted
        else { continue }
        position += 1
        let words = Words(names: names, image: image[keyPath: declared].has(text) ? index : nil)
        if result[words] == nil { result[words] = (entry, position) }
      }
    }
    return result
  }

  /// The first entry that means this name.
  private static func naming(
    _ name: [String], _ owners: [Int], _ namings: [Words: Naming]
  ) -> Survey.Declared? {
    let candidates = name.indices.flatMap { start in
      ([nil] + owners).compactMap { namings[Words(names: Array(name[start...]), image: $0)] }
    }
    return candidates.min { $0.position < $1.position }?.entry
  }
}

/// Files that were built against other contracts than those that a library of the set has.
enum ContractFindings {
  static func findings(in survey: Survey) -> [Finding] {
    survey.images.filter(\.isLoadable).groups(by: \.platform).flatMap { images in
      let libraries = images.filter { !$0.contracts.contracts.isEmpty }
      return images.flatMap { plugin in
        libraries.filter { $0.place != plugin.place }
          .flatMap { findings(on: plugin, against: $0) }
      }
    }
  }

  private static func findings(
    on plugin: SurveyedImage, against library: SurveyedImage
  ) -> [Finding] {
    var findings: [Finding] = []
    var unseen: [ContractDrift] = []
    for drift in ContractDrift.all(of: plugin.expectations, against: library.contracts) {
      switch (drift.subject, drift.verdict) {
      // Protocols that are there twice are findings of their own.
      case (.ownCopy, _): break
      case (_, .notVisible): unseen.append(drift)
      case (_, .drifted):
        findings.append(
          Finding(
            .contractDrift, .error, plugin.place,
            drift.message(against: library.place.file), remedy: drift.remedy,
            others: [library.place]))
      }
    }
    if let first = unseen.first {
      let others = unseen.count - 1
      findings.append(
        Finding(
          .contractNotVisible, .remark, plugin.place,
          first.message(against: library.place.file)
            + (others > 0 ? "; the same holds for \(others) more" : ""),
          remedy: first.remedy, others: [library.place]))
    }
    return findings
  }
}

extension Finding {
  /// An image whose Swift metadata cannot be read.
  static func notVisible(_ error: ImageError, _ place: Place) -> Finding {
    Finding(
      .contractNotVisible, .remark, place,
      "which contracts it was built against is not visible: \(error.message)",
      remedy: error.code == .malformed
        ? "build the file again; its Swift metadata contradicts itself" : error.remedy)
  }
}
