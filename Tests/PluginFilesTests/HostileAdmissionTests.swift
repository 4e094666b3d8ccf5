import BinaryImage
import Foundation
import TestSupport
import Testing

@testable import PluginFiles

@Suite("Files that are made to harm whoever judges them")
struct HostileAdmissionTests {
  @Test("Damage anywhere in the headers and the loader's tables is a refusal, or none")
  func damage() throws {
    let folder = try AdmissionFolder()
    let path = try folder.plugin("x")
    let good = try Data(contentsOf: URL(fileURLWithPath: path))
    let host = try AdmissionHost(executable: folder.folder.place("host").path)
    var numbers = SeededGenerator(seed: 42)
    // The headers, and everything before the code: hash tables, symbols, versions, relocations.
    let tables = 0..<min(good.count, 0x1000)
    for _ in 0..<Effort.times(200, full: 20_000) {
      var bytes = good
      for _ in 0..<Int.random(in: 1...4, using: &numbers) {
        let place = Int.random(in: tables, using: &numbers) & ~3
        let values: [UInt32] = [
          0, 1, 0xffff_ffff, 0x7fff_ffff, UInt32(good.count), .random(in: 0..<100, using: &numbers),
        ]
        let value = values[Int.random(in: 0..<values.count, using: &numbers)]
        let new = (0..<4).map { UInt8(truncatingIfNeeded: value >> UInt32(8 * $0)) }
        bytes.replaceSubrange(place..<place + 4, with: new)
      }
      try bytes.save(as: URL(fileURLWithPath: path))
      judge(path, host)
    }
    for count in stride(from: 0, to: good.count, by: Effort.isFull ? 16 : 256) {
      try good.prefix(count).save(as: URL(fileURLWithPath: path))
      judge(path, host)
    }
    try good.save(as: URL(fileURLWithPath: path))
    #expect(judge(path, host).map { $0.refusals.map(\.message) } == [[]])
  }

  @discardableResult
  private func judge(_ path: String, _ host: AdmissionHost) -> [AdmissionReport.Plugin] {
    AdmissionFolder.report(of: PluginCatalogue(.file(path)), to: host, .strict).plugins
  }

  @Test("A cache of the loader's that lies leads nowhere")
  func cache() throws {
    let identity = try Library(of: OpenedFile(path: "/proc/self/exe", name: "self")).image.identity
    let magic = Array("glibc-ld.so.cache1.1".utf8)
    let full = [UInt8](repeating: 0xff, count: 28)
    for bytes in [magic + full + full, magic, []] {
      #expect(loaderCache(of: bytes, for: identity).isEmpty)
    }
    let real = loaderCache(of: systemFile("/etc/ld.so.cache").bytes, for: identity)
    #expect(real["libc.so.6"]?.isEmpty == false)
  }

  @Test("Links that lead back to themselves end")
  func links() throws {
    let folder = try AdmissionFolder()
    try makeLink(at: folder.plugins + "/libx.so", to: "libx.so")
    #expect(FolderWalk(to: folder.plugins + "/libx.so").end == nil)
    #expect(try folder.codes().isEmpty)
  }

  @Test("A long row of plugins that wait for a refused one costs a sentence each")
  func chain() throws {
    let folder = try AdmissionFolder()
    let count = 60
    for number in 0..<count {
      try folder.plugin(
        "p\(number)", Compiler.module("p\(number)", "BEEHIVE_REQUIRES(\"p\(number + 1)\")"))
    }
    let report = try folder.report()
    #expect(report.admitted.isEmpty)
    #expect(report.plugins.flatMap(\.refusals).allSatisfy { $0.message.utf8.count < 300 })
    #expect(report.plugins.count { $0.refusals.first?.cause?.lastPart == "libp59.so" } == count - 1)
  }

  @Test("Thousands of requirements that nothing meets are listed up to a number")
  func requirements() throws {
    let folder = try AdmissionFolder()
    let modules = (0..<200).map { number in
      let names = "abcdefghij".map { "BEEHIVE_REQUIRES(\"module\(number)\($0)\")" }
      return
        "BEEHIVE_MODULE(module\(number), &first_operations, \(names.joined(separator: " ")));\n"
    }
    try folder.plugin("x", Compiler.module("first") + modules.joined())
    let plugin = try #require(try folder.report().plugins.first)
    #expect(plugin.refusals.count == 1024 && plugin.remarks.count == 1)
    // Each question costs a comparison with all names, so there are few.
    #expect(plugin.refusals.count { $0.message.hasSuffix("?") } == 16)
  }

  @Test("Thousands of entries that are refused hide no requirement that nothing meets")
  func otherRefusals() throws {
    let folder = try AdmissionFolder()
    let broken = "__attribute__((used, section(\"BeehiveMods\"))) const char *broken[2000];\n"
    try folder.plugin("x", Compiler.module("a", #"BEEHIVE_REQUIRES("gone")"#) + broken)
    var policy = PluginPolicy()
    policy.admitsRejectedEntries = false
    let codes = try #require(try folder.codes(policy)["libx.so"])
    #expect(codes.count { $0 == "rejected-entry" } > 1024)
    #expect(codes.last == "unmet-requirement")
  }
}
