import Foundation
import TestSupport

/// C programs around the hook. The tests' own process does not export the hook, and its list belongs to the Hive.
enum EventsHost {
  private static let support = Repository.place("CSupport")

  private static var includes: [String] {
    ["CBeeHive", "CImageEvents", "CImageList"].flatMap {
      ["-I", support.appendingPathComponent("\($0)/include").path]
    }
  }

  private static func sources(of target: String) throws -> [String] {
    let directory = support.appendingPathComponent(target)
    return try FileManager.default.contentsOfDirectory(atPath: directory.path)
      .filter { $0.hasSuffix(".c") }.map { directory.appendingPathComponent($0).path }
  }

  /// A shared library with the hook, like libBeeHive.so.
  static let runtime = Result {
    try Fixture.compile(
      "", as: "libevents.so",
      try sources(of: "CImageEvents") + sources(of: "CImageList")
        + ["-shared", "-fPIC", "-O2", "-std=gnu11", "-Wl,-soname,libevents.so", "-lelf"] + includes)
  }

  /// Builds a program of `Tests/Fixtures/ImageEvents`, linked with the hook, and returns its path.
  static func program(
    _ name: String, as file: String, _ options: [String] = []
  ) throws -> String {
    _ = try runtime.get()
    return try Fixture.compile(
      Repository.fixture("ImageEvents/\(name).c"), as: file,
      ["-std=gnu11", "-Wall", "-pthread", "-Wl,--no-as-needed", "-L.", "-levents"]
        + ["-Wl,-rpath,$ORIGIN", "-I", Repository.place("Tests/Fixtures/ImageEvents").path]
        + includes + options)
  }

  /// Builds and runs a program of that folder. Returns its output, which is empty if all is well.
  static func run(_ name: String, _ arguments: [String] = []) throws -> String {
    try Fixture.run(program(name, as: "events-\(name)"), arguments)
  }
}
