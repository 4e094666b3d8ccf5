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
    /// What is refused; nothing where it is good.
    var code: String?
    /// What the message has to name: what was found, and what was expected.
    var says: [String] = []
    var policy = PluginPolicy()
    /// Builds or changes the plugin `libx.so`.
    var make: @Sendable (AdmissionFolder) throws -> Void
  }

  static func policy(_ change: (inout PluginPolicy) -> Void) -> PluginPolicy {
    var policy = PluginPolicy()
    change(&policy)
    return policy
  }

  /// Builds a plugin that calls `along` of the library `libalong.so` beside it, and returns the path of that.
  @discardableResult
  static func bringAlong(
    _ folder: AdmissionFolder, _ source: String = "int along(void) { return 1; }"
  ) throws -> String {
    let along = try folder.library("plugins/libalong.so", source, ["-Wl,-soname,libalong.so"])
    try folder.plugin(
      "x", with("int along(void); int use(void); int use(void) { return along(); }"), along,
      "-Wl,-rpath,$ORIGIN")
    return along
  }

  static let anchorOnly = policy { $0.startup = .anchor }

  static func with(_ source: String) -> String {
    AdmissionFolder.head + source + "\nBEEHIVE_MODULE(x, &operations, \"\");\n"
  }

  static let rows =
    [
      Row(testDescription: "a good one, under everything that can be asked", policy: .strict) {
        try $0.plugin("x")
      },
      Row(
        testDescription: "a good one in C++", policy: anchorOnly
      ) { folder in
        try Needs.programs("g++")
        try folder.plugin(
          "x", "#include <BeeHive.h>\nBeeHiveMod(X);", with: "g++", "-x", "c++")
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

  @Test("What takes of the threads' static room is told, of what comes along too, and loads")
  func staticThreadStorage() throws {
    let folder = try AdmissionFolder()
    let source =
      "static __thread int counted[300]; int count(void); int count(void) { return ++counted[7]; }"
    let along = try folder.library(
      "plugins/along.so", source, ["-ftls-model=initial-exec", "-Wl,-soname,along.so"])
    try folder.plugin("w", nil, "-Wl,--no-as-needed", along, "-Wl,-rpath,$ORIGIN")
    try folder.plugin("x", Self.with(source), "-ftls-model=initial-exec")
    try folder.plugin("y", Self.with(source), "-ftls-model=global-dynamic")
    let plugins = try folder.report().plugins
    #expect(plugins.map(\.loads) == [true, true, true])
    for (plugin, title) in zip(plugins, ["along.so, which it brings along,", "it"]) {
      let remark = "\(title) wants 1200 bytes of static thread storage"
      #expect(plugin.remarks.contains { $0.contains(remark) }, "\(plugin.remarks)")
    }
    #expect(!plugins[2].remarks.contains { $0.contains("thread") })
  }

  @Test("More static room than the loader keeps is told in words of its own, as dlopen has it")
  func hugeThreadStorage() throws {
    let folder = try AdmissionFolder()
    try folder.plugin(
      "x",
      Self.with("static __thread char all[4096]; char *use(void); char *use(void) { return all; }"),
      "-ftls-model=initial-exec")
    let plugin = try #require(try folder.report().plugins.first)
    #expect(plugin.loads)
    #expect(plugin.remarks.contains { $0.contains("glibc keeps 1664") }, "\(plugin.remarks)")
  }

  @Test("A level of the processor that the loader asks for is told", arguments: [2, 3, 4])
  func processorLevel(level: Int) throws {
    let folder = try AdmissionFolder()
    try folder.plugin("x", nil, "-fuse-ld=bfd", "-Wl,-z,x86-64-v\(level)")
    let plugin = try #require(try folder.report().plugins.first)
    #expect(plugin.loads)
    #expect(plugin.remarks.contains { $0.contains("level x86-64-v\(level)") }, "\(plugin.remarks)")
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
    let refusal = try #require(report.plugins.first?.refusals.first)
    #expect(refusal.code == "signature")
    #expect(refusal.message.contains("nobody has signed it"))
    #expect(try folder.report { _, _ in }.admitted == [path])
  }
}
