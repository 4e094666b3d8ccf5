import Foundation

/// README.md by its fenced blocks.
struct Readme {
  /// A block: the word behind its fence, if any, and its lines.
  struct Block {
    var language: Substring
    var lines: [Substring]

    /// Its text, each line with its end.
    var text: String { lines.map { $0 + "\n" }.joined() }
  }

  /// A block that README lacks.
  struct Missing: Error, CustomStringConvertible {
    var description: String
  }

  /// All blocks, in their order.
  let blocks: [Block]

  init() throws {
    var blocks: [Block] = []
    var isInside = false
    for line in try Repository.text("README.md").split(
      separator: "\n", omittingEmptySubsequences: false)
    {
      if line.hasPrefix("```") {
        isInside.toggle()
        if isInside { blocks.append(Block(language: line.dropFirst(3), lines: [])) }
      } else if isInside {
        blocks[blocks.count - 1].lines.append(line)
      }
    }
    self.blocks = blocks
  }

  /// The block of a language that has this text in it.
  func block(_ language: String, with text: String) throws -> Block {
    let found = blocks.filter { block in
      block.language == language && block.lines.contains { $0.contains(text) }
    }
    guard found.count == 1 else {
      throw Missing(description: "README has \(found.count) blocks of \(language) with \(text)")
    }
    return found[0]
  }

  /// What README shows behind the prompt of a command: the command, and what it prints.
  func session(_ command: String) throws -> (command: Substring, output: String) {
    let block = try block("", with: "$ \(command)")
    return (
      block.lines[0].dropFirst(2),
      Block(language: "", lines: Array(block.lines.dropFirst())).text
    )
  }
}
