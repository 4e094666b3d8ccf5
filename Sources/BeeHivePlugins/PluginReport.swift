internal import BeeHive
internal import BinaryImage
public import PluginFiles
internal import Registration

/// Every file that was looked at for plugins, as values: for people by `description`, for programs by `json` or any
/// encoder.
public struct PluginReport: Encodable, Hashable, Sendable {
  /// One entry of a plugin, or a file that is none.
  package struct Line: Encodable, Hashable, Sendable {
    /// The state of its file, `rejected` for an entry that no Hive accepts, or `no plugin`.
    package var state: String
    /// `module`, `service`, …, `plugin` for who the file is; nil for a file that is no plugin.
    package var kind: String?
    /// The name as declared; nil for a file that is no plugin.
    package var name: String?
    /// What implements it, as declared.
    package var implementation: String?
    /// The file's path.
    package var path: String
    /// The stable code of what keeps it out.
    package var code: String?
    /// What keeps it out; one sentence.
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

  /// The entries of each file in its turn; one line for a file that is no plugin.
  package var lines: [Line]
  /// Directories that cannot be read or watched, and one that takes no marks; one sentence each.
  public var problems: [String]
  /// Which of the plugins this process would load, and why not the others; nil where its own program cannot be read.
  public var admission: AdmissionReport?

  init(_ store: PluginStore, _ loaded: LoadedFiles, _ judged: Result<AdmissionReport, ImageError>) {
    lines = store.catalogue.candidates.flatMap { candidate -> [Line] in
      if case .failure(let error) = candidate.found {
        return [Line("no plugin", at: candidate.path, nil, error)]
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
  /// Aligned columns, a line for each entry and for each file that is no plugin, then the problems, then what would
  /// load.
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
