import Foundation
import TestSupport
import Testing

@Suite("Formats of section-dump")
struct OutputTests {
  @Test("Colours come only when asked for")
  func colours() throws {
    let name = try Fixtures.annotatedLibrary("colours.so")
    let escape = "\u{1b}["
    #expect(try !Tool.run([name]).output.contains(escape))
    #expect(try !Tool.run([name, "--color", "never"]).output.contains(escape))
    #expect(try Tool.run([name, "--color", "always"]).output.contains(escape))
  }

  @Test("A terminal has colours by itself, unless it is told otherwise", .needs("script"))
  func terminal() throws {
    let name = try Fixtures.annotatedLibrary("colours-terminal.so")
    for (variables, isColored) in [
      ("TERM=xterm", true), ("TERM=xterm NO_COLOR=1", false), ("TERM=dumb", false),
      ("TERM=xterm NO_COLOR=", true),
    ] {
      let run = "env -u NO_COLOR \(variables) '\(Repository.sectionDump)' \(name)"
      let output = try Fixtures.run("script", ["-qec", run, "/dev/null"]).output
      #expect(output.contains("BeehiveMods"))
      #expect(output.contains("\u{1b}[") == isColored, "\(variables)")
    }
  }

  @Test("A row that a terminal has no room for goes on in its next line", .needs("script"))
  func narrow() throws {
    let name = try Fixtures.annotatedLibrary("narrow.so")
    let wide = try Tool.run([name]).output
    for columns in [30, 60, 200] {
      let run = "stty cols \(columns); TERM=dumb '\(Repository.sectionDump)' \(name)"
      let text = try Fixtures.run("script", ["-qec", run, "/dev/null"]).output
      let lines = text.split(separator: "\r\n")
      for line in lines.dropFirst() where line.count > columns {
        #expect(!line.trimmingPrefix { $0 == " " }.contains("  "), "only a single cell is wider")
      }
      #expect(lines.contains { $0.hasPrefix("      ") } == (columns < 100), "\(text)")
      let words = { (text: String) in text.split(whereSeparator: \.isWhitespace) }
      #expect(words(text) == words(wide))
    }
  }

  @Test("A pipe has colours where the environment forces them")
  func forced() throws {
    let name = try Fixtures.annotatedLibrary("colours-forced.so")
    for (variables, isColored) in [
      ("TERM=dumb", false), ("FORCE_COLOR=1", true), ("CLICOLOR_FORCE=1", true),
      ("FORCE_COLOR=0", false), ("FORCE_COLOR=1 NO_COLOR=1", false),
    ] {
      let run = "env -u NO_COLOR -u FORCE_COLOR -u CLICOLOR_FORCE \(variables) \"$0\" \"$@\""
      #expect(try Tool.shell(run, [name]).output.contains("\u{1b}[") == isColored, "\(variables)")
    }
  }

  @Test("Every key is there in every file object")
  func keys() throws {
    let name = try Fixtures.annotatedLibrary("keys.so")
    for (arguments, content) in [
      ([name], "records"), (["sections", name], "sections"),
      (["hex", "--section", "BeehiveMods", name], "sections"),
      (["nosuch"], "records"), (["sections", "nosuch"], "sections"),
    ] {
      let file = try #require(try Tool.files(arguments).first)
      #expect(
        Set(file.keys) == [
          "path", "container", "format", "bits", "endian", "machine", "type", "id", content,
          "problems",
        ])
    }
    let notes = try Fixtures.tool("readelf", ["-n", name]).split(separator: "\n")
    let id = notes.first { $0.contains("Build ID: ") }?.split(separator: " ").last.map(String.init)
    #expect(try Tool.files([name]).first?["id"] as? String == id && id != nil)
  }

  @Test("A document of many files is one line each inside, and JSON lines stand alone")
  func lines() throws {
    let name = try Fixtures.annotatedLibrary("lines.so")
    let document = try Tool.run([name, name, "--format", "json"]).output.split(separator: "\n")
    #expect(document.count == 4)
    let lines = try Tool.run([name, name, "--format", "ndjson"]).output.split(separator: "\n")
    #expect(lines.count == 2)
    #expect(document[1] == lines[0] + ",")
    #expect(document[2] == lines[1])
  }

  @Test("A document without files is a document")
  func noFiles() throws {
    let name = "empty-\(UUID().uuidString)"
    try Fixtures.folder(name)
    #expect(try Tool.files(["-r", name]).isEmpty)
  }
}
