internal import BinaryImage
internal import PluginFiles
internal import Registration

/// The files of folders that are no plugins, each with the reason.
struct NotPlugins {
  /// A file; what was found in it, if that says more than its kind.
  private(set) var files: [(path: String, error: ImageError, finding: Finding?)]

  /// Looks once more into libraries that declare nothing: somebody may have meant them to.
  init(_ candidates: [PluginCatalogue.Candidate]) {
    let failures = candidates.compactMap { candidate -> (path: String, error: ImageError)? in
      guard case .failure(let error) = candidate.found else { return nil }
      return (candidate.path, error)
    }
    let silent = failures.filter { $0.error.code == .noEntries }.map(\.path)
    let survey = silent.isEmpty ? Survey() : Survey(Inputs(paths: silent), readsTypes: true)
    let causes = [Finding.Code.lookAlikeSection, .withoutEntries].map(\.rawValue)
    let findings = (survey.findings + survey.withoutEntries(areRequired: false))
      .filter { causes.contains($0.code) }
    let byPath = Dictionary(findings.map { (Array($0.place.path.utf8), $0) }) { first, _ in first }
    files = failures.map { path, error in
      guard isDirectory(Array(path.utf8)) else { return (path, error, byPath[Array(path.utf8)]) }
      let directory = Finding(
        code: error.code.rawValue, level: .remark, place: Place(path: path),
        message: "it is a directory, and not looked into", remedy: .nameFolder)
      return (path, error, directory)
    }
  }

  /// As values of JSON.
  var json: [JSONValue] {
    files.map { path, error, finding in
      .object([
        ("path", .string(path)), ("code", .string(finding?.code ?? error.code.rawValue)),
        ("message", .string(finding?.message ?? error.message)),
        ("remedy", .string((finding?.remedy ?? error.remedy).description)),
      ])
    }
  }

  /// As findings: errors in the folders that have no plugin.
  func findings(failing folders: [String]) -> [Finding] {
    files.map { path, error, finding in
      var finding = finding ?? Finding(error)
      finding.place.path = path
      finding.level = folders.contains(path.folder) ? .error : .remark
      return finding
    }
  }

  /// Aligned lines, first what may have been meant as a plugin.
  var lines: [String] {
    guard !files.isEmpty else { return [] }
    let ranks = files.map { _, error, finding in
      finding != nil && error.code == .noEntries
        ? 0 : error.code == .unreadable ? 1 : error.code == .noEntries ? 2 : 3
    }
    let order = files.indices.sorted { (ranks[$0], $0) < (ranks[$1], $1) }
    let rows = order.prefix(Self.mostShown).map { position in
      let (path, error, finding) = files[position]
      let reason = finding.map { "\($0.message.capitalizedFirst); \($0.remedy)." }
      return ["  \(path.fileName.escaped)", (reason ?? error.message).escaped]
    }
    let more = files.count - rows.count
    return [files.count == 1 ? "1 file is no plugin:" : "\(files.count) files are no plugins:"]
      + rows.aligned() + (more > 0 ? ["  and \(more) more, which --format json lists"] : [])
  }

  /// The most files that people read of.
  private static let mostShown = 12
}
