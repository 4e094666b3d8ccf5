internal import BinaryImage
internal import Registration

/// Everything a Hive knows of itself, as values: for people by `description`, for programs by `json` or any
/// encoder.
///
///     print(hive.report())
///     try hive.validate()  // throws it if something is wrong
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
    /// The path of the declaring image, or the file and the location in it.
    package var origin: String
    /// The section of the image; nil for other origins.
    package var section: String?
    /// The slot in the section; nil for other origins.
    package var index: Int?
    /// The stable code of its problem; nil if it has none.
    package var code: String?
    /// The reason that it is not bound or does not run, and the remedy; for a disabled module, what switches it off;
    /// for a module that counts as started although a step failed, the failure.
    package var reason: String?
    /// For a bound module, while the Hive starts or runs: `starting`, `started`, `failed` or `not started`. After a
    /// start that was given up: `failed` or `not started`. Nil otherwise.
    package var launch: String?
    /// The location for people, as `Source` prints it: `libshop.so BeehiveRecords[1]`, or `Shop/Cart.swift:12`.
    var place: String
    /// The number of the entry.
    var number: UInt64

    /// The keys of everything that programs read.
    private enum CodingKeys: CodingKey {
      case state, kind, name, implementation, origin, section, index, code, reason, launch
    }
  }

  /// The entries, in order of registration.
  package var entries: [Line]
  /// Images that could not be inspected or carry a second runtime; one sentence each, with its code.
  package var images: [String]
  /// Requirements that no module meets, and cycles; one sentence each.
  public var order: [String]
  /// Normal modules that start among the basic ones, because a basic one requires them.
  package var lifts: [String]
  /// Switched-off names that no module has, overrides that hide nothing, and uses of removed or earlier builds.
  public var remarks: [String] = []

  /// Whether nothing is wrong: every entry is bound and can be made, every image was read, the modules can be ordered.
  package var isClean: Bool {
    images.isEmpty && order.isEmpty && entries.allSatisfy { $0.code == nil }
  }
}

extension Report: CustomStringConvertible {
  /// One line for each entry in aligned columns, then the problems of whole images and of the order.
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
  /// Creates the line of an entry; `source` spells its location as for no other entry.
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

/// The error that lists everything that is wrong with a Hive.
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
  /// The report as JSON, for hosts without an encoder: as `JSONEncoder` encodes it, with the keys in this order and one
  /// line for each entry.
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

// "Did you mean", for the entries of a report.
extension Report {
  /// The most entries that get suggestions. Each is compared with all types of the process.
  private static let most = 16

  /// Adds suggestions to entries that wait for a type: loaded types that have nearly its name and could serve.
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
