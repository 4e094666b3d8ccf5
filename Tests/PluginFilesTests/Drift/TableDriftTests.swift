import BinaryImage
import Foundation
import PluginFiles
import Registration
import TestSupport
import Testing

@Suite("The table of a C service against what a host asks for")
struct TableDriftTests {
  struct Row: CustomTestStringConvertible {
    var testDescription: String
    /// Functions that a host of the table's first version calls.
    var functions = 2
    var attributes = ""
    var version: String?
    /// What is expected and what there is; nil if it fits.
    var verdict: [String?]?
  }

  static let order = [
    nil,
    "it is large enough; the order and the types of its functions cannot be read from the files",
  ]
  static let rows = [
    Row(testDescription: "as large, without a version", verdict: order),
    Row(testDescription: "larger, without a version", functions: 3, verdict: order),
    Row(
      testDescription: "smaller", functions: 1,
      verdict: ["16 bytes", "8 bytes"]),
    Row(
      testDescription: "smaller, of the same version", functions: 1,
      attributes: #"BEEHIVE_ABI("2")"#,
      version: "2", verdict: ["16 bytes", "8 bytes"]),
    Row(
      testDescription: "of the same version", attributes: #"BEEHIVE_ABI("2")"#, version: "2"),
    Row(
      testDescription: "of another version", attributes: #"BEEHIVE_ABI("1")"#, version: "2",
      verdict: ["version 2", "version 1"]),
    Row(
      testDescription: "of a version that the host lacks", attributes: #"BEEHIVE_ABI("1")"#,
      verdict: order),
    Row(
      testDescription: "without the host's version", version: "2",
      verdict: ["version 2", "no version"]),
  ]

  /// The line of Docs/contracts.md, with other attributes.
  private static func declaration(_ attributes: String) throws -> String {
    try Document("Docs/contracts.md").block("c", with: "BEEHIVE_ABI").text
      .replacing(#"BEEHIVE_ABI("2")"#, with: attributes.isEmpty ? #""""# : attributes)
  }

  @Test(arguments: rows)
  func tables(row: Row) throws {
    let folder = try Folder()
    let functions = (0..<row.functions).map { "int (*f\($0))(void);" }.joined(separator: " ")
    let declaration = try Self.declaration(row.attributes)
    try Compiler.compile(
      """
      #include "BeeHive.h"
      static const struct { \(functions) } table;
      \(declaration)
      """, as: "libtable.so", in: folder.url,
      ["-shared", "-fPIC", "-I", Repository.headers, "-nostdlib"])
    let path = folder.place("libtable.so").path
    let file = try ELFFile(OpenedFile(path: path))
    let records = try Scan(of: file).records
    let drift = ContractDrift.all(
      of: records, in: file,
      asked: [.init(service: "Greeter", size: 16, version: row.version)])
    #expect(drift.map(\.verdict) == (row.verdict.map { [$0] } ?? []))
    #expect(drift.allSatisfy { $0.contract == "Greeter" })
    #expect(ContractDrift.all(of: records, in: file, asked: []).isEmpty)
  }
}
