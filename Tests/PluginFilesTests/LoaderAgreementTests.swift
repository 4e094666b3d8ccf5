import BinaryImage
import Foundation
import Registration
import TestSupport
import Testing

@testable import PluginFiles

/// Compares the verdicts on plugins with those of `dlopen` on the same files.
@Suite("What loads, beside what dlopen says")
struct LoaderAgreementTests {
  /// Files that are opened one after the other.
  struct Row: Sendable, CustomTestStringConvertible {
    var testDescription: String
    /// Whether each of `liba.so`, `libb.so`, … loads.
    var loads: [Bool]
    /// Texts of the report.
    var says: [String] = []
    /// Builds the plugins, and perhaps another host.
    var make: @Sendable (AdmissionFolder) throws -> Void
  }

  /// The source of a program that opens its arguments.
  private static let host = (try? Repository.fixture("Libraries/opens.c")) ?? ""

  static let rows: [Row] = [
    Row(
      testDescription: "a library that says it is a core file", loads: [false],
      says: ["its type is 4, neither ET_DYN nor ET_EXEC"]
    ) { folder in
      let first = try folder.needing(by: "a")
      try Command.run("cp", ["libneeded.so", first.path], in: folder.folder.url).expect(0)
      let file = try FileHandle(forUpdating: first.appendingPathComponent("libneeded.so"))
      try file.seek(toOffset: 16)
      try file.write(contentsOf: [4])
    },
    Row(
      testDescription: "segments that have a page of the file in common", loads: [true]
    ) { folder in
      let path = try folder.plugin("a")
      try Command.run("objcopy", ["--gap-fill", "0xff", path]).expect(0)
    },
    Row(
      testDescription: "no table that leads to its own symbols", loads: [false],
      says: ["needs the symbol greet, which neither"]
    ) { folder in
      let use = "int greet(void) { return 1; } int twice(void) { return greet() + greet(); }"
      let path = try folder.plugin("a", Compiler.module("a") + use)
      try Command.run("strip", ["-R", ".gnu.hash", path]).expect(0)
    },
    Row(
      testDescription: "two libraries of one soname, where the first lacks what the second has",
      loads: [true, false],
      says: ["two", "gets the libpart.so.1 of liba.so, which loads before it", "/one/", "/second/"]
    ) { try $0.parts("int one;", "int one, two;", needing: ["one", "two"]) },
    Row(
      testDescription: "two libraries of one soname, where the first has everything",
      loads: [true, true], says: ["note: it gets the libpart.so.1 of liba.so"]
    ) { try $0.parts("int one, two;", "int one, two;", needing: ["one", "two"]) },
    Row(
      testDescription: "a library that the host has by another path, and that has no soname",
      loads: [false], says: ["libpart.so, which the loader does not find"]
    ) { folder in
      let path = try folder.library("libpart.so", "int part;")
      try folder.host(Self.host, path, "-Wl,--no-as-needed", path)
      try folder.plugin("a", nil, "-L\(folder.folder.path)", "-Wl,--no-as-needed", "-lpart")
    },
    Row(
      testDescription: "a library that the host needs by the name of its file", loads: [true]
    ) { folder in
      try folder.library("libpart.so", "int part;")
      let options = ["-L\(folder.folder.path)", "-Wl,--no-as-needed", "-lpart"]
      try Compiler.compile(
        Self.host, as: "host", in: folder.folder.url, options + ["-Wl,-rpath,\(folder.folder.path)"]
      )
      try folder.plugin("a", nil, options[0], options[1], options[2])
    },
    Row(
      testDescription: "a library that needs the plugin by the name of its file", loads: [false],
      says: ["libpart.so needs the library liba.so"]
    ) { folder in
      let own = try folder.library("other/liba.so", "int own;")
      try folder.library(
        "plugins/libpart.so", "int part;",
        ["-L\(own.folder)", "-Wl,--no-as-needed", "-l:liba.so", "-Wl,-soname,libpart.so"])
      try folder.plugin(
        "a", nil, "-L\(folder.plugins)", "-Wl,--no-as-needed", "-l:libpart.so",
        "-Wl,-rpath,$ORIGIN")
    },
    Row(testDescription: "a library that only a folder for this processor has", loads: [true]) {
      #if !arch(x86_64)
        try Test.cancel("only x86-64 has such levels")
      #endif
      let folder = "v/glibc-hwcaps/x86-64-v2"
      try $0.folder.makeFolder(folder)
      let needed = try $0.library(
        "\(folder)/libneeded.so", "int needed;", ["-Wl,-soname,libneeded.so"])
      try $0.plugin("a", nil, "-Wl,--no-as-needed", needed, "-Wl,-rpath,\($0.folder.path)/v")
    },
    Row(
      testDescription: "a device before the library", loads: [false], says: ["a device"]
    ) { try $0.needing(link: "/dev/null", by: "a") },
    Row(
      testDescription: "links that lead back to themselves, before the library", loads: [false],
      says: ["passes over", "Too many levels"]
    ) { try $0.needing(link: "libneeded.so", by: "a") },
    Row(
      testDescription: "a socket before the library", loads: [false], says: ["a socket"]
    ) { folder in
      let first = try folder.needing(by: "a")
      let socket = first.appendingPathComponent("libneeded.so").path
      try #require(unsafe mknod(socket, S_IFSOCK | 0o600, 0) == 0)
    },
    Row(
      testDescription: "the host's own program by the name of its file", loads: [false],
      says: ["/host, which it brings along, is not opened"]
    ) { folder in
      let stub = try folder.library("libstub.so", "int stub;", ["-Wl,-soname,host"])
      try folder.plugin("a", nil, "-Wl,--no-as-needed", stub, "-Wl,-rpath,$ORIGIN/..")
    },
    Row(
      testDescription: "a library that may answer before the plugin, and is not there",
      loads: [true]
    ) { try $0.plugin("a", nil, "-Wl,-f,libnone.so") },
    Row(
      testDescription: "a library that is to answer before the plugin, and is not there",
      loads: [false], says: ["needs the library libnone.so"]
    ) { try $0.plugin("a", nil, "-Wl,-F,libnone.so") },
    Row(
      testDescription: "a library that may answer before the plugin, and lacks one itself",
      loads: [false], says: ["libfirst.so needs the library libgone.so"]
    ) { folder in
      let gone = try folder.library("libgone.so", "int gone;", ["-Wl,-soname,libgone.so"])
      try folder.library("plugins/libfirst.so", "int first;", ["-Wl,--no-as-needed", gone])
      try FileManager.default.removeItem(atPath: gone)
      try folder.plugin("a", nil, "-Wl,-f,libfirst.so", "-Wl,-rpath,$ORIGIN")
    },
    Row(
      testDescription: "libraries that may answer before the plugin, and that are not mapped",
      loads: [true]
    ) { folder in
      let main = "int main(void) { return 0; }"
      try folder.library("plugins/libshut.so", "int shut;", ["-Wl,-z,nodlopen"])
      try folder.library("plugins/libpages.so", "int pages;")
      var pages = try LinkedBytes("\(folder.plugins)/libpages.so")
      try pages.put(8, at: #require(pages.segments(1).first) + 8)
      try pages.write()
      for (name, options) in [
        ("pie", ["-pie", "-fPIE"]), ("fixed", ["-no-pie"]), ("static", ["-static"]),
        ("object", ["-c"]),
      ] {
        try Compiler.compile(main, as: "plugins/lib\(name).so", in: folder.folder.url, options)
      }
      let names = ["shut", "pages", "pie", "fixed", "static", "object"]
      try folder.library(
        "plugins/liba.so", Compiler.module("a"),
        ["-Wl,--build-id", "-Wl,-z,noexecstack", "-Wl,-rpath,$ORIGIN"]
          + names.map { "-Wl,-f,lib\($0).so" })
    },
    Row(
      testDescription: "a library that may answer before the plugin, and cannot be relocated",
      loads: [false], says: ["libfirst.so needs the symbol gone"]
    ) { folder in
      try folder.library(
        "plugins/libfirst.so", "int gone(void); int first(void) { return gone(); }")
      try folder.plugin("a", nil, "-Wl,-f,libfirst.so", "-Wl,-rpath,$ORIGIN")
    },
    Row(
      testDescription: "a library that comes along without section headers", loads: [true]
    ) { folder in
      let part = try folder.library("plugins/libpart.so", "int part;", ["-Wl,-soname,libpart.so"])
      try folder.plugin("a", nil, "-Wl,--no-as-needed", part, "-Wl,-rpath,$ORIGIN")
      var bytes = try LinkedBytes(part)
      for (place, size) in [(40, 8), (60, 2), (62, 2)] { bytes.put(0, at: place, size: size) }
      try bytes.write()
    },
    Row(
      testDescription: "a library that is there for some processors alone, and one for all",
      loads: [false, true],
      says: ["for some processors alone: /", "on some processors dlopen takes /"]
    ) { folder in
      for name in ["libpart.so", "libboth.so"] {
        try folder.library("plugins/glibc-hwcaps/none/\(name)", "int x;", ["-Wl,-soname,\(name)"])
      }
      try folder.library("plugins/libboth.so", "int x;", ["-Wl,-soname,libboth.so"])
      for (plugin, name) in [("a", "part"), ("b", "both")] {
        try folder.plugin(
          plugin, nil, "-L\(folder.plugins)/glibc-hwcaps/none", "-Wl,--no-as-needed",
          "-l\(name)", "-Wl,-rpath,$ORIGIN")
      }
    },
    Row(
      testDescription: "a version that was renamed in the file", loads: [false],
      says: ["GLIBC_2.3.4 that it needs has the hash of another name"]
    ) { folder in
      let path = try folder.plugin(
        "a", Compiler.module("a") + "\n#include <stdio.h>\nvoid use(void) { puts(\"\"); }")
      var bytes = try Data(contentsOf: URL(fileURLWithPath: path))
      let places = bytes.ranges(of: Data("GLIBC_2.2.5".utf8))
      try #require(!places.isEmpty)
      for place in places { bytes.replaceSubrange(place, with: Data("GLIBC_2.3.4".utf8)) }
      try bytes.save(as: URL(fileURLWithPath: path))
    },
    Row(
      testDescription: "a dynamic section that a word of the next one ends", loads: [true]
    ) { try $0.plugin("a", nil, "-fuse-ld=bfd", "-Wl,--spare-dynamic-tags=0") },
    Row(
      testDescription: "a folder that is none, before the library", loads: [true]
    ) { folder in
      let first = try folder.needing(by: "a")
      try FileManager.default.removeItem(at: first)
      try folder.folder.write("text", as: "first")
    },
  ]

  @Test("is the same", arguments: rows)
  func agreement(row: Row) throws {
    let folder = try AdmissionFolder()
    try folder.host(Self.host)
    try row.make(folder)
    let report = try folder.report()
    let plugins = ["liba.so", "libb.so"].compactMap { name in
      report.plugins.first { $0.path.lastPart == name }
    }
    #expect(plugins.map(\.loads) == row.loads, "\(report)")
    let opened = try Command.output(folder.folder.place("host").path, plugins.map(\.path))
    #expect(opened.split(separator: "\n").map { $0 == "true" } == row.loads)
    let text = report.description.split(whereSeparator: \.isWhitespace).joined(separator: " ")
    for words in row.says { #expect(text.contains(words), "\(report)") }
  }

  @Test(
    "The folders of LD_LIBRARY_PATH come behind DT_RPATH and before DT_RUNPATH",
    arguments: [("--disable-new-dtags", true), ("--enable-new-dtags", false)])
  func environment(tags: String, loads: Bool) throws {
    let folder = try AdmissionFolder()
    try folder.host(Self.host)
    let other = try folder.library("other/libneeded.so", "int other;").folder
    let own = try folder.library("own/libneeded.so", "int needed;").folder
    let plugin = try folder.plugin(
      "a", Compiler.module("a") + "extern int needed; int *use = &needed;", "-L\(own)",
      "-l:libneeded.so", "-Wl,\(tags),-rpath,\(own)")
    // The path may have either separator, and a folder that is not there.
    let path = "\(other)/none;\(other)"
    let report = try folder.report(libraryPath: path)
    #expect(report.plugins.map(\.loads) == [loads], "\(report)")
    let opened = try Command.output(
      folder.folder.place("host").path, [plugin], environment: ["LD_LIBRARY_PATH": path])
    #expect(opened == "\(loads)\n")
  }

  @Test("A folder of LD_LIBRARY_PATH that others may write to is refused like one of a search path")
  func openEnvironment() throws {
    let folder = try AdmissionFolder()
    try folder.needing()
    let open = try folder.openFolder("open")
    let refusals = try #require(try folder.report(libraryPath: open).plugins.first).refusals
    #expect(refusals.map(\.code) == ["unsafe-search-path"])
    #expect(refusals.first?.message.hasPrefix("LD_LIBRARY_PATH has the loader look") == true)
    // A plugin without libraries of its own searches no folder.
    try folder.plugin("x")
    #expect(try folder.report(libraryPath: open).plugins.map(\.loads) == [true])
  }

  @Test(
    "A path with a part that dlopen replaces is refused", arguments: ["$LIB", "${ORIGIN}", "$L"])
  func expanded(name: String) throws {
    let folder = try AdmissionFolder()
    try folder.host(Self.host)
    let plugin = try folder.library(
      "\(name)/liba.so", Compiler.module("a"), ["-Wl,--build-id", "-Wl,-z,noexecstack"])
    let loads = name == "$L"
    let refusals = try folder.report(in: [name]).plugins.map { $0.refusals.map(\.code) }
    #expect(refusals == [loads ? [] : ["not-loadable"]])
    let opened = try Command.output(folder.folder.place("host").path, [plugin])
    #expect(opened == "\(loads)\n")
  }

  #if arch(x86_64)
    @Test("A function that chooses an address, and is none, which ends the process, is a refusal")
    func chosen() throws {
      let folder = try AdmissionFolder()
      try folder.host(Self.host)
      let source = """

        static int one(void) { return 1; }
        static void *choose(void) { return one; }
        __attribute__((visibility("hidden"), ifunc("choose"))) int chosen(void);
        int use(void) { return chosen(); }
        """
      let path = try folder.plugin("a", Compiler.module("a") + source)
      #expect(try folder.report().plugins.map(\.loads) == [true])
      var bytes = try Data(contentsOf: URL(fileURLWithPath: path))
      // The relocation, then its addend.
      let type = try #require(bytes.firstRange(of: Data([37, 0, 0, 0, 0, 0, 0, 0])))
      let place = type.upperBound..<type.upperBound + 8
      bytes.replaceSubrange(place, with: Data([16, 0, 0, 0, 0, 0, 0, 0]))
      try bytes.save(as: URL(fileURLWithPath: path))
      let report = try folder.report().description
      #expect(report.contains("has the loader call 0x10, where no code is"), "\(report)")
    }
  #endif

  @Test(
    "A slot of .init_array without a function, which ends the process, is a refusal",
    arguments: [("hook", "undefined-symbol"), ("environ", "contract-drift")])
  func slots(name: String, code: String) throws {
    let folder = try AdmissionFolder()
    let slot = """

      extern void \(name)(void) __attribute__((weak));
      __attribute__((section(".init_array"), used)) static void (*const slot)(void) = \(name);
      """
    try folder.plugin("a", Compiler.module("a") + slot)
    #expect(try folder.codes()["liba.so"] == [code])
  }

  @Test("An optional library that was cut off, which ends the process, is a refusal")
  func cut() throws {
    let folder = try AdmissionFolder()
    let first = try folder.library("plugins/libfirst.so", "int first;")
    try folder.plugin("a", nil, "-Wl,-f,libfirst.so", "-Wl,-rpath,$ORIGIN")
    try FileHandle(forWritingTo: URL(fileURLWithPath: first)).truncate(atOffset: 4096)
    #expect(try folder.codes()["liba.so"] == ["missing-library"])
  }

  @Test("A name in a file that is not UTF-8 is a refusal, since another file may be meant")
  func bytes() throws {
    let folder = try AdmissionFolder()
    let needed = try folder.library("libneeded.so", "int n;", ["-Wl,-soname,libneeded.so"])
    let path = try folder.plugin("a", nil, "-Wl,--no-as-needed", needed, "-Wl,-rpath,$ORIGIN")
    let name = Data("libneeded.so".utf8)
    var bytes = try Data(contentsOf: URL(fileURLWithPath: path))
    let place = try #require(bytes.range(of: name))
    bytes[place.lowerBound + 3] = 0xff
    try bytes.save(as: URL(fileURLWithPath: path))
    try folder.library("plugins/lib\u{fffd}eeded.so", "int n;")
    let refusals = try #require(try folder.report().plugins.first { $0.path == path }).refusals
    #expect(refusals.map(\.code) == ["not-loadable"])
    #expect(refusals.first?.message.contains("is not UTF-8") == true)
  }

  @Test("A FIFO in place of a library, which would keep the loader waiting, is a refusal")
  func fifo() throws {
    let folder = try AdmissionFolder()
    let first = try folder.needing(by: "a")
    try Command.output("mkfifo", [first.appendingPathComponent("libneeded.so").path])
    let refusal = try #require(try folder.report().plugins.first?.refusals.first)
    #expect(refusal.code == "missing-library" && refusal.message.contains("a FIFO"))
  }

  @Test("A folder that only the processor knows is no folder of the search")
  func platform() throws {
    let folder = try AdmissionFolder()
    let machine = try AdmissionHost(executable: folder.folder.place("host").path).identity.machine
    try folder.library("plugins/\(machine)/libpart.so", "int part;")
    try folder.plugin(
      "a", nil, "-L\(folder.plugins)/\(machine)", "-Wl,--no-as-needed", "-lpart",
      "-Wl,-rpath,$ORIGIN/$PLATFORM")
    let plugin = try #require(try folder.report().plugins.first)
    #expect(plugin.refusals.map(\.code) == ["missing-library"])
    #expect(plugin.remarks.contains("on some processors dlopen looks in $ORIGIN/$PLATFORM, too"))
  }

  /// Returns the folders that a loader prints as built in.
  private static func builtFolders(of loader: String) throws -> [String] {
    let help = try Command.run(loader, ["--help"])
    let folders = help.lines.compactMap { line in
      line.contains("(system search path)")
        ? line.split(separator: " ").first.map(String.init) : nil
    }
    guard !folders.isEmpty else { try Test.cancel("\(loader) does not print them") }
    return folders
  }

  @Test(
    "The folders that are built into the loader are those that it prints", arguments: [true, false])
  func systemFolders(isCopy: Bool) throws {
    let folder = try AdmissionFolder()
    var program = try Library(of: OpenedFile(path: folder.folder.place("host").path))
    let loader = try #require(program.interpreter)
    var folders = try Self.builtFolders(of: loader)
    if isCopy {
      // A copy of the loader, with another first folder.
      let copy = folder.folder.place("ld-linux.so").path
      try FileManager.default.copyItem(atPath: loader.resolved, toPath: copy)
      var bytes = try Data(contentsOf: URL(fileURLWithPath: copy))
      let (old, new) = ("\(folders[0])/\0", "\(folders[0].dropLast())X/\0")
      while let place = bytes.range(of: Data(old.utf8)) {
        bytes.replaceSubrange(place, with: Data(new.utf8))
      }
      try bytes.save(as: URL(fileURLWithPath: copy))
      try AdmissionFolder.mode(0o755, copy)
      try folder.host("int main(void) { return 0; }", "-Wl,--dynamic-linker=\(copy)")
      program = try Library(of: OpenedFile(path: folder.folder.place("host").path))
      folders = try Self.builtFolders(of: copy)
      #expect(folders.first?.hasSuffix("X") == true)
    }
    let search = LibrarySearch(of: program)
    #expect(search.loader.system == folders)
  }

  @Test(
    "Of the loader's cache the first entry for this machine counts, and those for processors are told"
  )
  func cacheEntries() throws {
    let identity = ImageIdentity(
      path: "host", format: .elf, bits: 64, byteOrder: .little, machine: "x86_64",
      kind: .executable)
    // Flags, path, processor.
    let entries: [(flags: UInt32, path: String, processor: UInt32)] = [
      (0x003, "/lib/i386-linux-gnu/libx.so", 0), (0x303, "/lib/v3/libx.so", 0x4000_0000),
      (0x303, "/lib/gone/libx.so", 0), (0x303, "/lib/libx.so", 0),
    ]
    var texts = Array("libx.so\0".utf8)
    var rows: [UInt8] = []
    let start = 48 + 24 * entries.count
    for entry in entries {
      let fields = [entry.flags, UInt32(start), UInt32(start + texts.count), 0, 0, entry.processor]
      texts += Array("\(entry.path)\0".utf8)
      rows += fields.flatMap { field in (0..<4).map { UInt8(truncatingIfNeeded: field >> (8 * $0)) }
      }
    }
    let head = Array("glibc-ld.so.cache1.1".utf8) + [UInt8(entries.count)]
    let cache = head + [UInt8](repeating: 0, count: 48 - head.count) + rows + texts
    let found = try #require(loaderCache(of: cache, for: identity)["libx.so"])
    let paths = ["/lib/v3/libx.so", "/lib/gone/libx.so", "/lib/libx.so"]
    #expect(found.map(\.path) == paths && found.map(\.isForProcessors) == [true, false, false])
  }

  @Test("A library is the system's by the folder that it is in, and not by the way to it")
  func systemLibraries() throws {
    let folder = try AdmissionFolder()
    let identity = try AdmissionHost(executable: folder.folder.place("host").path).identity
    let cache = loaderCache(of: systemFile("/etc/ld.so.cache").bytes, for: identity)
    let library = try #require(cache["libm.so.6"]?.first?.path)
    try folder.plugin("a", nil, "-Wl,--no-as-needed", "-lm", "-Wl,-rpath,\(library.folder)")
    let policy = AdmissionChecksTests.policy { $0.allowed = ["liba.so"] }
    #expect(try folder.report(policy).plugins.first?.loads == true)
  }

  @Test(
    "A file that needs more names in more folders than are worth a look costs some sentences",
    arguments: [true, false])
  func lookups(hasFolders: Bool) throws {
    let folder = try AdmissionFolder()
    let long = String(repeating: "0123456789abcdef", count: 200)
    let needed = try folder.library("needed.so", "int needed;", ["-Wl,-soname,\(long)"])
    let folders = (0..<3000).map { "/n/\(String($0, radix: 16))" }.joined(separator: ":")
    let path = try folder.plugin(
      "a", nil, "-Wl,--no-as-needed", needed, "-Wl,-rpath,\(hasFolders ? folders : "/n")",
      "-Wl,--spare-dynamic-tags=6000")
    var file = try LinkedBytes(path)
    let name = try file.value(1)
    let tags = try stride(from: file.dynamic().lowerBound, to: file.dynamic().upperBound, by: 16)
    // Each name is another end of the long name, and is needed twice.
    for (index, tag) in tags.dropLast().filter({ file.number(at: $0) == 0 }).enumerated() {
      file.put(1, at: tag)
      file.put(name + index / 2 % 3000, at: tag + 8)
    }
    try file.write()
    let plugin = try #require(try folder.report().plugins.first)
    let refusals = plugin.refusals
    #expect(Set(refusals).count == refusals.count)
    guard hasFolders else {
      #expect(refusals.count == Scan.mostRefused)
      #expect(plugin.remarks == ["of the libraries that are missing, the first are listed"])
      return
    }
    #expect(refusals.count < 10)
    #expect(refusals.last?.message.contains("is not looked for any more") == true)
  }
}

extension AdmissionFolder {
  /// Builds two plugins that need libraries of one soname. The second needs these variables of its library.
  fileprivate func parts(_ first: String, _ second: String, needing names: [String]) throws {
    for (plugin, place, source) in [("a", "one", first), ("b", "second", second)] {
      let part = try library("\(place)/libpart.so.1", source, ["-Wl,-soname,libpart.so.1"])
      let uses = plugin == "a" ? ["one"] : names
      let use = uses.map { "extern int \($0); int *use_\($0)(void) { return &\($0); }\n" }.joined()
      try self.plugin(plugin, Compiler.module(plugin) + use, part, "-Wl,-rpath,\(part.folder)")
    }
  }
}
