import Foundation
import TestSupport
import Testing

/// A third-party reader of ELF files.
enum ELFOracle: String, CaseIterable, Sendable, CustomTestStringConvertible {
  case lief = "LIEF"
  case pyelftools

  var testDescription: String { rawValue }

  /// Returns the oracle's reports on files, compared with section-dump.
  func reports(_ paths: [String]) throws -> [OracleReport] {
    try Python.needed().reports("elf.py", [rawValue, Repository.sectionDump] + paths)
  }

  /// The files of the fixed lists that the oracle cannot read, and the reasons.
  var unreadable: [String: String] {
    switch self {
    case .lief:
      let reason = "it takes the three types of a MIPS64 relocation for one"
      let names = ["mips64", "mips64el"].flatMap { ["elf-\($0).so", "elf-\($0)-relr.so"] }
      return Dictionary(uniqueKeysWithValues: names.map { ($0, reason) })
    case .pyelftools:
      let unknown = "it knows no relocations of the machine"
      let packed = "its relocations are packed as Android does it"
      let markupsafe = "_speedups.cpython-312-riscv64-linux-gnu.so"
      let machines = ["riscv32", "riscv64"].flatMap { ["elf-\($0).so", "elf-\($0)-relr.so"] }
      return Dictionary(uniqueKeysWithValues: (machines + [markupsafe]).map { ($0, unknown) })
        .merging([
          "elf-lld-android.so": packed, "elf-lld-android+relr.so": packed,
          "elf-no-sections.so": "it has no section headers",
        ]) { $1 }
    }
  }

  /// The reports of each oracle on all linkages that could be made, in one run.
  static let linkages = Result {
    let paths = try Linkages.elf.filter(Set(Linkages.built()).contains).map(Linkages.path)
    return try Dictionary(
      uniqueKeysWithValues: allCases.map { oracle in
        (oracle, Dictionary(grouping: try oracle.reports(paths), by: \.name))
      })
  }
}

extension Linkages {
  /// Shared libraries and programs for Linux. Object files are left out, because other readers do not apply their
  /// relocations.
  static let elf = names.filter { $0.hasPrefix("elf-") && !$0.hasSuffix(".o") }

  /// The same for macOS and watchOS.
  static let machO = names.filter {
    ($0.hasPrefix("macho-") || $0.hasPrefix("universal")) && !$0.contains(/\.[ao]$/)
  }
}

/// Every slot of pointer sections, as section-dump, LIEF and pyelftools report it.
@Suite("Other readers of ELF files", .serialized, .full, .needs("python3"))
struct OracleELFTests {
  @Test("read no less than they did")
  func samples() {
    #expect(Linkages.elf.count >= 62 && Wheel.elf.count >= 17)
  }

  @Test("agree on a file of each linker and machine", arguments: Linkages.elf, ELFOracle.allCases)
  func linkage(name: String, oracle: ELFOracle) throws {
    _ = try Linkages.path(name)
    _ = try Python.needed()
    let reports = try #require(ELFOracle.linkages.get()[oracle]?[name], "no word of \(name)")
    expectAgreement(reports, oracle.rawValue, of: name, unreadable: oracle.unreadable)
  }

  @Test("agree on libraries that others built", arguments: Wheel.elf, ELFOracle.allCases)
  func wheel(wheel: Wheel, oracle: ELFOracle) throws {
    let reports = try oracle.reports(wheel.libraries(Python.needed()))
    expectAgreement(
      reports, oracle.rawValue, of: wheel.testDescription, unreadable: oracle.unreadable)
  }

  /// Debian's C libraries for machines whose loaders have peculiar relocations.
  @Test(
    "agree on C libraries of other machines", .needs("readelf"),
    arguments: [
      "mips-linux-gnu", "mipsel-linux-gnu", "mips64-linux-gnuabi64", "mips64el-linux-gnuabi64",
      "hppa-linux-gnu",
    ])
  func cross(machine: String) throws {
    let folder = "/usr/\(machine)/lib"
    guard FileManager.default.fileExists(atPath: "\(folder)/libc.so.6") else {
      try Test.cancel("libc6-\(machine.prefix { $0 != "-" })-cross is not installed")
    }
    let paths = try Command.output("find", [folder, "-type", "f", "-name", "*.so*"])
      .split(separator: "\n").map(String.init).sorted()
    let reports = try OracleReport.all(
      by: "python3", "elf.py", ["readelf", Repository.sectionDump] + paths)
    expectAgreement(reports, "readelf", of: machine)
    #expect(Set(reports.map(\.path)) == Set(paths))
    // Addresses of pages may lead out of the image. They are not damage.
    let table = try Command.run(
      Repository.sectionDump, ["hex", "--section", ".got", "\(folder)/libc.so.6"])
    #expect(table.status == 0, "\(table.errors)")
  }

  /// The test prints which files an oracle cannot read, and does not fail because of them.
  @Test(
    "agree on all libraries of the system",
    .enabled(
      if: ProcessInfo.processInfo.environment["BEEHIVE_ORACLES"] == "system",
      "BEEHIVE_ORACLES=system asks for it"), arguments: ELFOracle.allCases)
  func system(oracle: ELFOracle) throws {
    let paths = try Command.output(
      "find", ["/usr/lib", "-path", "*-linux-*", "-type", "f", "-name", "*.so*"]
    )
    .split(separator: "\n").map(String.init).sorted()
    let reports = try stride(from: 0, to: paths.count, by: 100).flatMap {
      try oracle.reports(Array(paths[$0..<min($0 + 100, paths.count)]))
    }
    let unreadable = reports.compactMap { report in
      report.unreadable.map { (report.path, $0) }
    }
    expectAgreement(
      reports, oracle.rawValue, of: "the system",
      unreadable: Dictionary(uniqueKeysWithValues: unreadable))
    #expect(Set(reports.map(\.path)) == Set(paths))
  }

  /// A third-party section: systemd's table of errors, with a name and a number by turns.
  @Test("need not know of a section")
  func systemd() throws {
    let wheel = try #require(Wheel.elf.first { $0.name == "cysystemd" })
    let libraries = try wheel.libraries(Python.needed())
    let library = try #require(libraries.first { $0.contains("/libsystemd-") })
    let errors = try Command.run(
      Repository.sectionDump,
      ["strings", "--section", "SYSTEMD_BUS_ERROR_MAP", "--format", "csv", library]
    ).lines.filter { $0.contains("org.freedesktop.DBus.Error") }
    #expect(errors.count == 34)
  }
}
