internal import BinaryImage
internal import Registration

/// Everything a Hive knows of itself, as values: for people by `description`, for programs by `json` or any
/// encoder.
///
///     print(hive.report())
///     try hive.validate()  // throws it where something is wrong
public struct Report: Encodable, Sendable {
  /// One entry.
  package struct Line: Encodable, Hashable, Sendable {
    /// `bound`, `accepted` or `rejected`; `disabled` for a module that is switched off by name.
    package var state: String
    /// `module`, `service`, …
    package var kind: String
    /// The name as declared.
    package var name: String
    /// The implementation, as declared.
    package var implementation: String?
    /// The path of the image that declares it, or the file and the place in it.
    package var origin: String
    /// The section of the image; nil for other origins.
    package var section: String?
    /// The slot in the section; nil for other origins.
    package var index: Int?
    /// The stable code of what keeps it from being bound.
    package var code: String?
    /// The reason that it is not bound, and the remedy; for a disabled one, who switches it off; for a
    /// module that does not run, why; for one that counts as started though a step failed, the failure.
    package var reason: String?
    /// Of a bound module, while the Hive starts or runs: `starting`, `started`, `failed` or
    /// `not started`. After a start that was given up: `failed` or `not started`. Nil
    /// otherwise.
    package var launch: String?
    /// `libshop.so BeehiveRecords[1]`, or `Shop/Cart.swift:12`: as `Source` says it, for people.
    var place: String
    /// That of the entry.
    var number: UInt64

    /// Everything but what is for people.
    private enum CodingKeys: CodingKey {
      case state, kind, name, implementation, origin, section, index, code, reason, launch
    }
  }

  /// The entries, in order of registration.
  package var entries: [Line]
  /// Images that could not be inspected or carry a second runtime; one sentence each, and its code.
  package var images: [String]
  /// Requirements that no module meets, and cycles; one sentence each.
  public var order: [String]
  /// Normal modules that start among the basic ones, because a basic one requires them.
  package var lifts: [String]
  /// Names that are switched off and that no module has; one sentence each.
  public var remarks: [String] = []

  /// Whether nothing is wrong: every entry is bound and can be made, every image was read, the modules can be ordered.
  package var isClean: Bool {
    images.isEmpty && order.isEmpty && entries.allSatisfy { $0.code == nil }
  }
}

extension Report: CustomStringConvertible {
  /// Aligned columns, a line for each entry, then what concerns whole images and the order.
  public var description: String {
    let rows = entries.map { line in
      [
        line.code != nil && line.state == "accepted" ? "unbound" : line.launch ?? line.state,
        line.kind, line.implementation.map { "\(line.name) → \($0)" } ?? line.name,
        line.place, line.reason ?? "",
      ].map(\.escaped)
    }
    return (rows.aligned() + images.map { "image \($0)" } + order + lifts + remarks)
      .joined(separator: "\n")
  }
}

extension Report.Line {
  /// `source` is its place, in words that no other entry has.
  init(
    _ entry: Entry, at source: String, launch stage: ModuleStage?
  ) {
    kind = entry.kind.description
    name = entry.name
    number = entry.number
    implementation = entry.implementation
    switch entry.source {
    case .image(let place):
      (origin, section, index) = (place.image.plainPath, place.section, place.index)
    case .code, .file:
      (origin, section, index) = (source, nil, nil)
    }
    let problem: Problem?
    switch entry.state {
    case .bound: (state, problem) = ("bound", nil)
    case .accepted(let found): (state, problem) = ("accepted", found)
    case .rejected(let found): (state, problem) = ("rejected", found)
    }
    code = problem?.code.rawValue
    reason = problem?.message
    place = source
    guard let stage, state != "rejected" else { return }
    if stage.code == .disabled {
      (state, code, reason) = (stage.word, nil, stage.reason)
    } else if state == "bound" {
      (launch, reason) = (stage.word, stage.reason)
    }
  }
}

/// Everything that keeps a Hive from being whole.
public struct ValidationError: Error, Sendable, CustomStringConvertible {
  /// The whole report.
  public var report: Report

  /// The faults, a line for each cause.
  public var description: String {
    var wrong = report
    wrong.entries.removeAll { $0.code == nil }
    wrong.lifts = []
    wrong.remarks = []
    return wrong.description
  }
}

extension Report {
  /// The report as JSON, for hosts without an encoder: what `JSONEncoder` makes of it, in this order
  /// of keys and with a line for each entry.
  public var json: String {
    let lists: KeyValuePairs = [
      "images": images, "order": order, "lifts": lifts, "remarks": remarks,
    ]
    let texts = lists.map { ",\n  \"\($0)\": \(JSONValue.array($1.map(JSONValue.string)).text)" }
    return "{\n  \"entries\": \(entries.map(\.json.text).lines)\(texts.joined())\n}\n"
  }
}

extension Report.Line {
  fileprivate var json: JSONValue {
    .object([
      "state": .string(state), "kind": .string(kind), "name": .string(name),
      "implementation": implementation.map(JSONValue.string), "origin": .string(origin),
      "section": section.map(JSONValue.string), "index": index.map { .integer(Int64($0)) },
      "code": code.map(JSONValue.string), "reason": reason.map(JSONValue.string),
      "launch": launch.map(JSONValue.string),
    ])
  }
}

// "Did you mean", for what a report lists.
extension Report {
  /// The most entries to look for similar types of. Each is compared with all types of the process.
  private static let most = 16

  /// Adds to what waits for a type the types that are loaded, have nearly its name and could serve.
  static func addSimilarTypes(to lines: inout [Line]) {
    let waiting = lines.indices.filter {
      lines[$0].state == "accepted" && lines[$0].code == Problem.Code.noSuchType.rawValue
    }.prefix(most)
    let wanted = waiting.map { index in
      RegisteredEntry.missingType(lines[index].kind, lines[index].name, lines[index].implementation)
    }
    for (index, similar) in zip(waiting, TypeLookup.similar(to: wanted)) {
      lines[index].reason? += question(about: similar)
    }
  }
}
