internal import Registration

/// All that is found in a set of files: `verify` lists it, and `graph` shows it.
struct Verdict {
  /// What the entries of each platform come to together, in the order of the files.
  var contradictions: [Contradictions]
  var findings: [Finding]

  /// A survey that has read types.
  init(on survey: Survey) {
    contradictions = survey.declared.groups(by: \.platform).map { Contradictions(among: $0) }
    findings = survey.findings + contradictions.flatMap(\.findings)
    findings += IdleAttributes.findings(in: survey)
    findings += MissingTypes.findings(in: survey)
    findings += SharedTypes.findings(in: survey)
    findings += ContractFindings.findings(in: survey)
    findings += NeverLinked.findings(in: survey)
    findings += Runtimes.findings(in: survey)
  }
}
