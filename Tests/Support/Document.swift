import Foundation

/// A page of documentation by its fenced blocks.
public struct Document: Sendable {
  /// A block: the word behind its fence, if any, and its lines.
  public struct Block: Sendable {
    /// `swift`, `c`, `json`, `sh`, or nothing for what a terminal shows.
    public var language: Substring
    /// Its lines, without ends.
    public var lines: [Substring]

    /// Its text, each line with its end.
    public var text: String { lines.map { $0 + "\n" }.joined() }

    /// Returns whether the block is a part of a file, in its order: blanks count for nothing, and an ellipsis or an
    /// empty line for anything.
    public func isExcerpt(of file: String) -> Bool {
      var rest = Self.plain(file)[...]
      let paragraphs = text.components(separatedBy: "\n\n")
      for part in paragraphs.flatMap({ $0.components(separatedBy: "{ … }") }).map(Self.plain) {
        guard let found = rest.firstRange(of: part) else { return false }
        rest = rest[found.upperBound...]
      }
      return true
    }

    private static func plain(_ text: String) -> String {
      text.split(whereSeparator: \.isWhitespace).joined(separator: " ")
    }
  }

  /// A block that the page lacks.
  public struct Missing: Error, CustomStringConvertible {
    /// What is missing, and where.
    public var description: String
  }

  /// Where it is in the checkout.
  public let path: String
  /// All blocks, in their order.
  public let blocks: [Block]
  /// The files that it links to, by their places in the checkout.
  public let links: [String]

  /// README and everything in Docs.
  public static func all() throws -> [Document] {
    let names = try FileManager.default.subpathsOfDirectory(atPath: Repository.place("Docs").path)
    let pages = names.filter { $0.hasSuffix(".md") }.sorted().map { "Docs/\($0)" }
    return try (["README.md"] + pages).map(Document.init)
  }

  /// Reads a page.
  public init(_ path: String) throws {
    self.path = path
    let text = try Repository.text(path)
    var blocks: [Block] = []
    var isInside = false
    for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
      let fence = line.drop { $0 == " " || $0 == ">" || $0 == "\t" }
      if fence.hasPrefix("```") || fence.hasPrefix("~~~") {
        isInside.toggle()
        if isInside { blocks.append(Block(language: fence.dropFirst(3), lines: [])) }
      } else if isInside {
        blocks[blocks.count - 1].lines.append(line)
      }
    }
    self.blocks = blocks
    let folder = URL(filePath: "/" + path).deletingLastPathComponent()
    links = text.matches(of: #/\]\(([^)#:]+)\)/#).map { match in
      String(folder.appending(path: String(match.output.1)).standardized.path.dropFirst())
    }
  }

  /// The block of a language that has this text in it.
  public func block(_ language: String, with text: String) throws -> Block {
    let found = blocks.filter { block in
      block.language == language && block.lines.contains { $0.contains(text) }
    }
    guard found.count == 1 else {
      throw Missing(description: "\(path) has \(found.count) blocks of \(language) with \(text)")
    }
    return found[0]
  }

  /// What the page shows behind the prompt of a command: the command, and what it prints.
  public func session(_ command: String) throws -> (command: Substring, output: String) {
    let block = try block("", with: "$ \(command)")
    return (
      block.lines[0].dropFirst(2),
      Block(language: "", lines: Array(block.lines.dropFirst())).text
    )
  }
}
