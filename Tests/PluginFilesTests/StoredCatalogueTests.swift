import BinaryImage
import Foundation
import Registration
import TestSupport
import Testing

@testable import PluginFiles

@Suite("A catalogue that was written when the plugins were packaged")
struct StoredCatalogueTests {
  /// A folder with two plugins and what a packager wrote of them.
  private static func packaged() throws -> (folder: PluginFolder, manifests: [PluginManifest]) {
    let folder = try PluginFolder()
    try folder.build(
      "one.so", PluginFolder.source + "\nBEEHIVE_MODULE(odd, 0, BEEHIVE_LEVEL(\"high\"));")
    try folder.build("two.so", PluginFolder.module("two"))
    try folder.settle()
    let manifests = folder.catalogue().manifests
    try folder.write(StoredCatalogue.text(of: manifests))
    return (folder, manifests)
  }

  @Test("says the same as the files, which are not opened")
  func same() throws {
    let (folder, manifests) = try Self.packaged()
    let catalogue = folder.catalogue()
    #expect(catalogue.counts == PluginCatalogue.Counts(stored: 2))
    #expect(catalogue.manifests == manifests)
    #expect(manifests.map(\.rejections.count) == [1, 0])
  }

  @Test("is used where the files were installed, with other inodes and whole seconds")
  func installed() throws {
    let (folder, manifests) = try Self.packaged()
    let other = try PluginFolder()
    try Command.output(
      "sh", ["-c", "tar -C '\(folder.path)' -c . | tar -C '\(other.path)' -x"])
    let catalogue = other.catalogue()
    #expect(catalogue.counts == PluginCatalogue.Counts(stored: 2))
    #expect(catalogue.manifests.map(\.path) == ["one.so", "two.so"].map { "\(other.path)/\($0)" })
    #expect(catalogue.manifests.map(\.linkage) == manifests.map(\.linkage))
    #expect(catalogue.manifests.first?.stamp != manifests.first?.stamp)
    #expect(catalogue.manifests.first?.records.first?.origin.image == "\(other.path)/one.so")
  }

  @Test("is not used for a file that was changed or replaced")
  func stale() throws {
    let (folder, _) = try Self.packaged()
    try folder.build("one.so", PluginFolder.module("one"))
    #expect(folder.catalogue().counts == PluginCatalogue.Counts(read: 1, stored: 1))
    // Written to where it stands, with the time of modification set back.
    let path = folder.folder.place("two.so").path
    let time = try FileManager.default.attributesOfItem(atPath: path)[.modificationDate]
    let handle = try #require(FileHandle(forWritingAtPath: path))
    try handle.write(contentsOf: Data([0x7f]))
    try handle.close()
    try FileManager.default.setAttributes([.modificationDate: time as Any], ofItemAtPath: path)
    #expect(folder.catalogue().counts == PluginCatalogue.Counts(read: 2))
  }

  @Test("is not used for another build of the same size and time")
  func otherBuild() throws {
    let (folder, _) = try Self.packaged()
    let other = try PluginFolder()
    try Command.output("sh", ["-c", "cp -a '\(folder.path)/.' '\(other.path)'"])
    try #require(other.catalogue().counts.stored == 2)
    let path = other.folder.place("two.so").path
    let time = try FileManager.default.attributesOfItem(atPath: path)[.modificationDate]
    let size = try Data(contentsOf: URL(fileURLWithPath: path)).count
    try other.build("two.so", PluginFolder.module("owt"))
    try FileManager.default.setAttributes([.modificationDate: time as Any], ofItemAtPath: path)
    try #require(try Data(contentsOf: URL(fileURLWithPath: path)).count == size)
    let catalogue = other.catalogue()
    #expect(catalogue.counts == PluginCatalogue.Counts(read: 1, stored: 1))
    #expect(catalogue.manifests.last?.records.map(\.name) == ["owt"])
  }

  @Test("is not used where others may write it")
  func untrusted() throws {
    let (folder, _) = try Self.packaged()
    let path = folder.folder.place(StoredCatalogue.name).path
    try FileManager.default.setAttributes([.posixPermissions: 0o666], ofItemAtPath: path)
    let catalogue = folder.catalogue()
    #expect(catalogue.problems.map(\.code) == [.untrusted])
    #expect(catalogue.counts == PluginCatalogue.Counts(read: 2))
  }

  @Test(
    "is a problem where it is no catalogue; the files are read",
    arguments: [
      "", "{", "[]", "{\"beehiveCatalogue\":2,\"files\":[]}", "{\"beehiveCatalogue\":1}",
      String(repeating: "[", count: 100_000), "{\"a\":1,\"a\":1}", "\u{1}", "1e9",
      "{\"beehiveCatalogue\":1,\"files\":99999999999999999999}",
    ])
  func hostile(text: String) throws {
    let (folder, manifests) = try Self.packaged()
    try folder.write(text)
    let catalogue = folder.catalogue()
    #expect(catalogue.problems.count == 1)
    #expect(catalogue.counts == PluginCatalogue.Counts(read: 2))
    #expect(catalogue.manifests == manifests)
  }

  @Test("is a FIFO: nothing waits for it")
  func fifo() throws {
    let (folder, _) = try Self.packaged()
    let path = folder.folder.place(StoredCatalogue.name).path
    try FileManager.default.removeItem(atPath: path)
    let isMade = unsafe mkfifo(path, 0o600) == 0
    try #require(isMade)
    let catalogue = folder.catalogue()
    #expect(catalogue.problems.map(\.code) == [.unreadable])
    #expect(catalogue.manifests.count == 2)
  }

  @Test("an entry that no file could have is a problem of its file; that file is read")
  func forged() throws {
    let (folder, manifests) = try Self.packaged()
    let text = StoredCatalogue.text(of: manifests)
    let forgeries = [
      ("\"priority=3\"", "\"priority=high\""), ("\"singleton\"", "1"), ("\"Greeter\"", "\"\""),
      ("\"bits\":64", "\"bits\":65"), ("\"needed\":[", "\"needed\":[7,"),
      ("\"kind\":\"service\"", "\"kind\":\"servant\""), ("\"reason\":\"", "\"reason\":\"no-"),
      ("\"scope=singleton\"", "\"scope=always\""), ("\"address\":\"0x", "\"address\":\"x"),
    ]
    for (old, new) in forgeries where text.contains(old) {
      try folder.write(text.replacingOccurrences(of: old, with: new))
      let catalogue = folder.catalogue()
      #expect(catalogue.manifests == manifests, "\(new)")
      #expect(!catalogue.problems.isEmpty, "\(new)")
    }
    // A file that is not there is not listed, and a name leads nowhere else.
    let named = text.replacingOccurrences(of: "\"two.so\"", with: "\"../two.so\"")
    try folder.write(named)
    #expect(folder.catalogue().counts == PluginCatalogue.Counts(read: 1, stored: 1))
  }
}

extension PluginFolder {
  /// Writes the folder's catalogue.
  fileprivate func write(_ text: String) throws {
    let file = try folder.write(text, as: StoredCatalogue.name)
    try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: file.path)
  }
}
