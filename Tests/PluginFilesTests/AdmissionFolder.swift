import BinaryImage
import Foundation
import PluginFiles
import TestSupport
import Testing

/// A host and a folder of plugins in C, built for one test.
struct AdmissionFolder {
  let folder: Folder

  init() throws {
    folder = try Folder()
    try folder.makeFolder("plugins")
    try host("int main(void) { return 0; }")
  }

  var plugins: String { folder.place("plugins").path }

  /// Builds the program that loads the plugins.
  func host(_ source: String, _ options: String...) throws {
    try Compiler.compile(
      source, as: "host", in: folder.url,
      ["-I", Repository.headers, "-Wl,--build-id"] + options)
  }

  /// Builds a shared library in the folder.
  @discardableResult
  func library(
    _ name: String, _ source: String, with compiler: String = Compiler.program,
    _ options: [String] = []
  ) throws -> String {
    let compiler = compiler == "clang" ? Needs.path(of: "clang") ?? compiler : compiler
    return try Compiler.library(source, as: name, in: folder.url, with: compiler, options).path
  }

  /// Builds a plugin in C; `options` come last.
  @discardableResult
  func plugin(
    _ name: String, _ source: String? = nil, with compiler: String = Compiler.program,
    _ options: String...
  ) throws -> String {
    try library(
      "plugins/lib\(name).so", source ?? Compiler.module(name), with: compiler,
      ["-Wl,--build-id", "-Wl,-z,noexecstack"] + options)
  }

  /// Builds a plugin that needs `libneeded.so`. Returns an empty folder that the loader searches first. The library is
  /// in the next folder, if it `isThere`.
  @discardableResult
  func needing(isThere: Bool = true, by plugin: String = "x") throws -> URL {
    let first = try folder.makeFolder("first")
    let path = try library("libneeded.so", "int needed;")
    try self.plugin(
      plugin, nil, "-L\(folder.path)", "-Wl,--no-as-needed", "-l:libneeded.so",
      "-Wl,-rpath,\(first.path):\(folder.path)")
    if !isThere { try FileManager.default.removeItem(atPath: path) }
    return first
  }

  /// Builds the same plugin, with a link in the folder that the loader searches first.
  func needing(link target: String, isThere: Bool = true, by plugin: String = "x") throws {
    let first = try needing(isThere: isThere, by: plugin)
    try makeLink(at: first.appendingPathComponent("libneeded.so").path, to: target)
  }

  /// Builds `libanswer.so` for a plugin, with a script for the versions of its symbols.
  func answer(
    _ script: String? = nil, _ source: String = "int answer(void) { return 1; }"
  ) throws -> String {
    try folder.write(script ?? "", as: "map")
    // The text of the script makes the source another one.
    return try library(
      "plugins/libanswer.so", "\(source) // \(script ?? "")",
      ["-Wl,-soname,libanswer.so"] + (script == nil ? [] : ["-Wl,--version-script,map"]))
  }

  /// Makes a folder that everybody may write to.
  func openFolder(_ name: String) throws -> String {
    let open = try folder.makeFolder(name).path
    try Self.mode(0o777, open)
    return open
  }

  /// Returns the report on the plugins of some folders, in their order.
  func report(
    _ policy: PluginPolicy = PluginPolicy(), in folders: [String] = ["plugins"],
    verification: Admission.Verification? = nil, libraryPath: String? = nil
  ) throws -> AdmissionReport {
    var catalogue = PluginCatalogue()
    catalogue.sources = folders.map { .directory(folder.place($0).path) }
    catalogue.refresh()
    let host = try AdmissionHost(executable: folder.place("host").path, libraryPath: libraryPath)
    return Self.report(of: catalogue, to: host, policy, verification)
  }

  /// Returns the report on all files of a catalogue.
  static func report(
    of catalogue: PluginCatalogue, to host: AdmissionHost, _ policy: PluginPolicy,
    _ verification: Admission.Verification? = nil
  ) -> AdmissionReport {
    var admission = Admission(to: host, under: policy, verification: verification)
    for candidate in catalogue.candidates { admission.add(candidate) }
    return admission.report()
  }

  /// Returns the codes of each plugin's refusals, by file name.
  func codes(
    _ policy: PluginPolicy = PluginPolicy(), in folders: [String] = ["plugins"]
  ) throws -> [String: [String]] {
    let plugins = try report(policy, in: folders).plugins
    return Dictionary(plugins.map { ($0.path.lastPart, $0.refusals.map(\.code)) }) { $0 + $1 }
  }

  /// Builds the plugin `libx.so`, and changes it word by word.
  func changed(
    _ source: String? = nil, _ change: (inout LinkedBytes) throws -> Void
  ) throws {
    var bytes = try LinkedBytes(plugin("x", source))
    try change(&bytes)
    try bytes.write()
  }

  /// Sets the permissions of a file.
  static func mode(_ mode: Int, _ path: String) throws {
    try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path)
  }

  /// Changes bytes of a file at an offset. The offset counts from the end of the first `bytes`, if they are given.
  func patch(_ path: String, at place: Int = 0, after bytes: Data? = nil, with new: Data) throws {
    var data = try Data(contentsOf: URL(fileURLWithPath: path))
    var start = place
    if let bytes, let found = data.range(of: bytes) { start += found.upperBound }
    data.replaceSubrange(start..<start + new.count, with: new)
    try data.save(as: URL(fileURLWithPath: path))
  }
}

extension String {
  var lastPart: String { URL(fileURLWithPath: self).lastPathComponent }
}
