import Foundation

/// A page of documentation and its fenced blocks.
public struct Document: Sendable {
  /// A block: the word after its fence, if any, and its lines.
  public struct Block: Sendable {
    /// `swift`, `c`, `json`, `sh`, or empty for a terminal session.
    public var language: Substring
    /// The lines, without their ends.
    public var lines: [Substring]
    /// The reason why nothing runs the block, from `<!-- Not run: … -->` before it.
    public var reason: Substring?

    /// The file named by a comment in the first two lines: `// greeter.h`, `# CMakeLists.txt`.
    public var file: String? {
      lines.prefix(2).firstNonNil {
        $0.wholeMatch(of: #/(?://|#|/\*) ([\w/.+-]+\.\w+)(?: \*/)?/#).map { String($0.output.1) }
      }
    }

    /// The commands after prompts, and the output of each.
    public var session: [(command: String, output: String)] {
      lines.reduce(into: []) { session, line in
        if line.hasPrefix("$ ") {
          session.append((String(line.dropFirst(2)), ""))
        } else if !session.isEmpty {
          session[session.count - 1].output += line + "\n"
        }
      }
    }

    /// The text, each line with its end.
    public var text: String { lines.map { $0 + "\n" }.joined() }

    /// Returns whether the block is a part of a file, in its order. Blanks are ignored. An ellipsis or an empty line
    /// stands for anything.
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
    /// The missing block, and its page.
    public var description: String
  }

  /// The path of the page in the checkout.
  public let path: String
  /// All blocks, in their order.
  public let blocks: [Block]
  /// The link targets: files in the checkout, with the anchor of a heading if the link has one.
  public let targets: [(file: String, anchor: String?)]
  /// The files that the page links to, by their paths in the checkout.
  public var links: [String] { targets.map(\.file) }
  /// The anchors of the page's headings, as GitHub makes them.
  public let anchors: [String]

  /// The folder of the guides.
  public static let guides = "Sources/BeeHive/BeeHive.docc"

  /// Returns the pages at the root, everything in Docs, and the guides.
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

  /// Returns the text of a page without code, addresses and comments.
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

  /// Returns the block of a language that contains this text.
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
