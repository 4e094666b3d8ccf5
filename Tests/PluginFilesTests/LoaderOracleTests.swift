import BinaryImage
import Foundation
import TestSupport
import Testing

@testable import PluginFiles

/// Compares the answers of `ldd` with those that are found without running anything.
@Suite("What the loader would find, beside what it says itself")
struct LoaderOracleTests {
  /// Returns some files below a folder, evenly chosen among the files for this machine.
  static func some(
    _ count: Int, below folder: String, mayBeShut: Bool = false, _ isWanted: (String) -> Bool
  ) -> [String] {
    let names = FileManager.default.enumerator(atPath: folder)?.allObjects as? [String] ?? []
    let paths = names.map { "\(folder)/\($0)" }.filter(isWanted).sorted()
    let files = paths.filter { path in
      guard let file = try? OpenedFile(path: path), let image = try? ELFFile(file)
      else { return false }
      let opens =
        mayBeShut || image.identity.kind == .executable || (try? image.obstacle()) == .some(nil)
      return image.identity.isFor(Self.own) && opens
    }
    let step = max(1, files.count / count)
    return stride(from: 0, to: files.count, by: step).map { files[$0] }
  }

  static func isLibrary(_ path: String) -> Bool { path.hasSuffix(".so") || path.contains(".so.") }

  private static let own =
    (try? ELFFile(OpenedFile(path: "/proc/self/exe", name: "self")))?.identity
    ?? ImageIdentity(
      path: "", format: .elf, bits: 64, byteOrder: .little, machine: "x86_64", kind: .shared)

  /// Returns the libraries that `ldd -r` does not find, and the symbols that it misses.
  private static func ldd(_ path: String) throws -> (missing: Set<String>, undefined: Set<String>) {
    let outcome = try Command.run("ldd", ["-r", path], environment: ["LC_ALL": "C"])
    var (missing, undefined): (Set<String>, Set<String>) = ([], [])
    for line in (outcome.output + outcome.errors).split(separator: "\n") {
      let words = line.split(whereSeparator: { $0.isWhitespace || $0 == "," }).map(String.init)
      if line.contains("=> not found") { missing.insert(words[0]) }
      if line.hasPrefix("undefined symbol: ") { undefined.insert(words[2]) }
      // symbol NAME version VERSION not defined in file FILE with link time reference
      if line.hasPrefix("symbol "), line.contains("not defined") { undefined.insert(words[1]) }
    }
    return (missing, undefined)
  }

  /// Returns the same without running anything. The library takes the part of the program.
  private static func found(_ path: String) throws -> (missing: Set<String>, undefined: Set<String>)
  {
    let library = try Library(of: OpenedFile(path: path))
    var libraries = LibrarySet()
    libraries.add(library)
    libraries.addNeeded(from: 0, LibrarySearch(of: library))
    var undefined: Set<String> = []
    for member in libraries.members {
      for wanted in try member.bindings.get().wanted() where !wanted.isWeak {
        guard let (_, definition) = try libraries.first(defining: wanted) else {
          undefined.insert(wanted.name)
          continue
        }
        let isFitting = wanted.kind == nil || definition.kind ?? wanted.kind == wanted.kind
        #expect(isFitting, "\(path): \(member.path) needs \(wanted.name) as another kind")
      }
    }
    return (Set(libraries.missing.map(\.name)), undefined)
  }

  @Test("Undefined symbols and missing libraries are those of ldd -r", .needs("ldd"))
  func undefinedSymbols() throws {
    let files = Self.some(Effort.times(16, full: 400), below: "/usr/lib", Self.isLibrary)
    var compared = 0
    for path in files {
      let (expected, found) = (try Self.ldd(path), try Self.found(path))
      #expect(found.missing == expected.missing, "\(path)")
      // The symbols of a missing library are not known.
      guard expected.missing.isEmpty else { continue }
      compared += 1
      #expect(found.undefined == expected.undefined, "\(path)")
    }
    #expect(compared > 10, "\(files.count) libraries are too few to compare")
  }

  @Test("Nothing keeps the system's libraries from being opened but what they say themselves")
  func obstacles() throws {
    var count = 0
    let paths = Self.some(
      Effort.times(100, full: 10_000), below: "/usr/lib", mayBeShut: true, Self.isLibrary)
    for path in paths {
      let image = try ELFFile(OpenedFile(path: path))
      guard image.identity.kind == .shared else { continue }
      count += 1
      let obstacle = try image.obstacle() ?? ""
      #expect(obstacle.isEmpty || obstacle.contains("(DF_1_"), "\(path): \(obstacle)")
    }
    #expect(count > 20, "\(count) libraries are too few")
  }

  @Test("The libraries of programs are the files that ldd names", .needs("ldd"))
  func libraries() throws {
    for link in Self.some(Effort.times(20, full: 200), below: "/usr/bin", { _ in true }) {
      // For a link, ldd would search next to the link.
      let path = link.resolved
      let outcome = try Command.run("ldd", [path], environment: ["LC_ALL": "C"])
      guard outcome.status == 0 else { continue }
      let expected = Set(
        outcome.lines.compactMap { line -> String? in
          let words = line.split { $0.isWhitespace }.map(String.init)
          let path = words.firstIndex(of: "=>").map { words[$0 + 1] } ?? words.first ?? ""
          return path.contains("/") ? path.resolved : nil
        })
      guard let host = try? AdmissionHost(executable: path) else { continue }
      let found = Set(host.libraries.members.dropFirst().map { $0.path.resolved })
      // ldd names the program's own loader, whether or not a library needs it.
      let unfound = expected.subtracting(found).filter { !$0.lastPart.hasPrefix("ld-") }
      #expect(unfound.isEmpty && found.isSubset(of: expected), "\(path): \(found) \(expected)")
    }
  }
}
