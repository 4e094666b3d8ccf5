import BinaryImage
import Foundation
import PluginFiles
import TestSupport
import Testing

@Suite("Each check refuses a library that fails it alone")
struct AdmissionChecksTests {
  /// A plugin that is good but for one thing.
  struct Row: Sendable, CustomTestStringConvertible {
    var testDescription: String
    /// The code of the refusal; nil if the plugin is good.
    var code: String?
    /// Texts that the message has to name: what was found, and what was expected.
    var says: [String]
    var policy: PluginPolicy
    /// Builds or changes the plugin `libx.so`.
    var make: @Sendable (AdmissionFolder) throws -> Void

    init(
      _ description: String, _ code: String? = nil, _ says: [String] = [],
      policy: PluginPolicy = PluginPolicy(),
      make: @escaping @Sendable (AdmissionFolder) throws -> Void
    ) {
      (testDescription, self.code, self.says) = (description, code, says)
      (self.policy, self.make) = (policy, make)
    }
  }

  static func policy(_ change: (inout PluginPolicy) -> Void) -> PluginPolicy {
    var policy = PluginPolicy()
    change(&policy)
    return policy
  }

  static let along = "int along(void) { return 1; }"

  /// Builds a plugin that calls `along` of `libalong.so`, a library in the folder `name`. Returns the library's path.
  @discardableResult
  static func bringAlong(
    _ folder: AdmissionFolder, in name: String = "plugins",
    _ source: String = AdmissionChecksTests.along
  ) throws -> String {
    try folder.folder.makeFolder(name)
    let along = try folder.library("\(name)/libalong.so", source, ["-Wl,-soname,libalong.so"])
    let place = name == "plugins" ? "" : "/../\(name)"
    try folder.plugin("x", calling("along"), along, "-Wl,-rpath,$ORIGIN\(place)")
    return along
  }

  /// Returns the source of a plugin that calls a function of another library.
  static func calling(_ name: String) -> String {
    with("int \(name)(void); int use(void); int use(void) { return \(name)(); }")
  }

  static let anchorOnly = policy { $0.startup = .anchor }

  static func with(_ source: String) -> String { Compiler.module("x") + "\n" + source }

  /// Returns the row of a plugin that is good but for one linker option.
  static func linked(
    _ what: String, _ code: String? = nil, _ says: [String] = [],
    policy: PluginPolicy = PluginPolicy(), with option: String
  ) -> Row {
    Row(what, code, says, policy: policy) { try $0.plugin("x", nil, option) }
  }

  static let rows =
    [
      Row("a good one, under everything that can be asked", policy: .strict) { try $0.plugin("x") },
      Row("a good one in C++", policy: anchorOnly) { folder in
        try Needs.programs("g++")
        try folder.plugin("x", "#include <BeeHive.h>\nBeeHiveMod(X);", with: "g++", "-x", "c++")
      },
    ] + machines + symbols + owners + searchPaths + hardening + opening + startup + contracts
    + lists

  @Test("told with what was found and what is expected", arguments: rows)
  func check(row: Row) throws {
    let folder = try AdmissionFolder()
    try row.make(folder)
    let plugins = try folder.report(row.policy).plugins
    let plugin = try #require(plugins.first { $0.path.hasSuffix("libx.so") })
    #expect(plugin.refusals.map(\.code) == (row.code.map { [$0] } ?? []), "\(plugin.refusals)")
    #expect(plugin.loads == (row.code == nil))
    let message = plugin.refusals.map(\.message).joined()
    for text in row.says { #expect(message.contains(text), "\(message)") }
  }

  @Test("What the loader may refuse is told, of what comes along too, and loads")
  func openingRemarks() throws {
    let folder = try AdmissionFolder()
    let counted = "static __thread char counted[900]; char count(void) { return ++counted[7]; }"
    let shared = "extern __thread char shared[900]; char use(void) { return shared[7]; }"
    let along = try folder.library(
      "along.so", "__thread char shared[900];", ["-Wl,-soname,along.so"])
    let early = "-ftls-model=initial-exec"
    // The relocations show it, whatever the flag says.
    let marked = try folder.plugin("v", Self.with(counted), early)
    let flags = Data([0x1e, 0, 0, 0, 0, 0, 0, 0, 0x10])
    try folder.patch(marked, at: -1, after: flags, with: Data([0]))
    try folder.plugin("w", Self.with(shared), early, along, "-Wl,-rpath,\(folder.folder.path)")
    try folder.plugin("x", Self.with(counted), "-ftls-model=global-dynamic")
    try folder.plugin("y", nil, "-fuse-ld=bfd", "-Wl,-z,x86-64-v3")
    try folder.plugin("z", nil, "-fuse-ld=bfd", "-Wl,-z,x86-64-v4")
    var plugins = try folder.report().plugins
    let isNewest = LoaderFolders.processorLevel >= 4
    #expect(plugins.removeLast().refusals.map(\.code) == (isNewest ? [] : ["not-loadable"]))
    #expect(plugins.map(\.loads) == [true, true, true, true])
    let wanted = "wants 900 bytes of static thread storage, and little is left"
    let remarks = [
      ["it \(wanted)"],
      ["\(along), which it brings along, \(wanted)", "1800 bytes of static thread storage"], [],
      ["a processor of level x86-64-v3"],
    ]
    for (plugin, remarks) in zip(plugins, remarks) {
      // Another remark says that several plugins declare the module of x.
      let found = plugin.remarks.filter { $0.contains("dlopen") }
      #expect(found.count == remarks.count, "\(found)")
      for (remark, text) in zip(found, remarks) { #expect(remark.contains(text), "\(remark)") }
    }
    try folder.host(Repository.fixture("Libraries/opens.c"))
    let opened = try Command.run(folder.folder.place("host").path, plugins.prefix(3).map(\.path))
    #expect(opened.output == "true\nfalse\ntrue\n", "as the loader has it")
  }

  @Test(
    "The parts that stay of an unloaded plugin, and those that a second build would share, are named"
  )
  func remains() throws {
    let folder = try AdmissionFolder()
    try folder.plugin(
      "x",
      Self.with(
        """
        #include <pthread.h>
        int use(void); int use(void) { return pthread_create(0, 0, 0, 0); }
        __asm__(".data\\n.globl only\\n.type only, %gnu_unique_object\\n"
                ".size only, 4\\nonly: .long 1\\n.text");
        """))
    let report = try folder.report()
    let plugin = try #require(report.plugins.first)
    #expect(plugin.remains == ["its image", "threads that it has started"])
    #expect(plugin.remarks.map { $0.contains("this one's only: a process has one") } == [true])
    #expect(
      report.description.contains("     unloading leaves its image, threads that it has started"))
  }

  @Test("The host's own verification is given the open file, and its words are told")
  func verification() throws {
    struct Unsigned: Error, CustomStringConvertible { var description = "nobody has signed it" }
    let folder = try AdmissionFolder()
    let path = try folder.plugin("x")
    var seen: [String] = []
    let report = try folder.report { descriptor, path in
      var magic = [UInt8](repeating: 0, count: 4)
      let count = unsafe pread(descriptor, &magic, 4, 0)
      #expect(count == 4 && magic == [0x7f, 0x45, 0x4c, 0x46])
      seen.append(path)
      throw Unsigned()
    }
    #expect(seen == [path])
    // The host's own files are not verified.
    let refusal = try #require(report.plugins.first?.refusals.first)
    #expect(refusal.code == "signature")
    #expect(refusal.message.contains("nobody has signed it"))
    #expect(try folder.report { _, _ in }.admitted == [path])
  }

  @Test("The host verifies every file that comes along, in the loader's order")
  func verificationOfAll() throws {
    struct Unsigned: Error {}
    let folder = try AdmissionFolder()
    let along = try Self.bringAlong(folder)
    var seen: [String] = []
    let report = try folder.report { descriptor, path in
      var status = stat()
      try #require(unsafe fstat(descriptor, &status) == 0)
      seen.append(path)
      if path == along { throw Unsigned() }
    }
    #expect(seen == ["\(folder.plugins)/libx.so", along])
    let refusals = try #require(report.plugins.first).refusals
    #expect(refusals.map(\.code) == ["signature"])
    let message = try #require(refusals.first).message
    #expect(message.contains("refuses \(along), which it brings along: Unsigned"))
  }

  @Test("A hard link neither evades a list nor breaks one")
  func hardLinks() throws {
    let folder = try AdmissionFolder()
    let path = try folder.plugin("x")
    try FileManager.default.linkItem(atPath: path, toPath: "\(folder.plugins)/other.so")
    // Another name of the file, in a folder that only this link leads to.
    let far = try folder.folder.makeFolder("far").appendingPathComponent("distant.so").path
    try FileManager.default.linkItem(atPath: path, toPath: far)
    try makeLink(at: "\(folder.plugins)/to.so", to: far)
    let host = try AdmissionHost(executable: folder.folder.place("host").path)
    for (policy, code) in [
      (Self.policy { $0.denied = ["other*"] }, ["denied"]),
      (Self.policy { $0.denied = ["another*"] }, []),
      (Self.policy { $0.allowed = ["other.so"] }, []),
      (Self.policy { $0.allowed = ["another.so"] }, ["not-allowed"]),
    ] {
      // One source has only this path, the other has all names of the folder.
      for source in [PluginCatalogue.Source.file(path), .directory(folder.plugins)] {
        let report = AdmissionFolder.report(of: PluginCatalogue(source), to: host, policy)
        #expect(report.plugins.map { $0.refusals.map(\.code) } == [code])
      }
    }
    let report = AdmissionFolder.report(
      of: PluginCatalogue(.directory(folder.plugins)), to: host,
      Self.policy { $0.denied = ["distant*"] })
    #expect(report.plugins.map { $0.refusals.map(\.code) } == [["denied"]])
  }
}
