import Foundation
import Testing

/// README's pictures hold the words of the tool as it is today. `Scripts/pictures` makes them anew.
@Suite struct PicturesTests {
  private static let products = Repository.products.resolvingSymlinksInPath()

  private static func picture(_ name: String) throws -> String {
    try Repository.text("Docs/pictures/\(name).svg")
  }

  /// Returns a text of XML without its escapes.
  private static func plain(_ text: Substring) -> String {
    String(text).replacing("&lt;", with: "<").replacing("&gt;", with: ">").replacing(
      "&amp;", with: "&")
  }

  /// Returns the lines, sorted, without what differs between systems and runs: addresses and their order, the machine,
  /// and the number of libraries that a process has loaded.
  private static func shape(_ text: String) -> [String] {
    let text = text.replacing("\(products.path)/", with: "")
      .replacing(#/x86_64|aarch64/#, with: "machine")
      .replacing(#/\d+ (images|no entries)/#) { "some \($0.1)" }
    return Walkthrough.shape(text).sorted()
  }

  /// Runs a command next to a process that has opened two libraries, as `Scripts/pictures` does.
  private static func run(_ command: String) throws -> String {
    let script = try Repository.text("Scripts/pictures")
    let source = try #require(script.firstMatch(of: #/(?s)host\.c" << 'END'\n(.*?)\nEND\n/#)).1
    let folder = try Folder()
    try folder.write(String(source), as: "host.c")
    let host = folder.place("host").path
    try Command.output(
      Compiler.program,
      [
        folder.place("host.c").path, "-o", host, "-I", Repository.headers, "-L", products.path,
        "-lBeeHive",
        "-Wl,-rpath," + products.path,
      ])
    let typed = command.replacing("lib*.so", with: "libStore.so libOldTill.so")
      .replacing("$(pidof host)", with: "$host")
    return try Command.output(
      "bash",
      [
        "-uc",
        """
        PATH=.:$PATH
        "$1" ./libStore.so ./libOldTill.so > /dev/null &
        host=$!
        until section-dump live --pid $host 2> /dev/null | grep -q bound || ! kill -0 $host; do sleep 0.1; done
        \(typed)
        kill $host
        """, "host", host,
      ], in: products)
  }

  @Test func `The terminal shows what the tool prints`() throws {
    let lines = try Self.picture("terminal").matches(of: #/<text [^>]*>([^<]*)<\/text>/#)
      .map { Self.plain($0.1) }
    let prompts = lines.indices.filter { lines[$0].hasPrefix("$ section-dump ") }
    #expect(prompts.count == 3 && prompts.first == 0)
    for (prompt, end) in zip(prompts, prompts.dropFirst() + [lines.count]) {
      let shown = lines[(prompt + 1)..<end].joined(separator: "\n")
      let printed = try Self.run(String(lines[prompt].dropFirst(2)))
      #expect(Self.shape(shown) == Self.shape(printed), "run Scripts/pictures: \(lines[prompt])")
    }
  }

  @Test func `The page was drawn of what the tool prints`() throws {
    let words = try #require(
      Self.picture("graph").firstMatch(of: #/<metadata>([^<]*)<\/metadata>/#)
    ).1
    let printed = try Command.output(
      Repository.sectionDump,
      ["graph", "--format", "json"]
        + ["Store", "Discounts", "Greetings", "OldTill"].map { "lib\($0).so" },
      in: Self.products)
    #expect(Self.shape(Self.plain(words)) == Self.shape(printed), "run Scripts/pictures")
  }
}
