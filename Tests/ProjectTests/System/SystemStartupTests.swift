import Foundation
import TestSupport
import Testing

/// Compares the functions that `section-dump startup` names with those that the loader really calls.
/// Tests/Fixtures/Startup/trace.c watches it open a library in a process of its own.
@Suite("The startup audit of libraries against what runs of them", .serialized, .full)
struct SystemStartupTests {
  private static let tracer = Result {
    let folder = try Folder()
    let path = folder.place("trace")
    try Command.output(
      "cc",
      [
        "-O2", "-Wall", "-Wextra", "-Werror", "-o", path.path,
        Repository.place("Tests/Fixtures/Startup/trace.c").path, "-ldl",
      ])
    return path.path
  }

  private static func needed() throws -> String {
    #if !arch(x86_64)
      try Test.cancel("the tracer knows x86-64 alone")
    #endif
    return try tracer.get()
  }

  /// Returns the differences between the audit of a file and the observed calls. Nil if the loader does not open the
  /// file by itself, or if the loader cannot be watched.
  private func difference(_ path: String) throws -> String? {
    let traced = try Command.run("timeout", ["20", Self.needed(), path])
    guard traced.status == 0 else { return nil }
    let ran = traced.lines.compactMap { UInt64($0.dropFirst(2), radix: 16) }
    let output = try Command.output(
      Repository.sectionDump, ["startup", "--format", "ndjson", path])
    let object = try JSONSerialization.jsonObject(with: Data(output.utf8)) as? [String: Any]
    let steps = try #require(object?["startup"] as? [[String: Any]])
    func addresses(_ kinds: String...) -> [UInt64] {
      steps.filter { kinds.contains($0["when"] as? String ?? "") }
        .compactMap { ($0["address"] as? String).flatMap { UInt64($0.dropFirst(2), radix: 16) } }
    }
    let resolvers = Set(addresses("ifunc"))
    // Resolvers for other images run when an image binds to them, as a library itself may do.
    let others = Set(addresses("ifunc-symbol"))
    let called = ran.filter { !resolvers.contains($0) && !others.contains($0) }
    let expected = addresses("init", "init-array")
    if called == expected, resolvers.isSubset(of: ran) { return "" }
    return "\(path): called \(called), named \(expected); of \(resolvers.count) resolvers "
      + "\(resolvers.subtracting(ran)) did not run"
  }

  @Test("of 200 libraries of the system", .needs("cc"))
  func system() throws {
    let folders = try Command.output("ldconfig", ["-p"]).split(separator: "\n")
      .compactMap { $0.split(separator: " ").last.map(String.init) }.filter { $0.hasPrefix("/") }
    let libraries = Set(folders.map { URL(filePath: $0).resolvingSymlinksInPath().path }).sorted()
    var compared = 0
    for library in libraries where compared < 200 {
      guard let difference = try difference(library) else { continue }
      #expect(difference == "")
      compared += 1
    }
    print("\(compared) libraries of the system compared, of \(libraries.count)")
    #expect(compared >= min(200, libraries.count / 2))
  }

  @Test("of 50 that are made with what a loader may run", .needs("cc"), arguments: 0..<50)
  func made(seed: Int) throws {
    let folder = try Folder()
    defer { folder.remove() }
    var source = "static volatile int runs;\n"
    for number in 0..<seed % 5 {
      let priority = seed % 3 == 0 ? "" : "(\(101 + (number * 37 + seed) % 200))"
      source +=
        "__attribute__((constructor\(priority))) static void up\(number)(void) { runs++; }\n"
    }
    if seed % 2 == 0 {
      source += "__attribute__((destructor)) static void down(void) { runs--; }\n"
    }
    source +=
      "void first(void);\nvoid first(void) { runs++; }\nstatic int answer(void) { return 1; }\n"
    for number in 0..<seed % 4 {
      let linkage = number == 0 ? "" : "static "
      source += """
        static int (*choose\(number)(void))(void) { return answer; }
        \(linkage)int chosen\(number)(void) __attribute__((ifunc("choose\(number)")));
        int call\(number)(void);
        int call\(number)(void) { return chosen\(number)(); }

        """
    }
    try folder.write(source, as: "made.c")
    let linkers = ["bfd", "gold", "lld", "mold"].filter {
      Needs.has("ld.\($0)") || $0 == "mold" && Needs.has("mold")
    }
    var options = [
      "-shared", "-fPIC", "-O\(seed % 3)", "-fuse-ld=\(linkers[seed % linkers.count])",
    ]
    if seed % 7 == 0 { options.append("-Wl,-init,first") }
    if seed % 5 == 0 { options.append("-s") }
    if seed % 6 == 0 { options.append("-Wl,-z,now") }
    try Command.output("gcc", options + ["made.c", "-o", "made.so"], in: folder.url)
    #expect(try difference(folder.place("made.so").path) == "", "\(options)\n\(source)")
  }
}
