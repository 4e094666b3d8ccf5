internal import BinaryImage
internal import Registration

/// Whether the contracts that a plugin was built against are those of the host and of what the plugin brings along.
enum ContractCheck {
  static func judge(
    _ candidate: AdmissionCandidate, for host: AdmissionHost, with companions: [Library],
    _ policy: PluginPolicy
  ) throws(ImageError) -> (refusals: [PluginRefusal], remarks: [String]) {
    let image = candidate.library.image
    let records = policy.tables.isEmpty ? [] : try candidate.library.records.get()
    var drifts = ContractDrift.all(of: records, in: image, asked: policy.tables)
      .map { ($0, "the host") }
    // A note finds its entries all the same; nothing finds its conformances.
    let isSeen = image.hasSectionTable
    let plugin = isSeen ? try ContractExpectations(of: image) : ContractExpectations()
    let symbols = Set(plugin.conformances.map(\.symbol)).map { BoundSymbol(name: $0) }
    for library in host.libraries.members + companions where library.linkage.hasSwiftSections {
      // Of the runtime's own protocols there is one version in a process, which symbols tell.
      let isAsked = try library.defines(anyOf: symbols)
      guard !library.path.fileName.hasPrefix("libswift"), isAsked || !plugin.ownProtocols.isEmpty
      else { continue }
      drifts += ContractDrift.all(of: plugin, against: try library.contracts.get())
        .map { ($0, library.path.fileName) }
    }
    // What is loaded counts, and not what took the name of its file since.
    for (name, ranges) in host.replaced {
      let library = ContractLibrary(loadedAs: name, at: ranges, for: plugin)
      drifts += ContractDrift.all(of: plugin, against: library)
        .map { ($0, "\(name.fileName) in memory") }
    }
    var found = sorted(drifts, policy)
    if candidate.library.hidesSwift {
      let message =
        "it has no section headers, so the contracts that it was built against are not known"
      if policy.unseenContracts == .refuse {
        found.refusals.append(
          PluginRefusal(
            .contractUnseen, "\(message.capitalizedFirst).",
            remedy: "Take the file as it was before its section headers were stripped."))
      } else {
        found.remarks.append(message)
      }
    }
    return found
  }

  /// What is refused, and what is only told.
  private static func sorted(
    _ drifts: [(ContractDrift, String)], _ policy: PluginPolicy
  ) -> (refusals: [PluginRefusal], remarks: [String]) {
    var (refusals, remarks): ([PluginRefusal], [String]) = ([], [])
    for (drift, library) in drifts {
      guard let message = drift.message(against: library) else { continue }
      let sentence = message.capitalizedFirst
      switch drift.verdict {
      case .fits: break
      case .drifted(let expected, let found):
        let isType = if case .conformance = drift.subject { true } else { false }
        refusals.append(
          PluginRefusal(
            .contractDrift,
            "\(isType ? "Its type \(message)" : sentence). Calls would reach the wrong functions.",
            expected: expected, found: found,
            remedy: drift.remedy.capitalizedFirst + "."))
      case .notVisible where policy.unseenContracts == .refuse:
        refusals.append(
          PluginRefusal(
            .contractUnseen, "\(sentence).", remedy: drift.remedy.capitalizedFirst + "."))
      case .notVisible: remarks.append(message)
      }
    }
    return (refusals, remarks)
  }
}

extension Library {
  fileprivate func defines(anyOf symbols: [BoundSymbol]) throws(ImageError) -> Bool {
    for symbol in symbols where try bindings.get().define(symbol) { return true }
    return false
  }
}
