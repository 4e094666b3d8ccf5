import BinaryImage
import Foundation
import Registration
import Testing

@testable import section_dump

@Suite("Reports of child processes")
struct CodedTests {
  @Test("A report that names another file or an impossible count is refused")
  func refused() throws {
    let path = Fixtures.place(try Fixtures.annotatedLibrary("reported.so")).path
    let set = FileSet(Inputs(paths: [path]))
    func isAccepted(_ change: (inout FileSet) -> Void) -> Bool {
      var report = set
      change(&report)
      let read = try? FileSet(coded: report.coded ?? [])
      return read?.isSensible(of: Input(path: Array(path.utf8))) == true
    }
    #expect(isAccepted { _ in })
    #expect(!isAccepted { $0.images[0].part?.path = Array("/dev/zero".utf8) })
    #expect(!isAccepted { $0.images[0].place.path = "other.so" })
    #expect(!isAccepted { $0.images[0].place.pathBytes = [0xff] })
    #expect(!isAccepted { $0.read = -1 })
    #expect(!isAccepted { $0.skipped = 1 << 32 })
  }

  /// An entry with a value in every field, and one for each way to resolve a pointer.
  private static let entries: [Record] = {
    var attributes = Attributes()
    attributes.priority = -3
    attributes.level = "basic"
    attributes.requires = ["log", "net"]
    attributes.after = ["disk"]
    attributes.scope = "singleton"
    attributes.name = "né"
    attributes.abi = "c-table"
    attributes.others = [.init(key: "colour", value: "a=b"), .init(key: "", value: "")]
    let targets: [PointerValue.Target] = [
      .null, .address(VirtualAddress(rawValue: .max)), .section(index: -1, offset: 7),
      .imported(symbol: "_x"), .foreign(RuntimeAddress(rawValue: 9)), .unresolvable("why"),
    ]
    return targets.map { target in
      var record = Record(
        kind: RecordKind(rawValue: 0x8001), name: "name", implementation: "\u{0}x",
        attributes: attributes, encoding: .inline,
        origin: Origin(
          image: "libshop.so", section: "BeehiveRecords", index: 4,
          address: VirtualAddress(rawValue: 5), offset: FileOffset(rawValue: 6)))
      record.resolution = .chainedRebase
      record.textAddress = VirtualAddress(rawValue: 1)
      record.accessor = PointerValue(
        rawValue: 2, target: target, resolution: .symbol, symbol: "accessor")
      record.context = PointerValue(rawValue: 3, target: target, resolution: .relr)
      return record
    } + [.blank]
  }()

  @Test("Entries are read as they were written")
  func roundTrip() throws {
    let bytes = try #require(Self.entries.coded)
    #expect(try [Record](coded: bytes) == Self.entries)
  }
}
