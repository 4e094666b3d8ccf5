import BeeHive
import BinaryImage
import Foundation
import Registration
import TestSupport
import Testing

@testable import section_dump

/// What `verify` finds in a file is what a Hive rejects of it, and what was planted there; and a file says
/// what the same file says when it is loaded.
@Suite("The Hive and verify hold entries to the same rules")
struct AgreementTests {
  @Test("Random libraries: the Hive, verify and who planted the entries agree")
  func agreement() throws {
    let library = try PlantedLibrary()
    let folder = try Folder()
    defer { folder.remove() }
    var seen: Set<String> = []
    for seed in 0..<UInt64(Effort.times(300, full: 10_000)) {
      let (bytes, expected) = library.planted(seed: seed)
      let path = try folder.write(bytes, as: "planted.so").path
      let hive = try rejections(byHiveOf: path)
      let verify = rejections(byVerifyOf: path)
      #expect(hive == expected, "seed \(seed), the Hive")
      #expect(verify == expected, "seed \(seed), verify")
      seen.formUnion(expected.map(\.code))
    }
    #expect(seen.count == 15, "\(seen.sorted()) were planted")
  }

  /// What a Hive of this library alone rejects; and memory says what the file does.
  private func rejections(byHiveOf path: String) throws -> [PlantedLibrary.Expected] {
    // Sound: what is loaded runs nothing, and goes before the next one comes.
    let handle = unsafe dlopen(path, RTLD_NOW | RTLD_LOCAL)
    defer { if let handle = unsafe handle { unsafe dlclose(handle) } }
    let hive = Hive(imagesWhere: { $0 == path })
    let stored = try RecordScanner.scan(ELFFile(path: path)).records
    let entries = hive.entries.filter { if case .image = $0.source { true } else { false } }
    let wellFormed = Set(stored.filter { !$0.kind.isThirdParty }.map(Said.init))
    #expect(wellFormed.isSubset(of: Set(entries.map(Said.init))), "\(path)")
    return entries.compactMap { entry in
      guard case .rejected(let problem) = entry.state, case .image(let origin) = entry.source
      else { return nil }
      return PlantedLibrary.Expected(
        section: origin.section, index: origin.index, code: problem.code.rawValue)
    }.sorted()
  }

  /// What an entry says, wherever it was read.
  private struct Said: Hashable {
    var kind: RecordKind
    var name: String
    var implementation: String?
    var attributes: Attributes
    var section: String
    var index: Int

    init(_ record: Record) {
      (kind, name, implementation) = (record.kind, record.name, record.implementation)
      (attributes, section) = (record.attributes, record.origin.section)
      index = record.origin.index
    }

    init(_ entry: Entry) {
      (kind, name, implementation) = (entry.kind, entry.name, entry.implementation)
      attributes = entry.attributes
      (section, index) = ("", 0)
      if case .image(let origin) = entry.source {
        (section, index) = (origin.section, origin.index)
      }
    }
  }

  /// The errors of `verify`, duplicates by the Hive's word for them.
  private func rejections(byVerifyOf path: String) -> [PlantedLibrary.Expected] {
    let findings = Verdict(on: Survey(Inputs(paths: [path]), readsTypes: true)).findings
    return findings.filter { $0.level == .error }.map { finding in
      PlantedLibrary.Expected(
        section: finding.place.section ?? "", index: finding.place.index ?? -1,
        code: finding.code.hasPrefix("duplicate-") ? "duplicate" : finding.code)
    }.sorted()
  }
}
