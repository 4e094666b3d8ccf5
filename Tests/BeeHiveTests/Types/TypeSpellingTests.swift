import Testing

@testable import BeeHive

protocol Courier {}
protocol Signed: AnyObject {}
protocol Feed<Item> { associatedtype Item }
class Vehicle {}
struct Parcel {
  struct Label {}
  final class Tag {}
  protocol Weighed {}
}
extension Parcel { enum Size { case small } }
extension String { struct Stamp {} }
struct Crate<Content> { struct Lid {} }
struct `two words` { struct Inner {} }
private protocol Hidden {}
private struct Secret { struct Inner {} }

@Suite("Spellings of types")
struct TypeSpellingTests {
  struct Row: Sendable, CustomTestStringConvertible {
    let type: any Any.Type
    let all: [String]
    init(_ type: any Any.Type, _ all: String...) {
      self.type = type
      self.all = all
    }
    var testDescription: String { all.first ?? "" }
  }

  static let rows = [
    Row(Parcel.self, "BeeHiveTests.Parcel", "Parcel"),
    Row((any Courier).self, "BeeHiveTests.Courier", "Courier"),
    Row(Parcel.Label.self, "BeeHiveTests.Parcel.Label", "Parcel.Label", "Label"),
    Row(Parcel.Size.self, "BeeHiveTests.Parcel.Size", "Parcel.Size", "Size"),
    Row((any Parcel.Weighed).self, "BeeHiveTests.Parcel.Weighed", "Parcel.Weighed", "Weighed"),
    Row(String.Stamp.self, "Swift.String.Stamp", "String.Stamp", "Stamp"),
    Row(`two words`.Inner.self, "BeeHiveTests.`two words`.Inner", "`two words`.Inner", "Inner"),
    Row((any Hidden).self, "BeeHiveTests.Hidden", "Hidden"),
    Row(Secret.Inner.self, "BeeHiveTests.Secret.Inner", "Secret.Inner", "Inner"),
    Row(Int.self, "Swift.Int", "Int"),
    Row(
      Crate<Parcel>.self, "BeeHiveTests.Crate<BeeHiveTests.Parcel>", "BeeHiveTests.Crate<Parcel>",
      "Crate<Parcel>", "Crate<BeeHiveTests.Parcel>"),
    Row(
      Crate<any Courier>.Lid.self, "BeeHiveTests.Crate<BeeHiveTests.Courier>.Lid",
      "BeeHiveTests.Crate<Courier>.Lid", "Crate<Courier>.Lid", "Lid",
      "Crate<BeeHiveTests.Courier>.Lid"),
    Row(
      [String: [Int]].self, "Swift.Dictionary<Swift.String, Swift.Array<Swift.Int>>",
      "Swift.Dictionary<String, Array<Int>>", "Dictionary<String, Array<Int>>",
      "Dictionary<Swift.String, Swift.Array<Swift.Int>>"),
    Row(
      (any Signed & Courier).self, "BeeHiveTests.Courier & BeeHiveTests.Signed", "Courier & Signed"),
    Row(
      (any Vehicle & Courier).self, "BeeHiveTests.Courier & BeeHiveTests.Vehicle",
      "Courier & Vehicle"),
    Row(
      (any Feed<Int>).self, "BeeHiveTests.Feed<Swift.Int>", "BeeHiveTests.Feed<Int>", "Feed<Int>",
      "Feed<Swift.Int>"),
    Row((any Sendable).self, "Any"),
  ]

  @Test("a type has the names that a record may write", arguments: rows)
  func spelling(row: Row) {
    let spelling = TypeSpelling.of(row.type)
    #expect(spelling.all == row.all)
    #expect(spelling.qualified == row.all.first)
    #expect(row.all.contains(spelling.unqualified))
  }

  @Test("the unqualified name is the last component")
  func unqualified() {
    #expect(TypeSpelling.of(Parcel.Label.self).unqualified == "Label")
    #expect(TypeSpelling.of(Crate<Parcel.Label>.self).unqualified == "Crate<Label>")
  }

  @Test("what the macro sees is among the spellings")
  func written() {
    for written in [
      "(any Courier).self", "any BeeHiveTests.Courier", "Courier",
    ] {
      #expect(TypeSpelling.of((any Courier).self).all.contains(TypeName(written).text))
    }
    let crate = TypeSpelling.of(Crate<any Courier>.self).all
    #expect(crate.contains(TypeName("BeeHiveTests.Crate<any Courier>").text))
  }
}
