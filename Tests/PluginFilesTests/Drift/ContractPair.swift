import BinaryImage
import Foundation
import PluginFiles
import SwiftContracts
import TestSupport

/// A method of contracts, the call of a host, and the answer of a plugin that has it.
struct Method: Equatable {
  var declaration: String
  var call: String
  var answer: String
  var body: String

  init(_ declaration: String, _ call: String, _ answer: String, body: String? = nil) {
    (self.declaration, self.call) = ("func \(declaration) -> String", "codec.\(call)")
    (self.answer, self.body) = (answer, body ?? "\"\(answer)\"")
  }

  static let encode = Method(
    "encode(_ text: String)", #"encode("x")"#, "e:x", body: #""e:" + text"#)
  static let number = Method("encode(_ text: Int)", "encode(7)", "i:7", body: #""i:\(text)""#)
  static let decode = Method(
    "decode(_ text: String)", #"decode("x")"#, "d:x", body: #""d:" + text"#)
  static let check = Method("check(_ text: String)", #"check("x")"#, "c:x", body: #""c:" + text"#)
  static let name = Method("name()", "name()", "n")
  static let audit = Method("audit()", "audit()", "audited")
}

/// The change from version 1 of the contracts to version 2.
enum Change: String, CaseIterable {
  case none, middle, end, removed, defaulted, reordered, retyped
  /// Changes of a class: one more property, and a property of another size.
  case property, wider

  /// The requirements of the protocol, or the methods of the class.
  var methods: [Method] {
    switch self {
    case .none, .property, .wider: [.encode, .decode, .name]
    case .middle: [.encode, .check, .decode, .name]
    case .end: [.encode, .decode, .name, .check]
    case .removed: [.encode, .decode]
    case .defaulted: [.encode, .decode, .name, .audit]
    case .reordered: [.decode, .encode, .name]
    case .retyped: [.number, .decode, .name]
    }
  }

  /// The stored properties of the class.
  var properties: String {
    switch self {
    case .property: "public var more = 1; public var count = 7"
    case .wider: "public var count = Wide()"
    default: "public var count = 7"
    }
  }
}

/// The compiler settings of contracts, and of their plugin and host.
struct Build: Hashable {
  var change = Change.none
  /// Whether the contract is a class instead of a protocol.
  var isClass = false
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

  /// Returns the source of a plugin. It has the requirements of all versions, or the methods of this version's class.
  private static func plugin(_ build: Build) -> String {
    let methods: [Method] =
      build.isClass ? build.change.methods : [.encode, .number, .decode, .name, .check]
    func members(_ start: String) -> String {
      methods.map { "\(start)\($0.declaration) { \($0.body) }" }.joined(separator: "\n")
    }
    let types =
      build.isClass
      ? """
      final class Rot: Codec { \(members("override ")) }
      final class Own: Codec {
        var own = 5
        \(members("override "))
        deinit { if own != 5 { fatalError("own") } }
      }
      """ : "struct Rot: Codec { \(members("")) }"
    let instances = build.isClass ? "Rot(), Own()" : "Rot()"
    return """
      import Contracts
      \(types)
      @_cdecl("makeCodecs") public func makeCodecs(_ place: UnsafeMutableRawPointer) {
        place.assumingMemoryBound(to: [\(contract(build))].self).initialize(to: [\(instances)])
      }
      """
  }

  private static func contract(_ build: Build) -> String { build.isClass ? "Codec" : "any Codec" }

  private static func host(_ build: Build) -> String {
    let calls = build.change.methods.map(\.call) + (build.isClass ? ["codec.count"] : [])
    return """
      import Contracts
      import Glibc
      @main struct Host {
        static func main() {
          guard let handle = dlopen(CommandLine.arguments[1], RTLD_NOW),
            let symbol = dlsym(handle, "makeCodecs")
          else {
            print(String(cString: dlerror()))
            exit(3)
          }
          let make = unsafeBitCast(symbol, to: (@convention(c) (UnsafeMutableRawPointer) -> Void).self)
          let place = UnsafeMutablePointer<[\(contract(build))]>.allocate(capacity: 1)
          make(place)
          for codec in place.move() { print(\(calls.joined(separator: ", "))) }
        }
      }
      """
  }

  private static func contracts(_ build: Build) -> String {
    if build.isClass {
      let methods = build.change.methods.map { "open \($0.declaration) { \"base\" }" }
      let version =
        "@_alwaysEmitIntoClient public class var contract: Void { beehiveContract_\(build.digest)() }"
      return """
        public struct Wide: CustomStringConvertible {
          var number = 7, more = 0, most = 0
          public var description: String { "\\(number)" }
        }
        open class Codec {
          public init() {}
          \(build.change.properties)
          \(methods.joined(separator: "\n"))
          \(build.digest.isEmpty ? "" : version)
        }
        @inline(never) @usableFromInline func beehiveContract_\(build.digest)() {}
        """
    }
    var requirements = build.change.methods.map(\.declaration)
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

  /// Returns the contracts library of a build, in a folder of its own.
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

  /// Compiles a client against the contracts of a build.
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

  /// Returns a plugin that was built against the contracts of a build.
  mutating func plugin(_ build: Build, isStripped: Bool) throws -> URL {
    let plugin = try client("libPlugin.so", Self.plugin(build), of: build)
    guard isStripped else { return plugin }
    let stripped = plugin.deletingLastPathComponent().appendingPathComponent("libStripped.so")
    try Command.output("strip", ["-o", stripped.path, plugin.path])
    return stripped
  }

  /// Returns a plugin of a build that declares an entry, as hosts ask of plugins.
  mutating func declaringPlugin(_ build: Build) throws -> URL {
    try Compiler.compile(
      Compiler.module("coded"), as: "entry.o", in: folder.url,
      ["-c", "-fPIC", "-I", Repository.headers])
    return try client(
      "libDeclaring.so", Self.plugin(build), of: build, [folder.place("entry.o").path])
  }

  /// Runs a host of the contracts of a build with a plugin, and returns the outcome.
  mutating func answers(of plugin: URL, with build: Build) throws -> Outcome {
    let library = try library(build)
    let host = try client("host", Self.host(build), of: build, emit: "-emit-executable")
    return try Command.run(
      host.path, [plugin.path],
      environment: [
        "LD_LIBRARY_PATH": library.deletingLastPathComponent().path,
        "SWIFT_BACKTRACE": "enable=no",
      ], limit: 60)
  }

  /// Returns the verdicts on a plugin that is to be loaded with the contracts of a build.
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
