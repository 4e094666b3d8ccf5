internal import BinaryImage
internal import PluginFiles

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
      case (.ownCopy, _), (_, .fits): break
      case (_, .notVisible): unseen.append(drift)
      case (_, .drifted):
        findings.append(
          Finding(
            .contractDrift, .error, plugin.place,
            drift.message(against: library.place.file) ?? "", remedy: drift.remedy,
            others: [library.place]))
      }
    }
    if let first = unseen.first, let message = first.message(against: library.place.file) {
      let others = unseen.count - 1
      findings.append(
        Finding(
          .contractNotVisible, .remark, plugin.place,
          message + (others > 0 ? "; the same holds for \(others) more" : ""),
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
