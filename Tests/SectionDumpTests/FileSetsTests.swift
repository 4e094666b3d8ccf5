import Foundation
import TestSupport
import Testing

/// A library as it is installed, and under further names.
@Suite("One file counts once in a set, whatever names lead to it")
struct FileSetsTests {
  /// Makes a folder. In it `libshop.so` leads by way of `libshop.so.1` to `libshop.so.1.2.3`. Folders in it hold a
  /// hard link and a copy of that file.
  private func installed() throws -> String {
    let name = "installed-\(UUID().uuidString)"
    let manager = FileManager.default
    let root = Fixtures.place(name)
    for folder in ["hard", "copied"] { try Fixtures.folder("\(name)/\(folder)") }
    let file = root.appendingPathComponent("libshop.so.1.2.3")
    try Fixtures.bytes(Fixtures.annotatedLibrary("\(name).so")).write(to: file)
    try manager.linkItem(at: file, to: root.appendingPathComponent("hard/shop.so"))
    try manager.copyItem(at: file, to: root.appendingPathComponent("copied/shop.so"))
    for (link, target) in [("libshop.so.1", "libshop.so.1.2.3"), ("libshop.so", "libshop.so.1")] {
      try manager.createSymbolicLink(
        atPath: root.appendingPathComponent(link).path, withDestinationPath: target)
    }
    return name
  }

  private static let sonames = ["libshop.so", "libshop.so.1", "libshop.so.1.2.3"]

  /// Returns the findings about whole files, and the summary.
  private func findings(
    _ arguments: [String]
  ) throws -> (found: [String], summary: String) {
    let found = try Tool.found(arguments).filter { !$0.contains("[") }
    return (found, try Tool.run(["verify"] + arguments).lines.last ?? "")
  }

  @Test("Links of sonames, hard links and a path given twice are one file")
  func names() throws {
    let folder = try installed()
    let links = Self.sonames.map { "\(folder)/\($0)" }
    let all = links + ["\(folder)/hard/shop.so", links[0], "./\(links[2])"]
    let (found, summary) = try findings(all)
    #expect(found == [])
    #expect(summary.hasPrefix("1 file, 5 further names, 4 entries: "), "\(summary)")
    let recursive = try findings(["-r", folder, "--jobs", "3"])
    #expect(recursive.summary.hasPrefix("2 files, 3 further names, 4 entries: "))
  }

  @Test(
    "A copy is a remark, and its entries are duplicates of nothing", arguments: [[], ["--isolate"]])
  func copies(options: [String]) throws {
    let folder = try installed()
    let files = ["\(folder)/libshop.so", "\(folder)/copied/shop.so"]
    let (found, summary) = try findings(options + files)
    #expect(found == ["remark copy \(files[1])"])
    #expect(summary.hasPrefix("2 files, 4 entries: 0 errors, "), "\(summary)")
    #expect(summary.hasSuffix(", 1 remark"))
    // One byte after everything that is loaded makes another file of it.
    let changed = Fixtures.place("\(folder)/copied/changed.so")
    try (Fixtures.bytes(files[0]) + [0]).write(to: changed)
    let outcome = try Tool.run(["verify", files[0], "\(folder)/copied/changed.so"]).expect(1)
    #expect(outcome.output.ranges(of: "[duplicate-").count == 4)
  }

  @Test("What is named is expected to be an object, though a walk came upon it before")
  func named() throws {
    let folder = try installed()
    try Data("text".utf8).write(to: Fixtures.place("\(folder)/readme.txt"))
    #expect(try Tool.run(["verify", "-r", folder]).status == 0)
    #expect(try Tool.run(["verify", "-r", folder, "\(folder)/readme.txt"]).status == 2)
  }

  @Test("Standard input is a file like any other")
  func standardInput() throws {
    let folder = try installed()
    let path = "\(folder)/libshop.so"
    let script = "\"$0\" verify - \(path) < \(path) && cat \(path) | \"$0\" verify - \(path)"
    let outcome = try Tool.shell(script)
    let sums = outcome.lines.filter { $0.contains(" entries: ") }
    #expect(sums.count == 2)
    #expect(sums.first?.hasPrefix("1 file, 1 further name, 4 entries: ") == true, "\(outcome)")
    #expect(sums.last?.hasPrefix("2 files, 4 entries: ") == true, "\(outcome)")
  }

  @Test("Members of an archive and those that it names are files by themselves")
  func members() throws {
    let folder = try installed()
    let object = try Fixtures.build(Fixtures.annotated, as: "\(folder)/shop.o", ["-c"])
    let other = try Fixtures.build(
      Fixtures.annotated + "\nint other = 1;", as: "\(folder)/other.o", ["-c"])
    let archives = ["\(folder)/libfull.a", "\(folder)/libthin.a"]
    try Fixtures.tool("ar", ["rcs", archives[0], object, other])
    try Fixtures.tool("ar", ["rcsT", archives[1], object])
    let outcome = try Tool.run(["verify", archives[0]])
    #expect(outcome.output.ranges(of: "[duplicate-").count == 4)
    for options in [[], ["--isolate"]] {
      try Tool.run(["verify", archives[0], object] + options)
        .expect(1, output: "\(object): remark: ")
      let thin = try Tool.run(["verify", archives[1], object] + options)
      #expect(thin.status == 0 && !thin.output.contains("[duplicate-"), "\(thin)")
    }
  }

  @Test("The picture has it once, and a comparison of two folders too")
  func graphAndDiff() throws {
    let folder = try installed()
    let links = Self.sonames.map { "\(folder)/\($0)" }
    let dot = try Tool.run(["graph"] + links).expect(0, output: "\(links[0])  ")
    #expect(dot.output.ranges(of: "subgraph").count == 1)
    #expect(try Tool.run(["diff", "-r", folder, folder]).expect(0).output == "no difference\n")
    // A build under one name is the same as one under three.
    #expect(try Tool.run(["diff", "-r", folder, "\(folder)/hard"]).status == 0)
  }

  @Test("Reports of single files show every name that was given")
  func reports() throws {
    let folder = try installed()
    let links = Self.sonames.map { "\(folder)/\($0)" }
    #expect(try Tool.files(links + [links[0]]).count == 4)
    #expect(try Tool.files(["-r", folder]).count == 5)
  }
}
