import Foundation
import TestSupport
import Testing

/// Every slot of data sections, as section-dump and llvm-objdump report it.
@Suite("llvm-objdump", .serialized, .full, .needs("python3"))
struct OracleMachOTests {
  /// The toolchain's own program, or else Debian's. Older ones know no chained fixups.
  private static let objdump: String? = {
    let linker = try? Command.output("clang", ["-print-prog-name=ld.lld"])
      .trimmingCharacters(in: .newlines)
    let beside = linker.map {
      URL(fileURLWithPath: $0).deletingLastPathComponent().appendingPathComponent("llvm-objdump")
        .path
    }
    return [beside, Needs.path(of: "llvm-objdump-19")].compactMap { $0 }
      .first(where: FileManager.default.isExecutableFile)
  }()

  private func agree(_ paths: [String], of sample: String) throws {
    guard let objdump = Self.objdump else { try Test.cancel("llvm-objdump-19 is not installed") }
    let reports = try Python.needed().reports(
      "macho.py", [Repository.sectionDump, objdump] + paths)
    #expect(reports.map(\.path) == paths)
    expectAgreement(reports, "llvm-objdump", of: sample)
  }

  @Test("reads no less than it did")
  func samples() {
    #expect(Linkages.machO.count >= 15 && Wheel.machO.count >= 9)
  }

  @Test("agrees on a file of each linkage", arguments: Linkages.machO)
  func linkage(name: String) throws {
    try agree([Linkages.path(name)], of: name)
  }

  @Test("agrees on modules that others built", arguments: Wheel.machO)
  func wheel(wheel: Wheel) throws {
    try agree(wheel.libraries(Python.needed()), of: wheel.testDescription)
  }
}
