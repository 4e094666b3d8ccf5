import Foundation

/// A reader who follows a page in a folder: writes its files, types its commands, and compares the output.
///
/// A block that names a file is that file. A `sh` block is typed. A block without a language is a terminal session. Any
/// other block is a part of something that is tested elsewhere.
public struct Walkthrough {
  /// A block whose promise does not come true.
  public struct Broken: Error, CustomStringConvertible {
    /// The page and the block, and the actual outcome.
    public var description: String
  }

  private let page: Document
  private let folder: Folder
  private let environment: [String: String]
  private let limit: Int

  /// Prepares to follow a page.
  public init(
    _ page: Document, in folder: Folder, environment: [String: String] = [:], limit: Int = 1200
  ) {
    (self.page, self.folder, self.environment, self.limit) = (page, folder, environment, limit)
  }

  /// Follows the page from its first block to its last. Skips a block that has a reason why nothing runs it.
  ///
  /// - Parameter typing: Returns the text to type instead of a command.
  /// - Throws: ``Broken`` at the first block that does not do what the page says.
  public func walk(typing: (String) -> String = { $0 }) throws {
    for block in page.blocks where block.reason == nil {
      if let file = block.file {
        try folder.write(block.text, as: file)
      } else if block.language == "sh" {
        let outcome = try run(typing(block.text), from: block)
        guard outcome.status == 0 else { throw broken(block, "\(outcome)") }
      } else if block.language.isEmpty {
        guard !block.session.isEmpty else { throw broken(block, "it has no prompt") }
        for (command, output) in block.session {
          let outcome = try run(typing(command), from: block)
          let printed = outcome.output + outcome.errors
          guard Self.shape(printed) == Self.shape(output) else { throw broken(block, printed) }
        }
      }
    }
  }

  private func run(_ command: String, from block: Document.Block) throws -> Outcome {
    try Command.run(
      "bash", ["-euc", command], in: folder.url, environment: environment, limit: limit)
  }

  private func broken(_ block: Document.Block, _ outcome: String) -> Broken {
    Broken(description: "\(page.path):\n\(block.text)\n\(outcome)")
  }

  /// Returns the first line that a page shows and a terminal does not, in the page's order. A line `…` stands for
  /// any number of lines.
  public static func firstMissing(of shown: some Sequence<Substring>, in output: String) -> String?
  {
    var rest = shape(output)[...]
    return shape(shown.joined(separator: "\n")).first { line in
      if line == "…" { return false }
      guard let found = rest.firstIndex(of: line) else { return true }
      rest = rest[(found + 1)...]
      return false
    }
  }

  /// Returns the lines of a terminal without addresses, identities and processes, which differ between runs.
  public static func shape(_ text: String) -> [String] {
    text.split(separator: "\n").map { line in
      let line = line.replacing(#/0x[0-9a-f]+/#, with: "0x")
        .replacing(#/build-id [0-9a-f]+…/#, with: "").replacing(#/process \d+/#, with: "process")
      return line.split(separator: " ").joined(separator: " ")
    }
  }
}
