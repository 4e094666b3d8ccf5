import Foundation
import TestSupport
import Testing

@Suite("The C of the Darwin side, compiled without an SDK; not run")
struct DarwinTests {
  /// All that the private headers promise.
  static let promised: Set = [
    "image_list_probe", "image_list_scan", "image_list_same", "image_list_free", "image_list_copy",
    "image_copies_free", "image_place_find", "image_carries_swift", "image_reference_take",
    "image_reference_release", "image_is_relocated", "image_wait_for_relocation",
    "image_events_take", "image_events_pending", "image_events_departures", "beehive_image_event",
  ]

  /// What the system offers, as the assembler there writes it: with an underscore before a C name.
  static let offered: Set = [
    "__dyld_register_func_for_add_image", "__dyld_register_func_for_remove_image",
    "_getsectiondata", "_dladdr", "_dlopen", "_dlclose", "_dlerror", "_malloc", "_realloc", "_free",
    "_qsort", "_memcpy", "_memmove", "_memset", "_memcmp", "_memchr", "_strlen", "_strcmp",
    "_bzero", "___bzero", "_sched_yield", "_pthread_atfork", "___stack_chk_fail",
    "___stack_chk_guard",
  ]

  static let folders = ["CImageList", "CImageEvents"]

  /// Compiles every source; the names of the objects.
  private func compile(for target: String, in folder: Folder) throws -> [String] {
    try Compiler.clang.needs("--target=\(target)")
    let includes = (Self.folders + ["CBeeHive"]).map {
      "-I" + Repository.place("CSupport/\($0)/include").path
    }
    let sources = try Self.folders.flatMap { name in
      try FileManager.default.contentsOfDirectory(atPath: Repository.place("CSupport/\(name)").path)
        .filter { $0.hasSuffix(".c") }.sorted().map { Repository.place("CSupport/\(name)/\($0)") }
    }
    try #require(sources.count > 5)
    return try sources.map { source in
      let object = source.deletingPathExtension().lastPathComponent + ".o"
      try Compiler.clang.make(
        object,
        ["--target=\(target)", "-nostdlibinc", "-std=c11", "-Wall", "-Wextra", "-Werror", "-O2"]
          + includes + ["-c", source.path], in: folder)
      return object
    }
  }

  @Test(
    "has what is promised, and asks for no more than the system offers", .needs("llvm-nm"),
    arguments: Targets.machO)
  func symbols(target: String) throws {
    let folder = try Folder()
    defer { folder.remove() }
    let objects = try compile(for: target, in: folder)
    let symbols = try Command.output("llvm-nm", ["--extern-only"] + objects, in: folder.url)
      .split(separator: "\n").map { $0.split(separator: " ").map(String.init) }
    // An address, a type and a name; or, if it is not defined, no address.
    let defined = Set(symbols.filter { $0.count == 3 }.map { $0[2] })
    let asked = Set(symbols.filter { $0.count == 2 && $0[0] == "U" }.map { $0[1] })
    #expect(Self.promised.subtracting(defined.map { String($0.dropFirst()) }) == [])
    #expect(!asked.isEmpty)
    #expect(asked.subtracting(defined).subtracting(Self.offered) == [])
  }
}
