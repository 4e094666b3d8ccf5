import BinaryImage
import Foundation
import PluginFiles
import Registration
import SwiftContracts
import TestSupport
import Testing

@Suite("The table of a C service against what a host asks for")
struct TableDriftTests {
  /// A verdict of two texts: the expected contract, and the found one.
  static let order: [String?] = [
    nil,
    "it is large enough; the order and the types of its functions cannot be read from the files",
  ]
  static let small: [String?] = ["16 bytes", "8 bytes"]

  /// The number of functions in the table, the table's version, the host's version, and the verdict; nil if it fits.
  /// The host asks for a table of two functions.
  static let rows: [(Int, own: String?, host: String?, [String?]?)] = [
    (2, nil, nil, order), (3, nil, nil, order), (1, nil, nil, small), (1, "2", "2", small),
    (2, "2", "2", nil), (2, "1", nil, order),
    (2, "1", "2", ["version 2", "version 1"]),
    (2, nil, "2", ["version 2", "no version"]),
  ]

  /// Returns the line of Docs/contracts.md, with another version.
  private static func declaration(_ version: String?) throws -> String {
    try Document("Docs/contracts.md").block("c", with: "BEEHIVE_ABI").text
      .replacing(#"BEEHIVE_ABI("2")"#, with: version.map { "BEEHIVE_ABI(\"\($0)\")" } ?? #""""#)
  }

  @Test(arguments: rows)
  func tables(count: Int, own: String?, host: String?, verdict: [String?]?) throws {
    let folder = try Folder()
    let functions = (0..<count).map { "int (*f\($0))(void);" }.joined(separator: " ")
    let declaration = try Self.declaration(own)
    let library = try Compiler.library(
      """
      #include "BeeHive.h"
      static const struct { \(functions) } table;
      \(declaration)
      """, as: "libtable.so", in: folder.url, ["-nostdlib"])
    let file = try ELFFile(OpenedFile(path: library.path))
    let records = try Scan(of: file).records
    let drift = ContractDrift.all(
      of: records, in: file,
      asked: [("Greeter", 16, host)])
    #expect(drift.map(\.verdict) == (verdict.map { [$0] } ?? []))
    #expect(drift.allSatisfy { $0.contract == "Greeter" })
    #expect(ContractDrift.all(of: records, in: file, asked: []).isEmpty)
  }
}
