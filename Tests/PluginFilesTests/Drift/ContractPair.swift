import BinaryImage
import Foundation
import PluginFiles
import TestSupport

/// What becomes of version 1 of the contracts in version 2.
enum Change: String, CaseIterable {
  case none, middle, end, removed, defaulted, reordered, retyped

  /// What the protocol asks for.
  var requirements: [String] {
    let encode = "func encode(_ text: String) -> String"
    let (decode, name) = ("func decode(_ text: String) -> String", "func name() -> String")
    let check = "func check(_ text: String) -> String"
    return switch self {
    case .none: [encode, decode, name]
    case .middle: [encode, check, decode, name]
    case .end: [encode, decode, name, check]
    case .removed: [encode, decode]
    case .defaulted: [encode, decode, name, "func audit() -> String"]
    case .reordered: [decode, encode, name]
    case .retyped: ["func encode(_ text: Int) -> String", decode, name]
    }
  }

  /// What a host of this version calls, and what a plugin that fits answers.
  var calls: [(call: String, answer: String)] {
    var calls = [
      (
        self == .retyped ? "codec.encode(7)" : #"codec.encode("x")"#,
        self == .retyped ? "i:7" : "e:x"
      ),
      (#"codec.decode("x")"#, "d:x"),
    ]
    if self != .removed { calls.append(("codec.name()", "n")) }
    if self == .middle || self == .end { calls.append((#"codec.check("x")"#, "c:x")) }
    if self == .defaulted { calls.append(("codec.audit()", "audited")) }
    return calls
  }
}

/// How contracts and what belongs to them are compiled.
struct Build: Hashable {
  var change = Change.none
  var isResilient = false
  var isOptimised = false
  /// The version that clients refer to; empty for none.
  var digest = ""
}

/// Contracts, a plugin and a host, each compiled once.
struct ContractBuilds {
  private let folder: Folder
  private var made: [Build: URL] = [:]
  private var programs: Set<URL> = []

  init() throws { folder = try Folder() }

  /// Answers every requirement of every version.
  private static let plugin = """
    import Contracts
    struct Rot: Codec {
      func encode(_ text: String) -> String { "e:" + text }
      func encode(_ text: Int) -> String { "i:\\(text)" }
      func decode(_ text: String) -> String { "d:" + text }
      func name() -> String { "n" }
      func check(_ text: String) -> String { "c:" + text }
    }
    @_cdecl("makeCodec") public func makeCodec(_ place: UnsafeMutableRawPointer) {
      place.assumingMemoryBound(to: (any Codec).self).initialize(to: Rot())
    }
    """

  private static func host(_ change: Change) -> String {
    """
    import Contracts
    import Glibc
    @main struct Host {
      static func main() {
        guard let handle = dlopen(CommandLine.arguments[1], RTLD_NOW),
          let symbol = dlsym(handle, "makeCodec")
        else {
          print(String(cString: dlerror()))
          exit(3)
        }
        let make = unsafeBitCast(symbol, to: (@convention(c) (UnsafeMutableRawPointer) -> Void).self)
        let place = UnsafeMutablePointer<any Codec>.allocate(capacity: 1)
        make(place)
        let codec = place.pointee
        print(\(change.calls.map(\.call).joined(separator: ", ")))
      }
    }
    """
  }

  private static func contracts(_ build: Build) -> String {
    var requirements = build.change.requirements
    var source = """
      extension Codec { public func audit() -> String { "audited" } }

      """
    if !build.digest.isEmpty {
      requirements.append("static var contract: Void { get }")
      source += """
        extension Codec {
          @_alwaysEmitIntoClient public static var contract: Void { beehiveContract_\(build.digest)() }
        }
        @inline(never) @usableFromInline func beehiveContract_\(build.digest)() {}
        """
    }
    return "public protocol Codec {\n\(requirements.joined(separator: "\n"))\n}\n" + source
  }

  /// The contracts library of a build, in a folder of its own.
  mutating func library(_ build: Build) throws -> URL {
    if let known = made[build] { return known }
    let own = try folder.makeFolder("contracts-\(made.count)")
    let evolution = build.isResilient ? ["-enable-library-evolution"] : []
    let library = try Compiler.swift(
      Self.contracts(build), module: "Contracts", as: "libContracts.so", in: own,
      ["-emit-module", "-Xlinker", "-soname=libContracts.so"] + evolution
        + Self.optimisation(build))
    made[build] = library
    return library
  }

  private static func optimisation(_ build: Build) -> [String] {
    build.isOptimised ? ["-O", "-wmo"] : ["-Onone"]
  }

  /// What is compiled against the contracts of a build.
  private mutating func client(
    _ name: String, _ source: String, of build: Build, emit: String = "-emit-library",
    _ options: [String] = []
  ) throws -> URL {
    let folder = try library(build).deletingLastPathComponent()
    let result = folder.appendingPathComponent(name)
    if programs.contains(result) { return result }
    try Compiler.swift(
      source, module: "Client", as: name, in: folder, emit: emit,
      ["-I", ".", "-L", ".", "-lContracts"] + options + Self.optimisation(build))
    programs.insert(result)
    return result
  }

  /// A plugin that was built against the contracts of a build.
  mutating func plugin(_ build: Build, isStripped: Bool) throws -> URL {
    let plugin = try client("libPlugin.so", Self.plugin, of: build)
    guard isStripped else { return plugin }
    let stripped = plugin.deletingLastPathComponent().appendingPathComponent("libStripped.so")
    try Command.output("strip", ["-o", stripped.path, plugin.path])
    return stripped
  }

  /// A plugin of a build that declares something, as a host asks of plugins.
  mutating func declaringPlugin(_ build: Build) throws -> URL {
    try Compiler.compile(
      Compiler.module("coded"), as: "entry.o", in: folder.url,
      ["-c", "-fPIC", "-I", Repository.headers])
    return try client("libDeclaring.so", Self.plugin, of: build, [folder.place("entry.o").path])
  }

  /// What a host of the contracts of a build gets to hear from a plugin.
  mutating func answers(of plugin: URL, with build: Build) throws -> Outcome {
    let library = try library(build)
    let host = try client("host", Self.host(build.change), of: build, emit: "-emit-executable")
    return try Command.run(
      host.path, [plugin.path],
      environment: [
        "LD_LIBRARY_PATH": library.deletingLastPathComponent().path,
        "SWIFT_BACKTRACE": "enable=no",
      ], limit: 60)
  }

  /// The verdicts on a plugin that is to be loaded with the contracts of a build.
  mutating func drift(of plugin: URL, with build: Build) throws -> [ContractDrift] {
    let library = try library(build)
    return ContractDrift.all(
      of: try ContractExpectations(of: Self.file(plugin)),
      against: try ContractLibrary(of: Self.file(library)))
  }

  static func file(_ url: URL) throws -> ELFFile {
    try ELFFile(OpenedFile(path: url.path, name: url.path))
  }
}
