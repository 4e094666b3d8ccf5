import Foundation
import Testing

/// A module of contracts that is linked into the host and into a plugin: two protocols of one name.
@Suite struct SeparateTypesTests {
  private static let contracts = "public protocol Store: Sendable { func count() -> Int }"

  private static let plugin = """
    import BeeHive
    import Contracts

    struct Shelf: Store { func count() -> Int { 3 } }
    public struct Cellar: Store, Injectable {
      public init(hive: Hive) {}
      public func count() -> Int { 4 }
    }

    @_cdecl("plug") public func plug() {
      try? Hive.process.register((any Store).self) { _ in Shelf() }
      try? Hive.process.register(
        Registrations(services: [.init(service: "Contracts.Store", impl: "Plugin.Cellar", name: "c")]),
        file: "plugin.json")
    }
    """

  private static let host = """
    import BeeHive
    import Contracts
    import Glibc

    func ask() {
      do { print(try Hive.process.service((any Store).self).count()) } catch { print(error) }
    }
    ask()
    guard let plugin = dlopen(CommandLine.arguments[1], RTLD_NOW), let plug = dlsym(plugin, "plug")
    else { fatalError(String(cString: dlerror())) }
    unsafeBitCast(plug, to: (@convention(c) () -> Void).self)()
    ask()
    for entry in Hive.process.entries {
      switch entry.state {
      case .bound: print("bound -")
      case .accepted(let problem): print("unbound", problem)
      case .rejected(let problem): print("rejected", problem)
      }
    }
    """

  @Test("A contract that is linked twice: the error names both images and the cure")
  func contractsLinkedTwice() throws {
    let folder = try Folder()
    func run(_ arguments: [String]) throws {
      let outcome = try SwiftCompiler.run(SwiftCompiler.Mode.debug.arguments + arguments)
      guard outcome.status == 0 else { throw outcome }
    }
    let object = folder.place("contracts.o").path
    try run([
      "-module-name", "Contracts", "-parse-as-library", "-emit-module", "-emit-module-path",
      folder.place("Contracts.swiftmodule").path, "-emit-object", "-o", object,
      folder.write(Self.contracts, as: "Contracts.swift").path,
    ])
    let (plugin, host) = (folder.place("libPlugin.so").path, folder.place("Host").path)
    try run(
      [
        "-module-name", "Plugin", "-parse-as-library", "-emit-library", "-o", plugin, "-I",
        folder.path, folder.write(Self.plugin, as: "Plugin.swift").path, object,
      ] + SwiftCompiler.libraries)
    try run(
      [
        "-module-name", "Host", "-emit-executable", "-o", host, "-I", folder.path,
        folder.write(Self.host, as: "main.swift").path, object,
      ] + SwiftCompiler.libraries)
    let outcome = try Command.run(host, [plugin])
    #expect(outcome.status == 0)
    let lines = outcome.lines
    #expect(lines.count == 4, "\(outcome)")
    #expect(lines.first?.contains("nothing that is loaded provides it") == true)
    let cure =
      "each have a Contracts.Store of their own, so these are different types: put the module "
      + "Contracts into one dynamic library that all of them link"
    for line in [lines.dropFirst().first, lines.last] {
      #expect(line?.components(separatedBy: cure).count == 2, "\(outcome)")
      for image in [plugin, host] { #expect(line?.contains(image) == true, "\(outcome)") }
    }
    #expect(lines.dropFirst().first?.contains("another type of the name Contracts.Store") == true)
  }
}
