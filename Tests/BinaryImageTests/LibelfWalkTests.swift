import Foundation
import TestSupport
import Testing

/// libelf reads the copies that the walk makes. Each image with notes passes through libelf, and a failure to open is
/// reported. Nothing of libelf runs in the callback of `dl_iterate_phdr`.
@Suite struct LibelfWalkTests {
  /// A C host with plugins. It prints a line for each entry, remark, and image with a note segment.
  private static let host = Result {
    try Fixture.compile(
      Repository.fixture("ImageEvents/plugin-host.c"), as: "libelf-host",
      [
        "-O1", "-I", Repository.headers, "-L\(Repository.products.path)", "-lBeeHive",
        "-Wl,-rpath,\(Repository.products.path)",
      ])
  }

  private static let plugins = Result {
    try Fixture.notedLibraries((0..<4).map { "counted_\($0)" })
  }

  /// Returns the rest of each line that begins with a word.
  private func lines(_ outcome: Outcome, _ word: String) -> [String] {
    outcome.lines.filter { $0.hasPrefix(word + " ") }.map { String($0.dropFirst(word.count + 1)) }
  }

  @Test("libelf reads each image with a note", .opensLibrary) func counts() throws {
    let plugins = try Self.plugins.get()
    let (outcome, counts) = try LibelfCounter().run(Self.host.get(), plugins)
    #expect(outcome.status == 0, "\(outcome)")
    #expect(lines(outcome, "remark") == [])
    #expect(lines(outcome, "entry").count == 3 * plugins.count)
    let noted = lines(outcome, "noted")
    #expect(noted.count > plugins.count, "\(noted)")
    for call in ["elf_memory", "gelf_getphdr", "elf_getdata_rawchunk", "gelf_getnote"] {
      #expect(try #require(counts[call]) >= noted.count, "\(call) of \(counts)")
    }
  }

  @Test("The Hive reports each image that libelf did not open", .opensLibrary) func unread() throws
  {
    let plugins = try Self.plugins.get()
    let (outcome, counts) = try LibelfCounter().run(Self.host.get(), plugins, isBroken: true)
    #expect(outcome.status == 0, "\(outcome)")
    #expect(lines(outcome, "entry") == [])
    let remarks = lines(outcome, "remark")
    for plugin in plugins {
      #expect(remarks.contains { $0.hasPrefix("\(plugin): libelf did not open ") }, "\(remarks)")
    }
    #expect(try #require(counts["elf_memory"]) >= plugins.count)
    #expect(counts["gelf_getnote"] == 0)
  }

  /// Heap profilers are such allocators: they walk the list for a backtrace.
  @Test("An allocator that walks the loader's list under its own lock does not deadlock")
  func profiledAllocator() throws {
    #expect(try EventsHost.run("profiled") == "")
  }

  @Test("Several threads walk at once, each with handles of its own") func threads() throws {
    #expect(try EventsHost.run("walking", Self.plugins.get()) == "")
  }
}
