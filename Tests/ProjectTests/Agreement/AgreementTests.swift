import BinaryImage
import Foundation
import Registration
import TestSupport
import Testing

@testable import BeeHive
@testable import section_dump

/// A Hive rejects the entries that `verify` reports and that the test planted. A loaded file gives the same entries as
/// the stored file.
@Suite("The Hive and verify hold entries to the same rules")
struct AgreementTests {
  @Test("Random sets of libraries: the Hive, verify and who planted the entries agree")
  func agreement() async throws {
    let library = try PlantedLibrary()
    let folder = try Folder()
    defer { folder.remove() }
    var seen: Set<String> = []
    var (missing, cyclic, lacking, kept) = (0, 0, 0, 0)
    // Images with registered entries stay mapped, and each Hive reads all images: the time grows with the square.
    for seed in 0..<UInt64(Effort.times(60, full: 2000)) {
      let set = library.planted(seed: seed)
      let paths = try set.files.enumerated().map { number, bytes in
        try folder.write(bytes, as: "planted-\(seed)-\(number).so").path
      }
      let order = set.order
      let planted = Found(
        rejected: set.expected, missing: order.missing, cyclic: order.cyclic,
        starting: order.starting(without: [], failing: []), tables: set.tables)
      let hive = try hive(of: paths)
      #expect(try found(by: hive, in: paths) == planted, "seed \(seed), the Hive")
      #expect(found(byVerifyIn: paths) == planted, "seed \(seed), verify")
      var generator = SeededGenerator(seed: seed)
      func some() -> Set<String> {
        Set(PlantedEntry.orderedNames.filter { _ in Int.random(in: 0..<5, using: &generator) == 0 })
      }
      for trial in 0..<9 {
        let (off, failing) = trial == 0 ? ([], []) : (some(), some())
        // The operations of the C module E are not functions, so it is disabled.
        let options = LaunchOptions(onFailure: .skip, disabled: off.union(["E"]))
        let started = try await Silent.$failing.withValue(failing) {
          () async throws in try await hive.start(options: options).started
        }
        #expect(Set(started) == order.starting(without: off, failing: failing), "seed \(seed)")
        #expect(order.isKept(by: started), "seed \(seed): \(started)")
        kept += started.count
        await hive.stop()
      }
      seen.formUnion(set.expected.map(\.code))
      missing += order.missing.count
      cyclic += order.cyclic.count
      lacking += order.lacking.count
    }
    #expect(
      missing > 20 && cyclic > 20 && lacking > missing / 2 && kept > 100,
      "\(missing), \(cyclic), \(lacking), \(kept)")
    #expect(seen.count == 16, "\(seen.sorted()) were planted")
  }

  @Test("The libraries of each linker: the Hive and verify agree")
  func fixtures() throws {
    let own = try ELFFile(path: "/proc/self/exe").identity
    let paths = try Linkages.built().map { try Linkages.path($0) }.filter { path in
      // Files that this machine's loader would misread are left out.
      guard let file = try? ELFFile(path: path), file.identity.machine == own.machine,
        try file.obstacle() == nil
      else { return false }
      let handle = unsafe dlopen(path, RTLD_NOW | RTLD_LOCAL)
      return unsafe handle.map { unsafe dlclose($0) } == 0
    }
    #expect(paths.count > 4, "\(paths) are too few that this machine loads")
    for path in paths {
      #expect(try found(by: hive(of: [path]), in: [path]) == found(byVerifyIn: [path]), "\(path)")
    }
  }

  /// The problems of a library.
  private struct Found: Equatable {
    var rejected: [PlantedLibrary.Expected]
    /// Each requirement as the name of the module and the name that it requires.
    var missing: Set<String>
    /// The names of modules that wait for themselves.
    var cyclic: Set<String>
    /// The names of modules that can start.
    var starting: Set<String>
    /// The names of services that a C table provides.
    var tables: Set<String>
  }

  /// A planted module, which may fail.
  private struct Silent: Module {
    @TaskLocal static var failing: Set<String> = []
    var name = ""

    func setUp(_ context: Context) async throws {
      if Self.failing.contains(name) { throw Problem(.badCall, "planted") }
    }
  }

  /// Makes a Hive of these libraries only, with a factory for each ordered module.
  private func hive(of paths: [String]) throws -> Hive {
    for path in paths { try OpenLibrary.keep(path) }
    let hive = Hive(imagesWhere: { paths.contains($0) })
    // A busy machine may leave images for a later look.
    for _ in 0..<60 where Set(hive.entries.compactMap(image)).count < paths.count { hive.refresh() }
    for name in PlantedEntry.orderedNames { hive.bind(name) { _ in Silent(name: name) } }
    hive.bindUnbound()
    return hive
  }

  /// Returns the library of an entry; nil if the entry is from elsewhere.
  private func image(of entry: Entry) -> String? {
    if case .image(let origin) = entry.source { origin.image } else { nil }
  }

  /// Returns the findings of a Hive, and expects it to have the entries of the files.
  private func found(by hive: Hive, in paths: [String]) throws -> Found {
    let stored = try paths.flatMap { try Scan(of: ELFFile(path: $0)).records }
    let entries = hive.entries.filter { image(of: $0) != nil }
    let wellFormed = Set(stored.filter { !$0.kind.isThirdParty }.map { said($0) })
    #expect(wellFormed.isSubset(of: Set(entries.map { said($0) })), "\(paths)")
    let order = ModuleStates().launchable(of: hive).report.order
    let names = Set(stored.filter { $0.attributes.abi == "c-table" }.map(\.name))
    return Found(
      rejected: entries.compactMap { entry in
        guard case .rejected(let problem) = entry.state, case .image(let origin) = entry.source
        else { return nil }
        return PlantedLibrary.Expected(
          file: paths.firstIndex(of: origin.image), section: origin.section,
          index: origin.index, code: problem.code.rawValue)
      }.sorted(), missing: Set(order.missing.map { "\($0.module.name) \($0.requirement)" }),
      cyclic: Set(order.cycles.flatMap { $0.map(\.name) }),
      starting: Set(order.modules.map(\.name)).intersection(PlantedEntry.orderedNames),
      tables: names.filter { name in
        unsafe (try? hive.service(name, as: OpaquePointer.self)) != nil
      })
  }

  /// Returns the text of an entry, wherever it was read.
  private func said(_ record: Record) -> String {
    let words = "\(record.kind) \(record.name) \(record.implementation ?? "–")"
    return "\(words) \(record.attributes) \(record.origin.section)[\(record.origin.index)]"
  }

  private func said(_ entry: Entry) -> String {
    guard case .image(let origin) = entry.source else { return "" }
    let words = "\(entry.kind) \(entry.name) \(entry.implementation ?? "–")"
    return "\(words) \(entry.attributes) \(origin.section)[\(origin.index)]"
  }

  /// Returns the findings of `verify`. Duplicates have the Hive's code.
  private func found(byVerifyIn paths: [String]) -> Found {
    let set = FileSet(Inputs(paths: paths), readsTypes: true)
    let contradictions = set.contradictions
    let findings = set.findings(with: contradictions)
    let names = contradictions.flatMap { $0.cycles.joined().map(\.record.name) }
    let errors = findings.filter { $0.level == .error && $0.code != "cycle" }
    let rejected = errors.map { finding in
      PlantedLibrary.Expected(
        file: paths.firstIndex(of: finding.place.file), section: finding.place.section ?? "",
        index: finding.place.index ?? -1,
        code: finding.code.hasPrefix("duplicate-") ? "duplicate" : finding.code)
    }.sorted()
    let unmet = findings.filter { $0.code == "unmet-requirement" }.map {
      "\($0.message.split(separator: " ")[1]) \($0.missing ?? "")"
    }
    let accepted = set.declared.filter { entry in
      let place = entry.place
      return !rejected.contains {
        ($0.file, $0.section, $0.index)
          == (paths.firstIndex(of: place.file), place.section ?? "", place.index ?? -1)
      }
    }.map(\.record)
    var order = PlantedOrder()
    for module in accepted where module.kind == .module {
      order.add(module.name, requires: module.attributes.requires, after: [])
    }
    let roots = unmet.map { String($0.prefix { $0 != " " }) } + names
    return Found(
      rejected: rejected, missing: Set(unmet), cyclic: Set(names),
      starting: order.starting(without: [], failing: Set(roots)).intersection(
        PlantedEntry.orderedNames),
      tables: Set(accepted.filter { $0.attributes.abi == "c-table" }.map(\.name)))
  }
}
