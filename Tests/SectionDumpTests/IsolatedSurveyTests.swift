import BinaryImage
import Foundation
import Registration
import TestSupport
import Testing

@testable import section_dump

@Suite(
  "With --isolate, sets of files are read by children",
  .limitsMemory)
struct IsolatedSurveyTests {
  /// Files with entries of every sort, good and bad, with and without Swift types.
  private static let files = Result {
    let types = Fixtures.place("isolated-types.swift")
    try Data(
      "public enum Shop { public struct ShopModule {} }\nextension String { struct X {} }\n".utf8
    )
    .write(to: types)
    try Fixtures.tool(
      "swiftc",
      [
        "-parse-as-library", "-emit-library", "-module-name", "M", types.path, "-o",
        "isolated-types.so",
      ])
    let shared = ["-shared", "-fPIC"]
    return [
      "isolated-types.so", try Fixtures.annotatedLibrary("isolated-annotated.so"),
      try Fixtures.build(Fixtures.handWritten, as: "isolated-hand.so", shared),
      try Fixtures.build(Fixtures.layout, as: "isolated-layout.so", suffix: "s", shared),
      try Fixtures.build(Fixtures.layout, as: "isolated-layout.o", suffix: "s", ["-c"]), "nosuch",
    ]
      + (try Linkages.built().filter(
        ["universal.dylib", "universal.a", "archive-gnu.a", "elf-aarch64_be.so", "elf-x32.o"]
          .contains
      ).map(Linkages.path))
  }

  static let commands = [
    ["verify"], ["verify", "--strict", "--require", "module:nobody"],
    ["verify", "--arch", "arm64"],
    ["graph", "--format", "dot"], ["graph", "--format", "json"],
  ]

  /// Every command with every format, by one thread and by several; half of that is usually enough.
  static let runs = commands.enumerated().flatMap { number, command in
    let formats =
      command[0] == "graph"
      ? [[]] : ["table", "json"].map { ["--format", $0, "--color", "always"] }
    return formats.enumerated().flatMap { position, format in
      [1, 3].filter { Effort.isFull || (number + position + $0 / 2) % 2 == 0 }
        .map { (command + format, $0) }
    }
  }

  @Test("Nothing else is different", .needs("swiftc"), arguments: runs)
  func same(command: [String], jobs: Int) throws {
    #expect(try !Tool.runIsolated(command + Self.files.get(), jobs: jobs).output.isEmpty)
  }

  @Test("Nor between builds", .needs("swiftc"), arguments: ["table", "ndjson"])
  func builds(format: String) throws {
    let files = try Self.files.get()
    let pairs = Array(zip(files, files.dropFirst()))
    for (old, new) in Effort.sample(4, of: pairs) {
      let outcome = try Tool.runIsolated(["diff", "--format", format, old, new])
      // Lines alone are none where nothing differs.
      #expect(!outcome.output.isEmpty || format == "ndjson")
    }
  }

  @Test("One that is killed is a finding, and the others are verified")
  func killed() throws {
    let good = try Fixtures.annotatedLibrary("beside-hungry-set.so")
    let hungry = try IsolationTests.hungryArchive("hungry-set.a")
    let other = "beside-hungry-set-other.so"
    try (Fixtures.bytes(good) + [0]).write(to: Fixtures.place(other))
    let outcome = try Tool.run(["verify", "--isolate", "--format", "csv", good, hungry, other])
    #expect(outcome.status == 2)
    let lines = outcome.output.split(separator: "\n")
    #expect(lines.count { $0.hasPrefix("error,killed,hungry-set.a,") } == 1)
    #expect(lines.count { $0.hasPrefix("error,duplicate-") } == 4)
    let diff = try Tool.run(["diff", "--isolate", good, hungry])
    #expect(diff.status == 2)
    #expect(diff.errors.hasPrefix("section-dump: hungry-set.a: The child that was to read it "))
    #expect(diff.output == "not compared: nothing of new was read\n")
  }
}

@Suite("What a child says")
struct CodedTests {
  @Test("of a file is refused where it leads to another one, or counts what cannot be")
  func refused() throws {
    let path = Fixtures.place(try Fixtures.annotatedLibrary("reported.so")).path
    let survey = Survey(Inputs(paths: [path]))
    func isAccepted(_ change: (inout Survey) -> Void) -> Bool {
      var report = survey
      change(&report)
      let read = try? Survey(coded: report.coded ?? [])
      return read?.isSensible(of: .success(Input(path: Array(path.utf8)))) == true
    }
    #expect(isAccepted { _ in })
    #expect(!isAccepted { $0.images[0].part?.path = Array("/dev/zero".utf8) })
    #expect(!isAccepted { $0.images[0].place.path = "other.so" })
    #expect(!isAccepted { $0.images[0].place.pathBytes = [0xff] })
    #expect(!isAccepted { $0.read = -1 })
    #expect(!isAccepted { $0.skipped = 1 << 32 })
  }

  /// An entry with a value in every field, and one for each way in which pointers lead somewhere.
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

  @Test("of entries is read as it was written")
  func roundTrip() throws {
    let bytes = try #require(Self.entries.coded)
    #expect(try [Record](coded: bytes) == Self.entries)
  }
}
