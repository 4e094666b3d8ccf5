import BeeHive
import BeeHivePlugins
import Foundation
import TestSupport
import Testing

/// A table of one function.
struct Speaker { var say: @convention(c) () -> Int32 }

/// A folder of plugins, a Hive that knows them, and a folder for marks.
struct Shop {
  let folder: Folder
  let hive: Hive
  var marks: String { folder.place("marks").path }

  init() throws {
    let folder = try Folder()
    self.folder = folder
    hive = Hive(imagesWhere: { $0.hasPrefix("\(folder.path)/") })
    try hive.plugins.add(directory: folder.path)
  }

  /// Makes a folder with one plugin, `a.so`, which is loaded. Its Hive runs unless `isStarted` is false.
  init(loading source: String, isStarted: Bool = true) async throws {
    try self.init()
    try add("a", source)
    if isStarted { try await hive.start() }
    try await hive.plugins.load(marks: marks)
  }

  /// Returns the source of a plugin. Its service returns a number, and its module's start succeeds or fails.
  static func source(
    _ number: Int, _ name: String, requires: String? = nil, starts: Int = 1, more: String = ""
  ) -> String {
    let attributes = requires.map { "BEEHIVE_REQUIRES(\"\($0)\")" } ?? "\"\""
    return """
      #include <BeeHive.h>
      #include <stdlib.h>
      static int say(void) { return \(number); }
      static const struct { int (*say)(void); } speaker = { say };
      BEEHIVE_SERVICE(\(name)_speaker, Table, &speaker);
      static bool start(const beehive_context *c) { return \(starts); }
      static const beehive_module_operations operations = { .set_up = start };
      BEEHIVE_MODULE(\(name), &operations, \(attributes));
      \(more)
      """
  }

  func add(_ name: String, _ source: String) throws {
    try build("\(name).so", source, in: folder)
    hive.plugins.refresh()
  }

  /// Replaces the file of a plugin with a new build.
  func replace(_ name: String, by source: String) throws {
    try folder.makeFolder("builds")
    try build("builds/new", source, in: folder)
    try #require(unsafe rename(folder.place("builds/new").path, path(name)) == 0)
  }

  /// Adds a plugin that needs a library in the folder `lib` next to it. The loader has one library of each name, so no
  /// other test may use this name.
  func add(_ name: String, _ module: String, needing library: String) throws {
    try folder.makeFolder("lib")
    try Compiler.library(
      "int helper(void) { return 7; }", as: "lib/\(library)", in: folder.url,
      ["-Wl,-soname,\(library)"])
    let source = Self.source(
      1, module, more: "int helper(void); int call(void) { return helper(); }")
    let made = try Compiler.library(
      source, as: "lib/made.so", in: folder.url,
      ["-w", "-Wl,--build-id", "-Wl,-rpath,$ORIGIN/lib", "-L", "lib", "-l:\(library)"])
    try FileManager.default.moveItem(at: made, to: folder.place("\(name).so"))
    hive.plugins.refresh()
  }

  /// Adds many plugins, 000.so and on: copies of one plugin, but with other names of entries.
  func add(_ count: Int, copiesOf name: String) throws {
    let first = "\(name)000"
    let made = try Compiler.library(
      Self.source(1, first), as: "made", in: folder.url, ["-w", "-Wl,--build-id"])
    let bytes = try Data(contentsOf: made)
    try FileManager.default.removeItem(at: made)
    for number in 0..<count {
      var copy = bytes
      let digits = String(1000 + number).dropFirst()
      while let range = copy.range(of: Data(first.utf8)), number > 0 {
        copy.replaceSubrange(range, with: Data("\(name)\(digits)".utf8))
      }
      try copy.save(as: folder.place("\(digits).so"))
    }
    hive.plugins.refresh()
  }

  var loadedCount: Int { hive.plugins.files.count(where: \.isLoaded) }

  func said(_ name: String) throws -> Int32 {
    unsafe try hive.service("\(name)_speaker", as: UnsafePointer<Speaker>.self).pointee.say()
  }

  var states: [PluginFile.State] { hive.plugins.files.map(\.state) }
  func path(_ name: String) -> String { folder.place("\(name).so").path }
}
