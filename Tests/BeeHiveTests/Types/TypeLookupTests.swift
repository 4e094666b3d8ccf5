import BinaryImage
import CSwiftRuntime
import TestSupport
import Testing

@testable import BeeHive

struct `raw name` {}
struct Twofold { struct Twofold {} }
struct Unique: ~Copyable {}
typealias Alias = Parcel
protocol Bound: Vehicle {}
protocol Failing: Error {}

/// Libraries for several tests. They are compiled once and loaded for ever.
private enum Depot {
  static let loaded: Result<Void, any Error> = Result {
    try SwiftLibrary(
      module: "Depot",
      """
      public class Lorry {}
      final class Van {}
      public struct Pallet { public struct Berth { public enum State { case free } } }
      public actor Forklift {}
      public enum Zone { public final class Gate {}; public protocol Guarded {} }
      extension Zone { public struct Dock {} }
      extension String { public struct Barcode {} }
      public protocol Movable {}
      public protocol Driven: AnyObject {}
      public protocol Holder { associatedtype Content }
      public struct Stack<T> { public struct Top {} }
      public struct Größe {}
      public struct Seal: ~Copyable {}
      private struct Secret {}
      fileprivate protocol Hush {}
      public typealias Alias = Pallet
      public func use() -> [Any.Type] { struct Local {}; return [Secret.self, Local.self] }
      public struct Ramp {}
      public enum Quay { struct Ramp {} }
      """
    ).load()
    try SwiftLibrary(module: "Quay", "public struct Ramp {}; public enum Pier { struct Ramp {} }")
      .load()
  }
}

@Suite("Looking up types", .needs("swiftc"))
struct TypeLookupTests {
  init() throws { try Depot.loaded.get() }

  @Test(
    "every nameable type is found by its whole name",
    arguments: [
      ("Depot.Lorry", "5Depot5LorryC"),
      ("Depot.Van", "5Depot3VanC"),
      ("Depot.Pallet", "5Depot6PalletV"),
      ("Depot.Pallet.Berth", "5Depot6PalletV5BerthV"),
      ("Depot.Pallet.Berth.State", "5Depot6PalletV5BerthV5StateO"),
      ("Depot.Forklift", "5Depot8ForkliftC"),
      ("Depot.Zone", "5Depot4ZoneO"),
      ("Depot.Zone.Gate", "5Depot4ZoneO4GateC"),
      ("Depot.Zone.Dock", "5Depot4ZoneO4DockV"),
      ("Depot.Zone.Guarded", "5Depot4ZoneO7Guarded_p"),
      ("Swift.String.Barcode", "SS5DepotE7BarcodeV"),
      ("Depot.Movable", "5Depot7Movable_p"),
      ("any Depot.Movable", "5Depot7Movable_p"),
      ("Depot.Driven", "5Depot6Driven_p"),
      ("Depot.Holder", "5Depot6Holder_p"),
      ("Depot.Größe", "5Depot7GrößeV"),
      ("Swift.Int", "Si"),
      ("Swift.Error", "s5Error_p"),
      ("Swift.MainActor", "ScM"),
    ])
  func whole(name: String, mangled: String) throws {
    let expected = try #require(_typeByName(mangled))
    #expect(found(name) == ObjectIdentifier(expected))
    // Any shorter form means the same type, if it fits no other type.
    for suffix in TypeName(name).suffixes where suffix.contains(".") {
      #expect(found(suffix) == ObjectIdentifier(expected), "as \(suffix)")
    }
  }

  @Test(
    "a name without a module means the one loaded type of that name",
    arguments: ["Lorry", "Pallet", "Berth", "Dock", "Guarded", "Barcode", "Movable", "Größe"])
  func unqualified(name: String) throws {
    let type = try #require(loaded(name), "\(TypeLookup.type(named: TypeName(name)))")
    #expect(TypeSpelling.of(type).unqualified == name)
  }

  @Test("what is found is the type that the compiler means")
  func identity() {
    let types: [any Any.Type] = [
      Parcel.self, Parcel.Label.self, Parcel.Tag.self, Parcel.Size.self, Vehicle.self,
      Dispatcher.self, String.Stamp.self, `raw name`.self, Twofold.self, Twofold.Twofold.self,
      (any Courier).self, (any Signed).self, (any Feed).self, (any Bound).self, (any Failing).self,
      (any Parcel.Weighed).self, Int.self, String.self, (any Error).self, (any Actor).self,
    ]
    for type in types {
      let name = TypeSpelling.of(type).qualified
      #expect(found(name) == ObjectIdentifier(type), "\(name)")
    }
  }

  @Test(
    "a name that finds nothing says why",
    arguments: [
      ("Depot.Nothing", .unknown),
      ("Nothing", .unknown),
      ("Nowhere.Pallet", .unknown),
      ("Depot", .unknown),
      ("Depot.Secret", .unknown),
      ("Depot.Hush", .unknown),
      ("Depot.Local", .unknown),
      ("Depot.Alias", .unknown),
      ("Depot.Stack", .generic("Depot.Stack")),
      ("Depot.Stack<Swift.Int>", .generic("Depot.Stack")),
      ("Stack.Top", .generic("Depot.Stack.Top")),
      ("Depot.Seal", .unknown),
      ("Unique", .unknown),
      ("Depot.Movable & Depot.Driven", .malformed),
      ("(Int, Int)", .malformed),
      ("", .malformed),
    ] as [(String, TypeLookup.Answer)])
  func absent(name: String, reason: TypeLookup.Answer) {
    #expect("\(TypeLookup.type(named: TypeName(name)))" == "\(reason)")
  }

  @Test("several types of one name are all named")
  func ambiguous() {
    let names = ["Depot.Quay.Ramp", "Depot.Ramp", "Quay.Pier.Ramp", "Quay.Ramp"]
    let answer = TypeLookup.type(named: TypeName("Ramp"))
    #expect("\(answer)" == "\(TypeLookup.Answer.ambiguous(names))")
    // A whole name means that type, even if it is also the end of a longer name.
    #expect(found("Quay.Ramp") == _typeByName("4Quay4RampV").map { ObjectIdentifier($0) })
    #expect(found("Pier.Ramp") == _typeByName("4Quay4PierO4RampV").map { ObjectIdentifier($0) })
  }

  @Test("a library that arrives later brings its types")
  func arrival() throws {
    let library = try SwiftLibrary(
      module: "Latecomer", "public protocol Late {}; public struct LateGuest: Late {}")
    #expect(found("Latecomer.LateGuest") == nil)
    #expect(found("LateGuest") == nil)
    let before = TypeLookup.generation

    try library.load()

    #expect(TypeLookup.generation > before)
    let guest = try #require(loaded("LateGuest"))
    let late = try #require(loaded("Latecomer.Late"))
    #expect("\(guest)" == "LateGuest")
    #expect(Conformance.of(guest, to: late) == .holds)
    #expect(Conformance.of(Parcel.self, to: late) != .holds)
  }

  @Test("two copies of a module: the type of the first loaded")
  func copies() throws {
    let source = "public struct Twinned { public var text: String }"
    let known = SwiftImage.count
    try SwiftLibrary(module: "Twin", source).load()
    try SwiftLibrary(module: "Twin", source + "; public struct Extra {}").load()
    let images = SwiftImage.all(from: known).filter { image in
      var holdsType = false
      unsafe image.forEachDescriptor { descriptor, _ in
        if descriptor.path == ["Twin", "Twinned"] { holdsType = true }
      }
      return holdsType
    }
    try #require(images.count == 2)
    // Each image means its own type, wherever the other image is.
    for image in images {
      let bias = LoadBias(rawValue: image.base)
      guard case .found(let type) = TypeLookup.type(named: TypeName("Twinned"), by: bias) else {
        Issue.record("there is no Twinned")
        continue
      }
      let words = unsafe unsafeBitCast(type, to: UnsafePointer<UInt>.self)
      let descriptor = RuntimeAddress(rawValue: unsafe .init(words[1]))
      #expect(descriptor.imagePath == RuntimeAddress(rawValue: .init(image.base)).imagePath)
    }
    #expect(found("Twinned") == found("Twin.Twinned"))
    #expect(found("Twin.Twinned") == _typeByName("4Twin7TwinnedV").map { ObjectIdentifier($0) })
  }

  @Test("the runtime agrees on every type of the process")
  func everyType() {
    var count = 0
    for image in SwiftImage.all(from: 0) {
      unsafe image.forEachDescriptor { descriptor, _ in
        guard let path = descriptor.path, !descriptor.isGeneric,
          case .found(let type) = TypeLookup.type(named: TypeName(path.joined(separator: "."))),
          let mangled = _mangledTypeName(type)
        else { return }
        count += 1
        // The runtime takes no image, so it always finds the first of two copies of a module. Tests load such copies.
        guard !["Twin", "Contracts"].contains(path.first) else { return }
        #expect(_typeByName(mangled).map { ObjectIdentifier($0) } == ObjectIdentifier(type))
      }
    }
    #expect(count > 500)
  }

  @Test("threads may ask while libraries arrive")
  func threads() async throws {
    let libraries = try (0..<3).map { try SwiftLibrary(module: "Wave\($0)", "struct Crest {}") }
    await withTaskGroup { group in
      for library in libraries {
        group.addTask {
          do { try library.load() } catch { Issue.record(error) }
        }
      }
      for _ in 0..<4 {
        group.addTask {
          for index in 0..<500 {
            _ = found("Wave\(index % 3).Crest")
            _ = TypeSpelling.of(Parcel.self)
            #expect(found("Depot.Pallet") != nil)
          }
        }
      }
    }
    for index in 0..<3 { #expect(found("Wave\(index).Crest") != nil) }
  }

  @Test("an unknown name is compared with no other, and the runtime is not asked for it")
  func misses() {
    var index = TypeIndex()
    for image in SwiftImage.all(from: 0) { index.add(image) }
    var compared = 0
    for number in 0..<1000 {
      index.forEachCandidate(named: "Missing\(number)") { _ in compared += 1 }
      #expect(found("Depot.Missing\(number)") == nil)
    }
    #expect(compared == 0)
    index.forEachCandidate(named: "Ramp") { _ in compared += 1 }
    #expect(compared == 4)
  }
}

private func loaded(_ name: String) -> (any Any.Type)? {
  if case .found(let type) = TypeLookup.type(named: TypeName(name)) { type } else { nil }
}

private func found(_ name: String) -> ObjectIdentifier? {
  loaded(name).map { ObjectIdentifier($0) }
}
