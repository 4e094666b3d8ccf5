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

  @Test("its entries are those of the reader of files")
  func sameEntries() throws {
    let path = try Folder().build("libaudio.so")
    let records = try PluginManifest(path: path).records
    #expect(records.count == 2)
    #expect(try records == Scan(of: ELFFile(path: path)).records)
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

  @Test("a file without section headers is read by its note")
  func stripped() throws {
    try Needs.programs("llvm-objcopy-19")
    let path = try Folder().build("libaudio.so")
    try Command.output("llvm-objcopy-19", ["--strip-sections", path])
    #expect(try PluginManifest(path: path).records.count == 2)
  }
}
