import Adapters
import BeeHivePlugins
import Crypto
import Foundation
import Testing

@Suite("Plugins that are signed with Ed25519")
struct SignaturesTests {
  /// A folder with one plugin; its path.
  private func plugin() throws -> URL {
    let folder = FileManager.default.temporaryDirectory
      .appendingPathComponent("signatures-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    let source = folder.appendingPathComponent("signed.c")
    try Data("#include <BeeHive.h>\nBeeHiveMod(Signed.Module);\n".utf8).write(to: source)
    var root = URL(fileURLWithPath: #filePath)
    for _ in 0..<5 { root.deleteLastPathComponent() }
    let path = folder.appendingPathComponent("libsigned.so")
    let compiler = Process()
    compiler.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    compiler.arguments = [
      "cc", "-shared", "-fPIC", "-I", root.appendingPathComponent("CSupport/CBeeHive/include").path,
      "-o", path.path, source.path,
    ]
    try compiler.run()
    compiler.waitUntilExit()
    try #require(compiler.terminationStatus == 0)
    return path
  }

  @Test("are admitted; what is unsigned, changed or signed by another is not")
  func signatures() throws {
    let path = try plugin()
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
    #expect(try hive.plugins.admitted == [path.path])
    try (bytes + Data([0])).write(to: path)
    #expect(try refusal()?.contains("by a known key") == true)
  }
}
