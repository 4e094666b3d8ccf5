internal import BinaryImage
internal import PluginFiles
internal import Registration

// The formats of services that show findings next to the code.
extension [Finding] {
  /// Returns a log of SARIF 2.1.0, which GitHub's code scanning and editors read. `version` is the tool's.
  func sarif(by version: String) -> JSONValue {
    let rules = Set(map(\.code)).sorted().map { JSONValue.object(["id": .string($0)]) }
    let driver = JSONValue.object([
      "name": .string("section-dump"), "version": .string(version),
      "rules": .array(rules),
    ])
    let run = JSONValue.object([
      "tool": .object(["driver": driver]), "results": .array(map(\.result)),
    ])
    return .object([
      "$schema": .string("https://json.schemastore.org/sarif-2.1.0.json"),
      "version": .string("2.1.0"), "runs": .array([run]),
    ])
  }

  /// Commands of a GitHub workflow that annotate the named files, one on each line.
  var annotations: String {
    map { finding in
      let file = finding.place.isFile ? "file=\(finding.place.path.escaped.inProperty)," : ""
      let lines = finding.text.split(separator: "\n").map { String($0).escaped.inCommand }
      return "::\(finding.level.inGitHub) \(file)title=\(finding.code.inProperty)::"
        + lines.joined(separator: "%0A") + "\n"
    }.joined()
  }

  /// A report of code quality, which GitLab shows in merge requests.
  var codeQuality: JSONValue {
    // A build may move slots and offsets, so fingerprints leave them out and count equal findings.
    var counts: [String: Int] = [:]
    return .array(
      map { finding in
        let place = finding.place.at(section: finding.place.section)
        let title = "\(finding.code) \(place) \(finding.problem?.message ?? finding.message)"
        counts[title, default: 0] += 1
        return .object([
          "description": .string(finding.text),
          "check_name": .string(finding.code),
          "fingerprint": .string("\(title) \(counts[title, default: 0])"),
          "severity": .string(finding.level.inGitLab),
          "location": .object([
            "path": .string(finding.place.path), "lines": .object(["begin": .integer(1)]),
          ]),
        ])
      })
  }
}

extension Finding {
  /// The location and the message, and the remedy on another line.
  fileprivate var text: String { (place.isFile ? "\(place): " : "") + "\(message)\n\(remedy)" }

  /// The finding as a SARIF result.
  fileprivate var result: JSONValue {
    .object([
      "ruleId": .string(code), "level": .string(level.inSARIF),
      "message": .object(["text": .string(text)]),
      // GitHub refuses a log if a result has no location.
      "locations": .array([place.location]),
      "relatedLocations": others.isEmpty ? nil : .array(others.map(\.location)),
    ])
  }

  /// Creates the finding on a file that cannot be read.
  init(_ error: ImageError) {
    self.init(
      code: error.code.rawValue, level: .error,
      place: Place(path: error.image, section: error.section, index: error.index),
      message: error.message, remedy: error.remedyInTool)
  }
}

extension AdmissionReport {
  /// The refusals of the host, plugin by plugin.
  var findings: [Finding] {
    plugins.flatMap { plugin in
      plugin.refusals.map { refusal in
        Finding(
          code: refusal.code, level: .error, place: Place(path: plugin.path),
          message: refusal.message, remedy: refusal.advice)
      }
    }
  }
}

extension EntryTrace {
  /// The loss on each way. It is a remark if the entry gets through on another way.
  var losses: [Finding] {
    ways.compactMap { way in
      way.loss.map { loss in
        Finding(
          code: loss.code ?? loss.stage.rawValue, level: isLost ? .error : .remark,
          place: way.file.map { Place(path: $0) } ?? .allFiles,
          message: "\(entry) is lost: \(loss.message)", remedy: loss.remedy ?? .correctEntry)
      }
    }
  }
}

extension Finding.Level {
  fileprivate var inSARIF: String { self == .remark ? "note" : rawValue }
  fileprivate var inGitHub: String { self == .remark ? "notice" : rawValue }
  fileprivate var inGitLab: String {
    switch self {
    case .error: "major"
    case .warning: "minor"
    case .remark: "info"
    }
  }
}

extension Place {
  /// The location in SARIF. A binary has no lines, but readers of SARIF want one.
  fileprivate var location: JSONValue {
    let part = container.map { "(\($0))" }.joined() + (section.map { " \($0)" } ?? "")
    let whole = part + (index.map { "[\($0)]" } ?? "")
    return .object([
      "physicalLocation": .object([
        "artifactLocation": .object(["uri": .string(reference)]),
        "region": .object(["startLine": .integer(1)]),
      ]),
      "logicalLocations": whole.isEmpty
        ? nil : .array([.object(["fullyQualifiedName": .string(path.fileName + whole)])]),
    ])
  }

  /// The path as a URI reference.
  private var reference: String {
    guard isFile else { return "." }
    let bytes = pathBytes ?? Array(path.utf8)
    let encoded = bytes.percentEncoded { byte in
      !(byte.isLetter || byte.isDigit || "/-._~".utf8.contains(byte))
    }
    return encoded.hasPrefix("/") ? "file://\(encoded)" : encoded
  }
}

extension String {
  /// The text after the `::` of a workflow command, encoded.
  fileprivate var inCommand: String { utf8.percentEncoded { $0 == UInt8(ascii: "%") } }
  /// The value of a property of a workflow command, encoded.
  fileprivate var inProperty: String { utf8.percentEncoded { "%:,".utf8.contains($0) } }
}
