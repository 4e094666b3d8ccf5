/// Whether the contracts that a plugin was built against are those of the host.
///
/// The one place where admission asks for it: what the verdicts are is `Drift`'s.
enum ContractCheck {
  static func refusals(
    of candidate: AdmissionCandidate, for host: AdmissionHost, _ policy: PluginPolicy
  ) -> (refusals: [PluginRefusal], remarks: [String]) { ([], []) }
}
