internal import BinaryImage

/// Whether the contracts that a plugin was built against are those of the host and of what the plugin brings along.
enum ContractCheck {
  static func judge(
    _ candidate: AdmissionCandidate, among libraries: [Library], _ policy: PluginPolicy
  ) throws(ImageError) -> (refusals: [PluginRefusal], remarks: [String]) {
    let plugin = try ContractExpectations(of: candidate.library.image)
    let symbols = Set(plugin.conformances.map(\.symbol)).map { BoundSymbol(name: $0) }
    var (refusals, remarks): ([PluginRefusal], [String]) = ([], [])
    for library in libraries where library.linkage.hasSwiftSections {
      // Of the runtime's own protocols there is one version in a process, which symbols tell.
      let isAsked = try library.defines(anyOf: symbols)
      guard !library.path.fileName.hasPrefix("libswift"), isAsked || !plugin.ownProtocols.isEmpty
      else { continue }
      for drift in ContractDrift.all(of: plugin, against: try library.contracts.get()) {
        guard let message = drift.message(against: library.path.fileName) else { continue }
        let isOwn = drift.subject == .ownCopy
        let sentence = isOwn ? message.capitalizedFirst : "Its type \(message)"
        switch drift.verdict {
        case .fits: break
        case .drifted(let expected, let found):
          refusals.append(
            PluginRefusal(
              .contractDrift, "\(sentence). Calls would reach the wrong functions.", expected: expected, found: found,
              remedy: drift.remedy.capitalizedFirst + "."))
        case .notVisible where policy.unseenContracts == .refuse:
          refusals.append(
            PluginRefusal(
              .contractUnseen, "\(sentence).", remedy: drift.remedy.capitalizedFirst + "."))
        case .notVisible: remarks.append(message)
        }
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
