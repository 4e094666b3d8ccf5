package import BinaryImage
package import Registration

/// Whether a plugin was built against the contracts that a library has.
///
/// A plugin that was not calls the wrong functions, and the language does not tell: the order of a protocol's
/// requirements is compiled into both.
package struct ContractDrift: Hashable, Sendable {
  /// The verdict of the files on something that does not fit, or may not.
  package enum Verdict: Hashable, Sendable {
    /// It was built against another contract.
    case drifted(expected: String, found: String)
    /// The files do not tell; a policy decides.
    case notVisible(String)
  }

  /// What does not fit, or cannot be told.
  package enum Subject: Hashable, Sendable {
    /// The conformance of this type.
    case conformance(of: String)
    /// A second protocol of the contract's name, in the plugin.
    case ownCopy
    /// The table of functions of a service in C.
    case table
  }

  /// The protocol, or the service in C: `Contracts.Codec`.
  package let contract: String
  /// What of the plugin the verdict is on.
  package let subject: Subject
  /// What the files tell of it.
  package let verdict: Verdict

  /// Compares what a plugin expects with a library, in the order of the plugin's tables.
  ///
  /// What neither shows is how a structure is laid out, which cases an enumeration has, and what the plugin calls
  /// without conforming to it: only a digest tells of those.
  package static func all(
    of plugin: ContractExpectations, against library: ContractLibrary
  ) -> [ContractDrift] {
    let contracts = Dictionary(library.contracts.map { ($0.symbol, $0) }) { first, _ in first }
    let names = Set(library.contracts.map(\.name))
    let copies = plugin.ownProtocols.filter(names.contains).map { name in
      ContractDrift(
        contract: name, subject: .ownCopy,
        verdict: .drifted(
          expected: "the protocol of the library", found: "a copy of its own, which is another"))
    }
    return copies
      + plugin.conformances.compactMap { conformance in
        guard let contract = contracts[conformance.symbol],
          let verdict = verdict(
            on: conformance.table, contract,
            versions(of: contract.module, plugin.digests, library.digests))
        else { return nil }
        return ContractDrift(
          contract: contract.name, subject: .conformance(of: conformance.type), verdict: verdict)
      }
  }

  // MARK: - Rules

  /// The versions of a module that digests say; nil if the plugin's say none.
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
    on table: ContractExpectations.Table, _ contract: ContractLibrary.Contract,
    _ versions: (expected: String, found: String?)?
  ) -> Verdict? {
    let words = 1 + contract.requirements.count
    switch (table, versions) {
    case (.fixed(let size), _) where size != words:
      return .drifted(
        expected: (size - 1).counted("requirement"), found: (words - 1).counted("requirement"))
    case (_, let (expected, found)?) where expected != found:
      return .drifted(
        expected: "version \(expected) of the contract",
        found: found.map { "version \($0)" } ?? "a contract without it")
    case (.resilient(let answered), _): return verdict(onResilient: answered, contract)
    case (_, _?): return nil
    case (.fixed, nil):
      return .notVisible(
        "the number of requirements is right; their order, names and types cannot be read from the files"
      )
    case (.unsized, nil):
      return .notVisible("the plugin is stripped, so the number of requirements is not known")
    }
  }

  private static func verdict(
    onResilient answered: [String], _ contract: ContractLibrary.Contract
  ) -> Verdict? {
    let known = Set(contract.requirements.flatMap(\.symbols))
    if let gone = answered.first(where: { !known.contains($0) }) {
      return .drifted(
        expected: "the requirement \(gone)",
        found: contract.isResilient
          ? "none of that name and type" : "a library that was built without library evolution")
    }
    let missing = contract.requirements.first { requirement in
      !requirement.hasDefault && !requirement.symbols.contains { answered.contains($0) }
    }
    guard let missing else { return nil }
    return .drifted(
      expected: "no requirement \(missing.symbols.first ?? "without a symbol")",
      found: "one that has no default")
  }
}

extension ContractDrift {
  /// The fault, to follow the plugin's name.
  ///
  /// - Parameter library: What the contracts library is called.
  /// - Returns: One sentence without its end.
  package func message(against library: String) -> String {
    switch (subject, verdict) {
    case (.ownCopy, .drifted(_, let found)):
      "the protocol \(contract) of \(library) is in this file too: \(found)"
    case (.conformance(let type), .drifted(let expected, let found)):
      "\(type) was built to conform to another \(contract) than that of \(library): it expects \(expected) "
        + "and finds \(found)"
    case (.conformance(let type), .notVisible(let reason)):
      "whether \(type) conforms to the \(contract) of \(library) is not visible: \(reason)"
    case (.table, .drifted(let expected, let found)):
      "the table of \(contract) is another than \(library) asks for: expected \(expected), found \(found)"
    case (.ownCopy, .notVisible(let reason)), (.table, .notVisible(let reason)):
      "whether \(contract) is what \(library) asks for is not visible: \(reason)"
    }
  }

  /// What to do.
  package var remedy: String {
    switch (subject, verdict) {
    case (.ownCopy, _):
      "link the contracts library, in place of compiling its sources into the plugin"
    case (_, .drifted): "build the plugin again, against the contracts that it is loaded with"
    case (.table, _): "give the table a version on both sides, with BEEHIVE_ABI"
    case (_, .notVisible):
      "build the contracts with -enable-library-evolution, or give them a version that clients refer to"
    }
  }
}

extension ContractDrift {
  /// Compares the tables of a file's services in C with what a host asks for, in the order of the records.
  ///
  /// A table may be larger: what is appended to a structure leaves what is before it as it was.
  ///
  /// - Parameters:
  ///   - records: The entries of the file.
  ///   - image: The file.
  ///   - asked: The tables of the services that the host knows; others have no verdict.
  /// - Returns: The tables that do not fit, or may not.
  package static func all(
    of records: [Record], in image: any FileImage, asked: [PluginPolicy.Table]
  ) -> [ContractDrift] {
    let memory = image.addressedMemory
    let asked = Dictionary(grouping: asked, by: \.service)
    return records.filter { $0.kind == .service && $0.attributes.isC }.flatMap { record in
      let size = memory.flatMap { record.tableSize(in: $0) }
      return asked[record.name, default: []].compactMap { verdict(on: record, size, $0) }.map {
        ContractDrift(contract: record.name, subject: .table, verdict: $0)
      }
    }
  }

  private static func verdict(
    on record: Record, _ size: UInt64?, _ asked: PluginPolicy.Table
  ) -> Verdict? {
    if let size, size < UInt64(asked.size) {
      return .drifted(expected: asked.size.counted("byte"), found: Int(size).counted("byte"))
    }
    let version = record.attributes.others.first { $0.key == "abi-version" }?.value
    guard let expected = asked.version else {
      return .notVisible(
        "it is large enough; the order and the types of its functions cannot be read from the files"
      )
    }
    guard version != expected else { return nil }
    return .drifted(
      expected: "version \(expected)", found: version.map { "version \($0)" } ?? "no version")
  }
}
