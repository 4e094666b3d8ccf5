import Foundation
import TestSupport
import Testing

/// One source, compiled for one machine into a library of each format.
@Suite("The reports of a dylib and of an ELF library of the same source")
struct SameReportTests {
  private static let dylib = "macho-arm64-fixup-chains.dylib"
  private static let library = "elf-aarch64.so"

  /// What the formats have in different places or give different names, and nothing else.
  private static let fileKeys: Set = ["path", "format", "machine", "id"]
  private static let recordKeys: Set = ["address", "offset", "resolution"]

  private func report(_ name: String) throws -> [String: Any] {
    let files = try Tool.files([Linkages.path(name)])
    #expect(files.count == 1)
    return try #require(files.first)
  }

  /// The keys whose values differ; both have the same ones.
  private func differences(_ one: [String: Any], _ other: [String: Any]) throws -> Set<String> {
    #expect(Set(one.keys) == Set(other.keys))
    func text(_ value: Any?) throws -> String {
      let data = try JSONSerialization.data(
        withJSONObject: value ?? NSNull(), options: [.fragmentsAllowed, .sortedKeys])
      return String(decoding: data, as: UTF8.self)
    }
    return Set(try one.keys.filter { try text(one[$0]) != text(other[$0]) })
  }

  @Test("differ in what the formats differ in")
  func whole() throws {
    let (dylib, library) = (try report(Self.dylib), try report(Self.library))
    #expect(try differences(dylib, library).subtracting(["records"]) == Self.fileKeys)
    #expect((dylib["format"] as? String, library["format"] as? String) == ("macho", "elf"))
    #expect((dylib["machine"] as? String, library["machine"] as? String) == ("arm64", "aarch64"))
    // A UUID is always there, a build-id where the linker is asked for it.
    #expect((dylib["id"] as? String)?.count == 32)
    #expect(library["id"] is NSNull)

    let records = try [dylib, library].map { try #require($0["records"] as? [[String: Any]]) }
    #expect(records[0].count == Linkages.entries.count)
    #expect(records[1].count == records[0].count)
    var different: Set<String> = []
    for (one, other) in zip(records[0], records[1]) {
      // In the same order, so that the indices are the same as well.
      different.formUnion(try differences(one, other))
      let ways = [one, other].map { $0["resolution"] as? String }
      let isPointer = one["encoding"] as? String == "pointer"
      #expect(ways == (isPointer ? ["chained-rebase", "relative"] : ["none", "none"]))
    }
    #expect(different == Self.recordKeys)
  }

  @Test("say the same in rows and tables")
  func rows() throws {
    let columns = try [Self.dylib, Self.library].map { name in
      Tool.rows(try Tool.run([Linkages.path(name), "--format", "csv"]).output)
    }
    let titles = try #require(columns[0].first)
    #expect(columns[0].count == columns[1].count)
    var different: Set<String> = []
    for (one, other) in zip(columns[0], columns[1]) {
      #expect(one.count == titles.count && other.count == titles.count, "\(one)")
      for (title, (left, right)) in zip(titles, zip(one, other)) where left != right {
        different.insert(title)
      }
    }
    #expect(different == Self.recordKeys.union(["path"]))
  }
}
