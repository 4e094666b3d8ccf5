internal import Registration

/// All that is found in a set of files: `verify` lists it, and `graph` shows it.
struct Verdict {
  var findings: [Finding]
  /// The cycles among the entries of each platform, as `declaredByPlatform` orders them.
  var cycles: [[[Survey.Declared]]]

  /// A survey that has read types.
  init(on survey: Survey) {
    let contradictions = Contradictions.byPlatform(in: survey)
    cycles = contradictions.map(\.cycles)
    findings = survey.findings + contradictions.flatMap(\.findings)
    findings += Implementations.findings(in: survey)
    findings += SharedTypes.findings(in: survey)
    findings += NeverLinked.findings(in: survey)
  }
}
