internal import BinaryImage
internal import PluginFiles
internal import Registration

/// The files in folders that are not plugins, each with the reason.
struct NotPlugins {
  /// The files. A finding is set if it says more than the error.
  private(set) var files: [(path: String, error: ImageError, finding: Finding?)]

  /// Reads libraries without entries once more: their authors may have meant to declare some.
  init(_ candidates: [PluginCatalogue.Candidate]) {
    let failures = candidates.compactMap { candidate -> (path: String, error: ImageError)? in
      guard case .failure(let error) = candidate.found else { return nil }
      return (candidate.path, error)
    }
    let silent = failures.filter { $0.error.code == .noEntries }.map(\.path)
    let set = silent.isEmpty ? FileSet() : FileSet(Inputs(paths: silent), readsTypes: true)
    let causes = [Finding.Code.lookAlikeSection, .withoutEntries].map(\.rawValue)
    let findings = (set.findings + set.withoutEntries(areRequired: false))
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

  /// The files as JSON values.
  var json: [JSONValue] {
    files.map { path, error, finding in
      .object([
        ("path", .string(path)), ("code", .string(finding?.code ?? error.code.rawValue)),
        ("message", .string(finding?.message ?? error.message)),
        ("remedy", .string((finding?.remedy ?? error.remedy).description)),
      ])
    }
  }

  /// Returns a finding for each file: an error in the given folders, else a remark.
  func findings(failing folders: [String]) -> [Finding] {
    files.map { path, error, finding in
      var finding = finding ?? Finding(error)
      finding.place.path = path
      finding.level = folders.contains(path.folder) ? .error : .remark
      return finding
    }
  }

  /// Aligned lines. Files that may be meant as plugins come first.
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

  /// The most files to list for a person.
  private static let mostShown = 12
}
