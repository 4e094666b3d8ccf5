import Foundation

/// A page of documentation by its fenced blocks.
public struct Document: Sendable {
  /// A block: the word behind its fence, if any, and its lines.
  public struct Block: Sendable {
    /// `swift`, `c`, `json`, `sh`, or nothing for what a terminal shows.
    public var language: Substring
    /// Its lines, without ends.
    public var lines: [Substring]
    /// Why nothing runs it: the page says `<!-- Not run: … -->` before the block.
    public var reason: Substring?

    /// The file that a comment in its first two lines names: `// greeter.h`, `# CMakeLists.txt`.
    public var file: String? {
      lines.prefix(2).firstNonNil {
        $0.wholeMatch(of: #/(?://|#|/\*) ([\w/.+-]+\.\w+)(?: \*/)?/#).map { String($0.output.1) }
      }
    }

    /// The commands behind prompts, and what each prints.
    public var session: [(command: String, output: String)] {
      lines.reduce(into: []) { session, line in
        if line.hasPrefix("$ ") {
          session.append((String(line.dropFirst(2)), ""))
        } else if !session.isEmpty {
          session[session.count - 1].output += line + "\n"
        }
      }
    }

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
  /// What it links to: places in the checkout, with the anchor of a heading where the link has one.
  public let targets: [(file: String, anchor: String?)]
  /// The files that it links to, by their places in the checkout.
  public var links: [String] { targets.map(\.file) }
  /// The anchors of its headings, as GitHub makes them.
  public let anchors: [String]

  /// The folder of the guides.
  public static let guides = "Sources/BeeHive/BeeHive.docc"

  /// The pages at the root, everything in Docs, and the guides.
  public static func all() throws -> [Document] {
    let pages = try ["Docs", guides].flatMap { folder in
      try FileManager.default.subpathsOfDirectory(atPath: Repository.place(folder).path)
        .map { "\(folder)/\($0)" }
    }
    let root = try FileManager.default.contentsOfDirectory(atPath: Repository.root.path)
    return try (root + pages).filter { $0.hasSuffix(".md") }.sorted().map(Document.init)
  }

  /// Reads a page.
  public init(_ path: String) throws {
    self.path = path
    let text = try Repository.text(path)
    var blocks: [Block] = []
    var anchors: [String] = []
    var isInside = false
    var reason: Substring?
    for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
      let fence = line.drop { $0 == " " || $0 == ">" || $0 == "\t" }
      if fence.hasPrefix("```") || fence.hasPrefix("~~~") {
        isInside.toggle()
        if isInside {
          blocks.append(Block(language: fence.dropFirst(3), lines: [], reason: reason))
        }
        reason = nil
      } else if isInside {
        blocks[blocks.count - 1].lines.append(line)
      } else if let match = line.wholeMatch(of: #/<!-- Not run: (.+) -->/#) {
        reason = match.output.1
      } else if let match = line.wholeMatch(of: #/#+ (.+)/#) {
        anchors.append(Self.anchor(of: match.output.1))
      }
    }
    self.blocks = blocks
    self.anchors = anchors
    let folder = URL(filePath: "/" + path).deletingLastPathComponent()
    targets = text.matches(of: #/\]\(([^)#:]*)(?:#([^)]+))?\)/#).map { match in
      let file = match.output.1.isEmpty ? path : String(match.output.1)
      let place = match.output.1.isEmpty ? URL(filePath: "/" + path) : folder.appending(path: file)
      return (String(place.standardized.path.dropFirst()), match.output.2.map(String.init))
    }
  }

  /// The text of a page without code, addresses and comments.
  public static func prose(_ path: String) throws -> String {
    try Repository.text(path)
      .replacing(#/(?ms)^[ >]*```.*?^[ >]*```/#, with: "").replacing(#/`[^`\n]*`/#, with: "")
      .replacing(#/\]\([^)]*\)|\]\[[^\]]*\]|(?m)^\[[^\]]*\]: .*$|https?:\S+/#, with: "]")
      .replacing(#/(?s)<.*?>/#, with: "")
  }

  private static func anchor(of heading: Substring) -> String {
    heading.lowercased().compactMap { letter in
      letter == " "
        ? "-" : letter.isLetter || letter.isNumber || "-_".contains(letter) ? String(letter) : nil
    }.joined()
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
}

extension Collection {
  fileprivate func firstNonNil<Value>(_ value: (Element) -> Value?) -> Value? {
    lazy.compactMap(value).first
  }
}
