internal import BinaryImage

/// The ways of an entry from its source to its start, each up to the place where the entry is lost.
///
///     print(hive.why("module:shop"))
public struct EntryTrace: Hashable, Sendable, CustomStringConvertible {
  /// The places where an entry can be lost, in the order that it passes them.
  package enum Stage: String, CaseIterable, Sendable {
    case object = "object file"
    case archive = "archive member"
    case linked = "linked file"
    case folder, admission, loader
    case process = "loaded file"
    case rules, duplicates, binding, requirements, start
  }

  /// The fate of an entry at one of these places.
  package struct Step: Hashable, Sendable {
    /// `here` if nothing says that it is lost, `unseen` if nothing that is known can say it.
    package enum State: String, Sendable { case here, lost, unseen }

    package let stage: Stage
    package let state: State
    /// The place of the entry, or its loss.
    package let message: String
    package let code: String?
    package let remedy: Remedy?
  }

  /// One way: the steps, up to the first loss.
  package struct Way: Hashable, Sendable {
    package private(set) var steps: [Step] = []
    /// The path of the linked file, or of the file that loses the entry before that.
    package var file: String?
    /// The step that loses the entry.
    package var loss: Step? { steps.last { $0.state == .lost } }

    package init() {}

    /// Adds a step, unless the entry is lost already.
    package mutating func add(
      _ stage: Stage, _ state: Step.State, _ message: String, code: String? = nil,
      remedy: Remedy? = nil
    ) {
      guard loss == nil else { return }
      steps.append(Step(stage: stage, state: state, message: message, code: code, remedy: remedy))
    }
  }

  /// The entry: `module shop`.
  package let entry: String
  /// A way for each file that has it, or the way that loses it before that.
  package let ways: [Way]

  package init(of entry: String, _ ways: [Way]) { (self.entry, self.ways) = (entry, ways) }

  /// Whether the entry is lost on every way.
  public var isLost: Bool { ways.allSatisfy { $0.loss != nil } }

  /// The ways for people, each as aligned lines with the remedy for its loss.
  public var description: String {
    ways.map { way in
      let verdict = way.loss.map { "is lost: \($0.stage.rawValue)" } ?? "is not lost here"
      let rows = way.steps.map { step in
        ["  \(step.stage.rawValue)", step.state.title, step.message].map(\.escaped)
      }
      let remedy = way.loss?.remedy.map { ["  → \($0)".escaped] } ?? []
      return (["\(entry) \(verdict)".escaped] + rows.aligned() + remedy).joined(separator: "\n")
    }.joined(separator: "\n\n")
  }

  /// The same as JSON, for programs.
  public var json: String { "\(JSONValue.object(members).text)\n" }

  /// The members of that document.
  package var members: [(key: String, value: JSONValue)] {
    [
      ("entry", .string(entry)), ("isLost", .boolean(isLost)),
      ("ways", .array(ways.map { .array($0.steps.map(\.value)) })),
    ]
  }
}

extension EntryTrace.Step.State {
  /// The word for people.
  fileprivate var title: String {
    switch self {
    case .here: "here"
    case .lost: "lost here"
    case .unseen: "–"
    }
  }
}

extension EntryTrace.Step {
  /// The step as a value of JSON.
  package var value: JSONValue {
    .object([
      ("stage", .string(stage.rawValue)), ("state", .string(state.rawValue)),
      ("code", code.map(JSONValue.string) ?? .null), ("message", .string(message)),
      ("remedy", (remedy?.description).map(JSONValue.string) ?? .null),
    ])
  }
}

extension EntryTrace.Stage {
  /// A sentence for an entry that is not lost here.
  package var praise: String {
    switch self {
    case .object, .archive, .linked, .process: "it is there"
    case .folder: "no other file hides it"
    case .admission: "the host has nothing against it"
    case .loader: "the loader can open it"
    case .rules: "it is well formed"
    case .duplicates: "no entry before it has its name"
    case .binding: "what it names is there"
    case .requirements: "all that it requires is there"
    case .start: "it runs"
    }
  }
}
