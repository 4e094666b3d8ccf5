import BinaryImage
import Foundation
import Registration
import TestSupport
import Testing

@testable import BeeHive
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
    var (missing, cyclic, lacking) = (0, 0, 0)
    // What a Hive has registered stays mapped, and each Hive looks at all that is: with the square of them.
    for seed in 0..<UInt64(Effort.times(150, full: 2000)) {
      let (bytes, expected, order) = library.planted(seed: seed)
      let path = try folder.write(bytes, as: "planted-\(seed).so").path
      let planted = Found(rejected: expected, missing: order.missing, cyclic: order.cyclic)
      #expect(try found(byHiveIn: path) == planted, "seed \(seed), the Hive")
      #expect(found(byVerifyIn: path) == planted, "seed \(seed), verify")
      seen.formUnion(expected.map(\.code))
      missing += order.missing.count
      cyclic += order.cyclic.count
      lacking += order.lacking.count
    }
    #expect(
      missing > 40 && cyclic > 40 && lacking > missing / 2, "\(missing), \(cyclic), \(lacking)")
    #expect(seen.count == 16, "\(seen.sorted()) were planted")
  }

  @Test("The libraries of each linker: the Hive and verify agree")
  func fixtures() throws {
    let own = try ELFFile(path: "/proc/self/exe").identity
    let paths = try Linkages.built().map { try Linkages.path($0) }.filter { path in
      // What this machine's loader would misread is not given to it.
      guard let file = try? ELFFile(path: path), file.identity.machine == own.machine,
        try file.obstacle() == nil
      else { return false }
      let handle = unsafe dlopen(path, RTLD_NOW | RTLD_LOCAL)
      return unsafe handle.map { unsafe dlclose($0) } == 0
    }
    #expect(paths.count > 4, "\(paths) are too few that this machine loads")
    for path in paths {
      #expect(try found(byHiveIn: path) == found(byVerifyIn: path), "\(path)")
    }
  }

  /// What is wrong with a library.
  private struct Found: Equatable {
    var rejected: [PlantedLibrary.Expected]
    /// Each as the name of the module and that of what it requires.
    var missing: Set<String>
    /// The names of modules that wait for themselves.
    var cyclic: Set<String>
  }

  /// What a Hive of this library alone finds; and memory says what the file does.
  private func found(byHiveIn path: String) throws -> Found {
    // Sound: what is loaded runs nothing, and goes before the next one comes.
    let handle = unsafe dlopen(path, RTLD_NOW | RTLD_LOCAL)
    defer { _ = unsafe handle.map { unsafe dlclose($0) } }
    let hive = Hive(imagesWhere: { $0 == path })
    let stored = try Scan(of: ELFFile(path: path)).records
    let entries = hive.entries.filter { if case .image = $0.source { true } else { false } }
    let wellFormed = Set(stored.filter { !$0.kind.isThirdParty }.map { said($0) })
    #expect(wellFormed.isSubset(of: Set(entries.map { said($0) })), "\(path)")
    struct Silent: Module {}
    for name in PlantedEntry.orderedNames { hive.bind(name) { _ in Silent() } }
    hive.bindUnbound()
    let order = ModuleStates().launchable(of: hive).report.order
    return Found(
      rejected: entries.compactMap { entry in
        guard case .rejected(let problem) = entry.state, case .image(let origin) = entry.source
        else { return nil }
        return PlantedLibrary.Expected(
          section: origin.section, index: origin.index, code: problem.code.rawValue)
      }.sorted(), missing: Set(order.missing.map { "\($0.module.name) \($0.requirement)" }),
      cyclic: Set(order.cycles.flatMap { $0.map(\.name) }))
  }

  /// An entry's words, wherever it was read.
  private func said(_ record: Record) -> String {
    let words = "\(record.kind) \(record.name) \(record.implementation ?? "–")"
    return "\(words) \(record.attributes) \(record.origin.section)[\(record.origin.index)]"
  }

  private func said(_ entry: Entry) -> String {
    guard case .image(let origin) = entry.source else { return "" }
    let words = "\(entry.kind) \(entry.name) \(entry.implementation ?? "–")"
    return "\(words) \(entry.attributes) \(origin.section)[\(origin.index)]"
  }

  /// What `verify` finds; duplicates by the Hive's word for them.
  private func found(byVerifyIn path: String) -> Found {
    let survey = Survey(Inputs(paths: [path]), readsTypes: true)
    let contradictions = survey.contradictions
    let findings = survey.findings(with: contradictions)
    let names = contradictions.flatMap { $0.cycles.joined().map(\.record.name) }
    let errors = findings.filter { $0.level == .error && $0.code != "cycle" }
    return Found(
      rejected: errors.map { finding in
        PlantedLibrary.Expected(
          section: finding.place.section ?? "", index: finding.place.index ?? -1,
          code: finding.code.hasPrefix("duplicate-") ? "duplicate" : finding.code)
      }.sorted(),
      missing: Set(
        findings.filter { $0.code == "unmet-requirement" }.map {
          "\($0.message.split(separator: " ")[1]) \($0.missing ?? "")"
        }), cyclic: Set(names))
  }
}
