import Foundation
import Testing

@testable import GraphPage

@Suite("The plan of a picture")
struct PicturePlanTests {
  @Test("Boxes stand within their files, below the titles")
  func titles() throws {
    let document = """
      {"files":[{"name":"libshop.so","machine":"x86_64"},{"name":"liblog.so","machine":"x86_64"}],
      "nodes":[{"name":"shop","caption":"module","file":0},{"name":"till","caption":"target","file":0},
      {"name":"log","caption":"module","file":1},{"name":"nowhere","caption":"missing module","file":null}],
      "edges":[{"from":0,"to":2},{"from":0,"to":3},{"from":2,"to":0}]}
      """
    let picture = try JSONDecoder().decode(Picture.self, from: Data(document.utf8))
    let plan = PicturePlan(of: picture)
    #expect(plan.nodes.count == 4 && plan.files.count == 2 && plan.bends.count == 3)
    for (node, box) in zip(picture.nodes, plan.nodes) {
      #expect(box.origin.x + box.size.width <= plan.size.width)
      guard let file = node.file else { continue }
      let around = plan.files[file]
      #expect(box.origin.y >= around.origin.y + plan.title)
      #expect(box.origin.y + box.size.height <= around.origin.y + around.size.height)
    }
  }

  @Test(
    "Paths are relative to the folder that all files are in",
    arguments: [
      ([], ""), (["libshop.so"], ""), (["libshop.so", "plugins/liblog.so"], ""),
      (["plugins/libshop.so"], "plugins/"), (["./libshop.so", "./more/liblog.so"], "./"),
      (["/opt/shop/libshop.so", "/opt/shop/more/liblog.so"], "/opt/shop/"),
      (["/opt/shop/lib.so", "/opt/shop-more/lib.so"], "/opt/"),
      (["/opt/libshop.so", "/usr/liblog.so"], ""),
      (["build/libshop.a(parts/cart.o)"], "build/"),
      (["build/libshop.a(parts/cart.o)", "build/libshop.a(parts/till.o)"], "build/"),
      (["b/e\u{301}/lib.so", "b/e/lib.so"], "b/"),
    ])
  func folders(names: [String], folder: String) {
    let files = names.map { Picture.File(name: $0, machine: "x86_64") }
    let picture = Picture(nodes: [], edges: [], files: files)
    #expect(picture.folder == folder)
    #expect(PicturePlan(of: picture).folder == folder)
  }
}
