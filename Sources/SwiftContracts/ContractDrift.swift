package import BinaryImage
package import Registration
internal import SwiftMetadata

/// A difference between the contracts that a plugin was built against and the contracts of a library.
///
/// Such a plugin calls the wrong functions, and the language does not notice: the order of a protocol's requirements is
/// compiled into both.
package struct ContractDrift: Hashable, Sendable {
  /// The part of a plugin that does not fit, or is not visible.
  package enum Subject: Hashable, Sendable {
    /// The conformance of this type.
    case conformance(of: String)
    /// This class, which extends the contract.
    case subclass(String)
    /// A second protocol of the contract's name, in the plugin.
    case ownCopy
    /// The table of functions of a service in C.
    case table
  }

  /// The expected contract and the actual one. `expected` is nil if the files do not tell: then `found` says why, and a
  /// policy decides.
  package typealias Verdict = (expected: String?, found: String)

  /// The protocol, the class, or the service in C: `Contracts.Codec`.
  package let contract: String
  /// The part of the plugin that the verdict is about.
  package let subject: Subject
  /// The contract that the plugin was to be built against; nil if the files do not tell whether it was.
  package let expected: String?
  /// The contract that is there instead, or the reason that it is not visible.
  package let found: String

  /// Describes a part that does not fit.
  package init(_ contract: String, _ subject: Subject, _ verdict: Verdict) {
    (self.contract, self.subject) = (contract, subject)
    (expected, found) = verdict
  }

  /// Compares what a plugin expects with a library, in the order of the plugin's tables.
  ///
  /// Neither file shows the layout of structures, the cases of enumerations, or calls to types that the plugin neither
  /// conforms to nor extends. Only a digest shows those.
  package static func all(
    of plugin: ContractExpectations, against library: ContractLibrary
  ) -> [ContractDrift] {
    let contracts = Dictionary(library.contracts.map { ($0.symbol, $0) }) { first, _ in first }
    let names = Set(library.contracts.map(\.name))
    let copies = plugin.ownProtocols.filter(names.contains).map {
      ContractDrift(
        $0, .ownCopy, ("the protocol of the library", "a copy of its own, which is another"))
    }
    return copies
      + plugin.conformances.compactMap { conformance in
        guard let contract = contracts[conformance.symbol] else { return nil }
        return verdict(
          on: conformance, contract,
          versions(of: contract.module, plugin.digests, library.digests)
        ).map { ContractDrift(contract.name, subject(conformance), $0) }
      }
  }

  // MARK: - Rules

  private static func subject(_ conformance: ContractExpectations.Conformance) -> Subject {
    let type = conformance.type
    return conformance.superclass == nil ? .conformance(of: type) : .subclass(type)
  }

  /// Returns the versions of a module that digests state; nil if the plugin's digests state no version.
  private static func versions(
    of module: String, _ expected: [String], _ found: [String]
  ) -> (expected: String, found: String?)? {
    func version(_ symbols: [String]) -> String? {
      symbols.lazy.compactMap(ContractLibrary.version(ofDigest:)).first { $0.module == module }?
        .version
    }
    return version(expected).map { ($0, version(found)) }
  }

  /// Judges a conformance; nil if it fits.
  private static func verdict(
    on conformance: ContractExpectations.Conformance, _ contract: ContractLibrary.Contract,
    _ versions: (expected: String, found: String?)?
  ) -> Verdict? {
    let count = contract.requirements.count
    if let words = conformance.words, words - 1 != count {
      return ((words - 1).counted("requirement"), count.counted("requirement"))
    }
    if let sizes = sizes(conformance.superclass, contract.layout) { return sizes }
    if let (expected, found) = versions, expected != found {
      return (
        "version \(expected) of the contract",
        found.map { "version \($0)" } ?? "a contract without it"
      )
    }
    if let answered = conformance.answered { return verdict(onResilient: answered, contract) }
    if versions != nil { return nil }
    return (
      nil,
      conformance.superclass != nil
        ? "its table has the right size; the order, names and types of members cannot be read from the files"
        : conformance.words == nil
          ? "the plugin is stripped, so the number of requirements is not known"
          : "the number of requirements is right; their order, names and types cannot be read from the files"
    )
  }

  /// Judges the sizes of a superclass; nil if they are the same, as far as they are known.
  private static func sizes(_ expected: ClassLayout?, _ found: ClassLayout?) -> Verdict? {
    guard let expected else { return nil }
    guard let found else { return ("a class of a fixed layout", "one that the runtime lays out") }
    if expected.words != found.words {
      return ("a class table of \(expected.words) words", "one of \(found.words)")
    }
    guard let bytes = expected.bytes, let size = found.bytes, !bytes.overlaps(size) else {
      return nil
    }
    let least = bytes.count > 1 ? "\(bytes.lowerBound) to " : ""
    return ("instances of \(least)\(bytes.upperBound) bytes", "\(size.upperBound) bytes")
  }

  private static func verdict(
    onResilient answered: [String], _ contract: ContractLibrary.Contract
  ) -> Verdict? {
    let known = Set(contract.requirements.flatMap(\.symbols))
    if let gone = answered.first(where: { !known.contains($0) }) {
      return (
        "the requirement \(gone)",
        contract.isResilient
          ? "none of that name and type" : "a library that was built without library evolution"
      )
    }
    let missing = contract.requirements.first { requirement in
      !requirement.hasDefault && !requirement.symbols.contains { answered.contains($0) }
    }
    return missing.map {
      ("no requirement \($0.symbols.first ?? "without a symbol")", "one that has no default")
    }
  }
}

extension ContractDrift {
  /// Returns the fault, to follow the plugin's name.
  ///
  /// - Parameter library: The name of the contracts library.
  /// - Returns: One sentence without its end.
  package func message(against library: String) -> String {
    switch (subject, expected) {
    case (.ownCopy, _): "the protocol \(contract) of \(library) is in this file too: \(found)"
    case (.conformance(let type), let expected?):
      "\(type) was built to conform to another \(contract) than that of \(library): it expects \(expected) "
        + "and finds \(found)"
    case (.subclass(let type), let expected?):
      "\(type) was built to extend another \(contract) than that of \(library): it expects \(expected) "
        + "and finds \(found)"
    case (.subclass(let type), nil):
      "whether \(type) extends the \(contract) of \(library) is not visible: \(found)"
    case (.conformance(let type), nil):
      "whether \(type) conforms to the \(contract) of \(library) is not visible: \(found)"
    case (.table, let expected?):
      "the table of \(contract) is another than \(library) asks for: expected \(expected), found \(found)"
    case (.table, nil): "whether \(contract) is what \(library) asks for is not visible: \(found)"
    }
  }

  /// The remedy.
  package var remedy: Remedy {
    switch (subject, expected) {
    case (.ownCopy, _): .linkContracts
    case (.table, _?): .fitTable
    case (_, _?): .rebuildForContracts
    case (.table, nil): .versionTable
    case (.conformance, nil), (.subclass, nil): .versionContracts
    }
  }
}

// MARK: - Tables in C

extension ContractDrift {
  /// The table of a service in C that a host asks for: its bytes, and the version of its header.
  package typealias Table = (service: String, size: Int, version: String?)

  /// Compares the tables of a file's services in C with those that a host expects, in the order of the records.
  ///
  /// A table may be larger: members that are appended to a structure leave the others as they were.
  ///
  /// - Parameters:
  ///   - records: The entries of the file.
  ///   - image: The file.
  ///   - asked: The tables of the services that the host knows; others have no verdict.
  /// - Returns: The tables that do not fit, or may not.
  package static func all(
    of records: [Record], in image: any FileImage, asked: [Table]
  ) -> [ContractDrift] {
    guard !asked.isEmpty else { return [] }
    let memory = image.addressedMemory
    let asked = Dictionary(grouping: asked, by: \.service)
    return records.filter { $0.kind == .service && $0.attributes.isC }.flatMap { record in
      let size = memory.flatMap { record.tableSize(in: $0) }
      return asked[record.name, default: []].compactMap { verdict(on: record, size, $0) }.map {
        ContractDrift(record.name, .table, $0)
      }
    }
  }

  private static func verdict(
    on record: Record, _ size: UInt64?, _ asked: Table
  ) -> Verdict? {
    if let size, size < UInt64(asked.size) {
      return (asked.size.counted("byte"), Int(size).counted("byte"))
    }
    let version = record.attributes.others.first { $0.key == "abi-version" }?.value
    guard let expected = asked.version else {
      return (
        nil,
        "it is large enough; the order and the types of its functions cannot be read from the files"
      )
    }
    guard version != expected else { return nil }
    return ("version \(expected)", version.map { "version \($0)" } ?? "no version")
  }
}
