import Adapters
import BeeHivePlugins
import Crypto
import Foundation
import Testing

@Suite("Plugins that are signed with Ed25519")
struct SignaturesTests {
  /// The checkout.
  static let root = (0..<5).reduce(into: URL(fileURLWithPath: #filePath)) { root, _ in
    root.deleteLastPathComponent()
  }

  /// Builds a plugin in a folder of its own and returns its path.
  static func plugin() throws -> URL {
    let folder = FileManager.default.temporaryDirectory
      .appendingPathComponent("signatures-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    return try library(
      "libsigned", "#include <BeeHive.h>\nBeeHiveMod(Signed.Module);\n", in: folder)
  }

  private static func library(
    _ name: String, _ text: String, in folder: URL, _ options: String...
  ) throws -> URL {
    let source = folder.appendingPathComponent("\(name).c")
    try Data(text.utf8).write(to: source)
    let path = folder.appendingPathComponent("\(name).so")
    let compiler = Process()
    compiler.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    compiler.arguments =
      [
        "cc", "-shared", "-fPIC", "-I",
        root.appendingPathComponent("CSupport/CBeeHive/include").path,
        "-o", path.path, source.path,
      ] + options
    try compiler.run()
    compiler.waitUntilExit()
    try #require(compiler.terminationStatus == 0)
    return path
  }

  @Test("are admitted; what is unsigned, changed or signed by another is not")
  func signatures() throws {
    let path = try Self.plugin()
    defer { try? FileManager.default.removeItem(at: path.deletingLastPathComponent()) }
    let (known, other) = (Curve25519.Signing.PrivateKey(), Curve25519.Signing.PrivateKey())
    let hive = Hive()
    hive.plugins.requireSignatures(by: [known.publicKey])
    try hive.plugins.add(file: path.path)
    func refusal() throws -> String? {
      hive.plugins.refresh()
      let refusals = try hive.plugins.admission().plugins.first?.refusals ?? []
      #expect(refusals.allSatisfy { $0.code == "signature" })
      return refusals.first?.message
    }
    let signature = URL(fileURLWithPath: path.path + ".sig")
    #expect(try refusal()?.contains("there is no signature") == true)
    let bytes = try Data(contentsOf: path)
    try other.signature(for: bytes).write(to: signature)
    #expect(try refusal()?.contains("by a known key") == true)
    try known.signature(for: bytes).write(to: signature)
    #expect(try refusal() == nil)
    #expect(try hive.plugins.admission().plugins.filter(\.loads).map(\.path) == [path.path])
    try (bytes + Data([0])).write(to: path)
    #expect(try refusal()?.contains("by a known key") == true)
  }

  @Test("bring along only libraries that are signed, or whose digests are known")
  func libraries() throws {
    let folder = try Self.plugin().deletingLastPathComponent()
    defer { try? FileManager.default.removeItem(at: folder) }
    let along = try Self.library("libalong", "int along;", in: folder, "-Wl,-soname,libalong.so")
    let path = try Self.library(
      "libsigned", "#include <BeeHive.h>\nBeeHiveMod(Signed.Module);\n", in: folder,
      "-Wl,--no-as-needed", along.path, "-Wl,-rpath,$ORIGIN")
    let key = Curve25519.Signing.PrivateKey()
    let bytes = try Data(contentsOf: along)
    let digest = SHA256.hash(data: bytes).description.split(separator: " ").last.map(String.init)
    func sign(_ file: URL) throws {
      try key.signature(for: Data(contentsOf: file)).write(
        to: URL(fileURLWithPath: file.path + ".sig"))
    }
    func refusals(_ digests: Set<String> = []) throws -> [PluginRefusal] {
      let hive = Hive()
      hive.plugins.requireSignatures(by: [key.publicKey], orDigests: digests)
      try hive.plugins.add(file: path.path)
      return try #require(try hive.plugins.admission().plugins.first).refusals
    }
    try sign(path)
    #expect(try refusals().map(\.code) == ["signature"])
    #expect(try refusals()[0].message.contains("\(along.path), which it brings along"))
    #expect(try refusals([try #require(digest)]) == [])
    try sign(along)
    #expect(try refusals() == [])
    try (bytes + Data([0])).write(to: along)
    #expect(try refusals([try #require(digest)]).map(\.code) == ["signature"])
  }
}
