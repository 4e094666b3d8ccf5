import Foundation
import PluginFiles
import Registration
import TestSupport
import Testing

@Suite("Swift types that entries of a plugin name")
struct TypeCheckTests {
  @Test(
    "are found by names as a person writes them",
    arguments: [
      ("Shop.Cart", ["Shop", "Cart"]), ("Cache<Key, List<Int>>.Item", ["Cache", "Item"]),
      ("`class`.Type", ["class", "Type"]), ("Shop.", nil), ("", nil), ("A<B", nil),
    ])
  func names(_ written: String, _ names: [String]?) { #expect(TypeName(written).path == names) }

  private static let plugin = """
    #include <BeeHive.h>
    BeeHiveService(Greeter, Shop.Polite);
    BeeHiveMod(Shop.Till);
    """

  private static func remarks(_ folder: AdmissionFolder) throws -> [String] {
    let found = try folder.report().plugins.first { $0.path.lastPart == "libx.so" }
    #expect(found?.loads == true, "\(found?.refusals ?? [])")
    return found?.remarks ?? []
  }

  @Test("are told where no file has them")
  func missing() throws {
    let folder = try AdmissionFolder()
    try folder.plugin("x", Self.plugin)
    #expect(
      try Self.remarks(folder) == [
        "module Shop.Till needs the Swift type Shop.Till, which neither it nor the host has",
        "service Greeter needs the Swift type Shop.Polite, which neither it nor the host has",
      ])
  }

  @Test("are found in a library that the plugin brings along", .needs("swiftc"))
  func broughtAlong() throws {
    let folder = try AdmissionFolder()
    try Compiler.swift(
      "public final class Polite {}", module: "Shop", as: "plugins/libShop.so",
      in: folder.folder.url, ["-Xlinker", "-soname=libShop.so"])
    try folder.plugin(
      "x", Self.plugin, "-L\(folder.plugins)", "-Wl,--no-as-needed", "-lShop",
      "-Wl,-rpath,$ORIGIN")
    #expect(
      try Self.remarks(folder) == [
        "module Shop.Till needs the Swift type Shop.Till, which neither it nor the host has"
      ])
  }
}
