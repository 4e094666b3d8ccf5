internal import BinaryImage
internal import PluginFiles
internal import Registration

// Findings in the forms of services that show them beside the code.
extension [Finding] {
  /// A log of SARIF 2.1.0 by a version of the tool, which GitHub's code scanning and editors read.
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

  /// Commands of a GitHub workflow, a line each, which annotate the files that they name.
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
    // A build may move slots and offsets: what is alike but for them is counted.
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
  /// The place, what was found, and on another line what to do.
  fileprivate var text: String { (place.isFile ? "\(place): " : "") + "\(message)\n\(remedy)" }

  /// The finding as a result of SARIF.
  fileprivate var result: JSONValue {
    .object([
      "ruleId": .string(code), "level": .string(level.inSARIF),
      "message": .object(["text": .string(text)]),
      // GitHub refuses a log with a result that has none.
      "locations": .array([place.location]),
      "relatedLocations": others.isEmpty ? nil : .array(others.map(\.location)),
    ])
  }

  /// The reason that a file cannot be read.
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
  /// The loss on each way; one that leaves another way is a remark.
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
  /// The place as a location of SARIF. A binary has no lines, but readers of SARIF want one.
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

  /// The path as a reference of a URI.
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
  /// The text behind the `::` of a command of a workflow.
  fileprivate var inCommand: String { utf8.percentEncoded { $0 == UInt8(ascii: "%") } }
  /// The value of one of its properties.
  fileprivate var inProperty: String { utf8.percentEncoded { "%:,".utf8.contains($0) } }
}
