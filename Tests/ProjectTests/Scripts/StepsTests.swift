import Foundation
import TestSupport
import Testing
import Yams

/// The steps that `Scripts/test` lists, and the scripts and documents that rely on them.
@Suite struct StepsTests {
  private static func test(_ arguments: String...) throws -> Outcome {
    try Command.run(Repository.place("Scripts/test").path, arguments)
  }

  struct Matrix: Decodable {
    struct Step: Decodable {
      var step: String
      var suite: String
      var minutes: Int
      var needs: String
      var shows: String
    }
    var include: [Step]
  }

  @Test(
    "the list as JSON is what --all adds, with what each step shows, and needs that Scripts/setup knows"
  )
  func json() throws {
    let list = try Self.test("--list", "--format", "json").expect(0)
    let steps = try JSONDecoder().decode(Matrix.self, from: Data(list.output.utf8)).include
    #expect(steps.count > 10)
    #expect(Set(steps.map(\.step)).count == steps.count)
    #expect(steps.allSatisfy { $0.suite == "all" && $0.minutes > 0 && !$0.shows.isEmpty })
    let text = try Self.test("--list").output
    for step in steps { #expect(text.contains("\n\(step.step) ")) }
    let setup = try Repository.text("Scripts/setup")
    for program in Set(steps.flatMap { $0.needs.split(separator: " ") }) {
      #expect(setup.contains("\n\(program) "), "\(program)")
    }
  }

  @Test("README shows the steps of the default suite") func shown() throws {
    let list = try Self.test("--list").lines.map { $0.split(separator: " ") }
    let steps = list.filter { $0.count > 1 && $0[1] == "default" }.map { $0[0] }
    let lines = try Document("README.md").block("", with: "$ Scripts/test").lines
    let shown = lines.filter { $0.hasPrefix("ok ") }.map { $0.split(separator: " ")[2] }
    #expect(!steps.isEmpty && shown == steps)
  }

  @Test("each step has a function, and each function is a step") func functions() throws {
    let script = try Repository.text("Scripts/test")
    let functions: [String] = script.split(separator: "\n").compactMap { line in
      guard line.hasPrefix("step_"), let end = line.firstIndex(of: "(") else { return nil }
      return line[..<end].dropFirst("step_".count).replacing("_", with: "-").description
    }
    let lines = try Self.test("--list").lines.dropFirst().filter { !$0.hasPrefix(" ") }
    let names = lines.compactMap { $0.split(separator: " ").first.map { String($0) } }
    #expect(functions.sorted() == names.sorted())
  }

  @Test(
    "what it does not know is refused",
    arguments: [["nonsense"], ["--nonsense"], ["--repeat", "0"], ["--list", "--format", "yaml"]])
  func refused(arguments: [String]) throws {
    let outcome = try Command.run(Repository.place("Scripts/test").path, arguments).expect(64)
    #expect(!outcome.errors.isEmpty)
  }

  @Test("the example of a CI is YAML, and asks for the matrix") func workflow() throws {
    let text = try Repository.text(".github/workflows/test.yml")
    let workflow = try #require(try Yams.load(yaml: text) as? [String: Any])
    let jobs = try #require(workflow["jobs"] as? [String: Any])
    #expect(Set(jobs.keys) == ["default", "list", "all"])
    #expect(text.contains("Scripts/test --list --format json"))
  }

  @Test("each script says in its second line what it is for, and CONTRIBUTING.md names it")
  func scripts() throws {
    let contributing = try Repository.text("CONTRIBUTING.md")
    for name in try FileManager.default.contentsOfDirectory(
      atPath: Repository.place("Scripts").path)
    {
      let lines = try Repository.text("Scripts/\(name)").split(separator: "\n")
      #expect(lines.count > 1 && lines[1].hasPrefix("# "), "\(name)")
      #expect(contributing.contains("`Scripts/\(name)"), "\(name)")
    }
  }
}
