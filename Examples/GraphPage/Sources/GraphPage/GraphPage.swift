import Foundation

/// Reads what `section-dump graph --format json` prints from standard input, and writes a page that draws it.
@main
enum GraphPage {
  static func main() throws {
    let document = FileHandle.standardInput.readDataToEndOfFile()
    let picture = try JSONDecoder().decode(Picture.self, from: document)
    let plan = try inScript(JSONEncoder().encode(PicturePlan(of: picture)))
    try FileHandle.standardOutput.write(contentsOf: page(of: document, plan))
  }

  /// Returns one page that needs nothing else: `page.html`, with style, script and data in it.
  private static func page(of document: Data, _ plan: Data) -> Data {
    var page = Data()
    // The text between two @ in the page names its replacement.
    for part in PackageResources.page_html.split(
      separator: UInt8(ascii: "@"), omittingEmptySubsequences: false)
    {
      switch String(decoding: part, as: UTF8.self) {
      case "page.css": page += PackageResources.page_css
      case "page.js": page += PackageResources.page_js
      case "data": page += inScript(document)
      case "plan": page += plan
      default: page += part
      }
    }
    return page
  }

  /// Returns JSON for a script element, which `<` could end.
  private static func inScript(_ document: Data) -> Data {
    Data(String(decoding: document, as: UTF8.self).replacing("<", with: "\\u003c").utf8)
  }
}

/// The parts of `graph --format json` that decide the places in the picture.
struct Picture: Decodable {
  struct Node: Decodable {
    var name: String
    var caption: String
    /// The position of the file that declares the node; nil if several files or none declare it.
    var file: Int?
  }

  struct Edge: Decodable {
    var from: Int
    var to: Int
  }

  struct File: Decodable {
    var name: String
    var machine: String
  }

  var nodes: [Node]
  var edges: [Edge]
  var files: [File]

  /// The nodes of each file.
  var members: [[Int]] {
    var members: [[Int]] = files.map { _ in [] }
    for (position, node) in nodes.enumerated() {
      if let file = node.file { members[file].append(position) }
    }
    return members
  }

  /// The folder that all files are in, with a slash at its end; empty if it is the root, or there is none.
  var folder: String {
    // The name of an archive's member is between parentheses, and may have slashes.
    var common = Array((files.first?.name ?? "").utf8.prefix { $0 != UInt8(ascii: "(") })
    for file in files { common = zip(common, file.name.utf8).prefix { $0 == $1 }.map(\.0) }
    guard let slash = common.lastIndex(of: UInt8(ascii: "/")), slash > 0 else { return "" }
    return String(decoding: common[...slash], as: UTF8.self)
  }

  /// The nodes that are in no file.
  var freeNodes: [Int] { nodes.indices.filter { nodes[$0].file == nil } }
}
