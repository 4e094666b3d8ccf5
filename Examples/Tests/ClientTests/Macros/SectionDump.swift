import Foundation

/// The output of `section-dump` about a file.
enum SectionDump {
  struct Output: Decodable {
    var files: [File]
  }

  struct File: Decodable {
    var records: [Record]
    var problems: Int

    private enum Key: CodingKey { case records, problems }
    private struct Problem: Decodable {}

    init(from decoder: any Decoder) throws {
      let values = try decoder.container(keyedBy: Key.self)
      records = try values.decode([Record].self, forKey: .records)
      problems = try values.decode([Problem].self, forKey: .problems).count
    }
  }

  struct Record: Decodable {
    struct Attributes: Decodable {
      var level: String?
      var scope: String?
      var name: String?
      var shared: String?
      var requires: [String]?
      var after: [String]?
      var needs: [String]?
      var action: [String]?
      var remote: String?
    }

    var kind: String
    var name: String
    var implementation: String?
    var priority: Int
    var attributes: Attributes
    var section: String
    var accessor: String?

    /// One line, without what differs between images and languages.
    var line: String {
      var line = "\(kind) \(name) → \(implementation ?? "–") \(priority)"
      for (key, value) in [
        ("level", attributes.level), ("scope", attributes.scope), ("name", attributes.name),
        ("shared", attributes.shared),
        ("requires", attributes.requires?.joined(separator: ",")),
        ("after", attributes.after?.joined(separator: ",")), ("remote", attributes.remote),
        ("needs", attributes.needs?.joined(separator: ",")),
      ] {
        if let value { line += " \(key)=\(value)" }
      }
      for action in attributes.action ?? [] { line += " action=\(action)" }
      return line
    }
  }

  static func read(_ file: String) throws -> File {
    let outcome = try Command.run(
      Repository.sectionDump, ["records", "--format", "json", file])
    guard let output = try? JSONDecoder().decode(Output.self, from: Data(outcome.output.utf8)),
      let file = output.files.first
    else { throw outcome }
    return file
  }
}
