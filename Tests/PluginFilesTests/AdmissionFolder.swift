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
    try FileManager.default.createDirectory(
      at: folder.place("plugins"), withIntermediateDirectories: true)
    try host("int main(void) { return 0; }")
  }

  var plugins: String { folder.place("plugins").path }

  static let head = """
    #include <BeeHive.h>
    static bool set_up(const beehive_context *context) { (void)context; return true; }
    static const beehive_module_operations operations = { .set_up = set_up };

    """

  /// A plugin whose one module is called `name`.
  static func module(_ name: String, _ attributes: String = "\"\"") -> String {
    "\(head)BEEHIVE_MODULE(\(name), &operations, \(attributes));\n"
  }

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
    try FileManager.default.createDirectory(
      at: folder.place(name).deletingLastPathComponent(), withIntermediateDirectories: true)
    let compiler = compiler == "clang" ? Needs.path(of: "clang") ?? compiler : compiler
    try Compiler.compile(
      source, as: name, in: folder.url, with: compiler,
      ["-shared", "-fPIC", "-I", Repository.headers] + options)
    return folder.place(name).path
  }

  /// Builds a plugin in C; `options` come last.
  @discardableResult
  func plugin(
    _ name: String, _ source: String? = nil, with compiler: String = Compiler.program,
    _ options: String...
  ) throws -> String {
    try library(
      "plugins/lib\(name).so", source ?? Self.module(name), with: compiler,
      ["-Wl,--build-id", "-Wl,-z,noexecstack"] + options)
  }

  /// A plugin that needs a library of this name. Returns an empty folder where it is looked for first; the library is
  /// behind that, if it `isThere`.
  func needing(_ name: String, isThere: Bool = true) throws -> URL {
    let first = folder.place("first")
    try FileManager.default.createDirectory(at: first, withIntermediateDirectories: false)
    let path = try library(name, "int needed;")
    try plugin(
      "x", nil, "-L\(folder.path)", "-Wl,--no-as-needed", "-l:\(name)",
      "-Wl,-rpath,\(first.path):\(folder.path)")
    if !isThere { try FileManager.default.removeItem(atPath: path) }
    return first
  }

  /// What becomes of the plugins of some folders, in their order.
  func report(
    _ policy: PluginPolicy = PluginPolicy(), in folders: [String] = ["plugins"],
    verification: Admission.Verification? = nil
  ) throws -> AdmissionReport {
    var catalogue = PluginCatalogue()
    for name in folders { catalogue.sources.append(.directory(folder.place(name).path)) }
    catalogue.refresh()
    var admission = Admission(
      to: try AdmissionHost(executable: folder.place("host").path), under: policy,
      verification: verification)
    for candidate in catalogue.candidates { admission.add(candidate) }
    return admission.report()
  }

  /// The codes of what is wrong with each plugin, by the names of their files.
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

  /// Says who may do what with a file.
  static func mode(_ mode: Int, _ path: String) throws {
    try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path)
  }

  /// Changes bytes of a file at the first place where some stand, or so many bytes behind it.
  func patch(_ path: String, at place: Int = 0, after bytes: Data? = nil, with new: Data) throws {
    var data = try Data(contentsOf: URL(fileURLWithPath: path))
    var start = place
    if let bytes, let found = data.range(of: bytes) { start += found.upperBound }
    data.replaceSubrange(start..<start + new.count, with: new)
    try data.write(to: URL(fileURLWithPath: path))
  }
}

/// A linked file of 64 bits, to be changed word by word.
struct LinkedBytes {
  private let url: URL
  private(set) var bytes: [UInt8]

  init(_ path: String) throws {
    url = URL(fileURLWithPath: path)
    bytes = [UInt8](try Data(contentsOf: url))
  }

  func write() throws { try Data(bytes).write(to: url) }

  func number(at place: Int, size: Int = 8) -> Int {
    (0..<size).reduce(0) { $0 | Int(bytes[place + $1]) << ($1 * 8) }
  }

  /// The text that ends with the next NUL.
  func text(at place: Int) -> String {
    String(decoding: bytes[place...].prefix { $0 != 0 }, as: UTF8.self)
  }

  mutating func put(_ value: Int, at place: Int, size: Int = 8) {
    for index in 0..<size { bytes[place + index] = UInt8(truncatingIfNeeded: value >> (index * 8)) }
  }

  /// Appends bytes, and says where they are.
  mutating func append(_ more: [UInt8]) -> Int {
    bytes += [UInt8](repeating: 0, count: -bytes.count & 15) + more
    return bytes.count - more.count
  }

  /// Where the program headers of a type are, in the file.
  func segments(_ type: Int) -> [Int] {
    (0..<number(at: 56, size: 2)).map { number(at: 32) + 56 * $0 }
      .filter { number(at: $0, size: 4) == type }
  }

  /// Where the file has what is at an address.
  func place(of address: Int) throws -> Int {
    let load = segments(1).last { number(at: $0 + 16) <= address }
    return try number(at: #require(load) + 8) + address - number(at: #require(load) + 16)
  }

  /// The file's part that the one dynamic section is.
  func dynamic() throws -> Range<Int> {
    let header = try #require(segments(2).first)
    return number(at: header + 8)..<number(at: header + 8) + number(at: header + 32)
  }

  /// Where a tag of the dynamic section is; its value is behind it.
  func tag(_ tag: Int) throws -> Int {
    try #require(
      stride(from: dynamic().lowerBound, to: dynamic().upperBound, by: 16)
        .first { number(at: $0) == tag })
  }

  /// What a tag says.
  func value(_ tag: Int) throws -> Int { number(at: try self.tag(tag) + 8) }
}

extension String {
  var lastPart: String { URL(fileURLWithPath: self).lastPathComponent }
}
