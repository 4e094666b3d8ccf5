import Foundation
import TestSupport
import Testing

/// The hook and its pending list, each case in a process of its own.
@Suite struct ImageEventsTests {
  @Test func `A node is pending once, and goes with its image`() throws {
    #expect(try EventsHost.run("nodes") == "")
  }

  @Test func `Two threads load and close, and what came stays`() throws {
    let libraries = try ["cycle_a", "cycle_b"].map {
      try Fixture.library(Fixture.noted($0), as: "\($0).so")
    }
    #expect(try EventsHost.run("threads", libraries) == "")
    #expect(try EventsHost.run("threads", libraries + ["drain"]) == "")
  }

  @Test func `An image that announces itself stays, another goes`() throws {
    let silent = try Fixture.library(Fixture.handWritten("goes"), as: "goes.so")
    let noted = try Fixture.library(Fixture.noted("stays"), as: "stays.so")
    _ = try Fixture.library(Fixture.noted("stays_too"), as: "stays_too.so")
    #expect(try EventsHost.run("pin", [silent, noted]) == "")
  }

  @Test func `A child of a process that takes images can load its own`() throws {
    let library = try Fixture.library(Fixture.noted("child"), as: "child.so")
    #expect(try EventsHost.run("fork", [library]) == "")
  }

  @Test(arguments: ["-no-pie", "-pie"], [[], ["patchelf"]])
  func `A program's own note is right, or it is not believed`(
    _ position: String, _ tools: [String]
  ) throws {
    if let tool = tools.first { try Needs.programs(tool) }
    let program = try EventsHost.program(
      "own", as: "events-own\(position)\(tools.count)",
      [position, position == "-pie" ? "-fPIE" : "-fno-pie"])
    if let tool = tools.first {
      let path = Fixture.directory.path + ":/" + String(repeating: "long/", count: 900)
      try Fixture.run(tool, ["--set-rpath", path, program])
    }
    #expect(try Fixture.run(program, []) == "")
  }
}
