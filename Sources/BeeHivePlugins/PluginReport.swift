internal import BeeHive
internal import BinaryImage
public import PluginFiles
internal import Registration

/// A report on every file that was examined for plugins: `description` for people, `json` and encoders for programs.
public struct PluginReport: Encodable, Hashable, Sendable {
  /// One entry of a plugin, or one file that is no plugin.
  package struct Line: Encodable, Hashable, Sendable {
    /// The state of its file, `rejected` for an entry that no Hive accepts, or `no plugin`.
    package var state: String
    /// `module`, `service`, …, or `plugin` for the file's identity; nil for a file that is no plugin.
    package var kind: String?
    /// The name as declared; nil for a file that is no plugin.
    package var name: String?
    /// The declared implementation.
    package var implementation: String?
    /// The file's path.
    package var path: String
    /// The stable code of the reason for this state.
    package var code: String?
    /// The reason for this state; one sentence.
    package var reason: String?

    fileprivate init(_ entry: Entry, of file: PluginFile) {
      (state, path) = (file.state.word, file.path)
      (code, reason) = (file.state.reason?.code, file.state.reason?.message)
      (kind, name) = (entry.kind.description, entry.name)
      implementation = entry.implementation
      if case .rejected(let problem) = entry.state {
        (state, code, reason) = ("rejected", problem.code.rawValue, problem.message)
      }
    }

    fileprivate init(
      _ state: String, at path: String, _ identity: PluginIdentity? = nil,
      _ error: ImageError? = nil
    ) {
      (self.state, self.path) = (state, path)
      (kind, name) = (identity.map { _ in "plugin" }, identity?.title)
      (code, reason) = (error?.code.rawValue, error?.message)
    }

    fileprivate var json: JSONValue {
      .object([
        "state": .string(state), "kind": kind.map(JSONValue.string),
        "name": name.map(JSONValue.string),
        "implementation": implementation.map(JSONValue.string), "path": .string(path),
        "code": code.map(JSONValue.string), "reason": reason.map(JSONValue.string),
      ])
    }
  }

  /// The entries, file by file; one line for a file that is no plugin.
  package var lines: [Line]
  /// Problems with directories that cannot be read or watched, or that take no marks; one sentence each.
  public var problems: [String]
  /// The plugins that this process would load, and the reasons against the others; nil if its program cannot be read.
  public var admission: AdmissionReport?

  init(_ store: PluginStore, _ loaded: LoadedFiles, _ judged: Result<AdmissionReport, ImageError>) {
    lines = store.catalogue.candidates.flatMap { candidate -> [Line] in
      if case .failure(let error) = candidate.found {
        let isNone = candidate.stamp == nil || [.noEntries, .notAnObject].contains(error.code)
        return [Line(isNone ? "no plugin" : "refused", at: candidate.path, nil, error)]
      }
      guard let file = PluginFile(candidate, loaded, store) else { return [] }
      let identity = file.identity.map { [Line(file.state.word, at: file.path, $0)] } ?? []
      return identity + file.entries.map { Line($0, of: file) }
    }
    problems = store.problems.map(\.description)
    switch judged {
    case .success(let report): admission = report
    case .failure(let error): problems.append(error.description)
    }
  }
}

extension PluginReport: CustomStringConvertible {
  /// Aligned columns: a line for each entry and each file that is no plugin, then the problems and the admission.
  public var description: String {
    let rows = lines.map { line in
      [
        line.state, line.kind ?? "",
        (line.name ?? "") + (line.implementation.map { " → \($0)" } ?? ""), line.path,
        line.reason ?? "",
      ].map(\.escaped)
    }
    let judged = admission.map { ["", $0.description] } ?? []
    return (rows.aligned() + problems + judged).joined(separator: "\n")
  }

  /// The report as JSON, for hosts without an encoder, with a line for each entry.
  public var json: String {
    let entries = lines.map(\.json.text).lines
    let problems = JSONValue.texts(problems).text
    let judged = admission.map { ",\n  \"admission\": \($0.value.text)" } ?? ""
    return "{\n  \"lines\": \(entries),\n  \"problems\": \(problems)\(judged)\n}\n"
  }
}
