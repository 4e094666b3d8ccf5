import BinaryImage
import Foundation
import Registration
import TestSupport
import Testing

@testable import PluginFiles

@Suite("A manifest says what a plugin's file says of itself")
struct PluginManifestTests {
  @Test("entries, requirements, libraries, note and identity")
  func contents() throws {
    let folder = try Folder()
    let path = try folder.build(
      "libaudio.so", pluginSource, "-Wl,-soname,libaudio.so.1", "-Wl,--no-as-needed", "-lm")
    let manifest = try PluginManifest(path: path)
    #expect(manifest.records.map(\.name).sorted() == ["Greeter", "audio"])
    #expect(try manifest.records == Scan(of: ELFFile(path: path)).records)
    #expect(manifest.rejections.isEmpty)
    #expect(manifest.linkage.name == "libaudio.so.1")
    #expect(manifest.linkage.needed.first == "libm.so.6")
    #expect(manifest.linkage.noteVersion == 1)
    #expect(!manifest.linkage.carriesRuntime)
    #expect(!manifest.linkage.hasSwiftSections)
    let identity = manifest.identity
    #expect((identity.kind, identity.format) == (.shared, .elf))
    #expect(identity.bits == 64 && identity.id.count == 20)
  }

  @Test("a damaged entry is told beside the others")
  func rejections() throws {
    let path = try Folder().build(
      "libodd.so", pluginSource + "\nBEEHIVE_MODULE(odd, 0, BEEHIVE_LEVEL(\"high\"));")
    let manifest = try PluginManifest(path: path)
    #expect(manifest.records.count == 2)
    #expect(manifest.rejections.map(\.name) == ["odd"])
    #expect(manifest.rejections.map(\.reason) == [.badAttribute])
  }
}
