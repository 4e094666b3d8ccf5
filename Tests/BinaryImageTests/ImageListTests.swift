import BinaryImage
import Foundation
import TestSupport
import Testing

/// The list follows the loader, whoever loads and unloads images. Other tests do both at the same time.
@Suite struct ImageListTests {
  @Test func `A first update finds everything, the program first`() throws {
    var list = ImageList()
    #expect(list.count == 0)
    let changes = try list.update()
    #expect(changes.added == 0..<list.count)
    #expect(changes.removed.isEmpty)
    #expect(!changes.mayHideReplacements)
    #expect(list[0].role == .program)
    let names = (0..<list.count).map { list[$0].name }
    #expect(names.contains { $0.contains("libc.so") })
    #expect(names.contains { $0.contains("libswiftCore.so") })
  }

  @Test func `An image comes, is copied, and goes`() throws {
    let path = try Fixture.library(Fixture.noted("passing"), as: "passing.so")
    var list = try ImageList.current()
    #expect(list.position(named: path) == nil)
    let before = list.counters

    let library = try OpenLibrary(path)
    #expect(ImageList.probe() != before)
    try list.update()
    let position = try list.required(named: path)
    let mapped = list[position]
    #expect(mapped.role == .library)
    #expect(mapped.note == .valid)
    #expect(list.position(of: mapped.id) == position)

    library.close()
    guard case .gone = list.copy([position])[0] else {
      Issue.record("what is unmapped cannot be copied")
      return
    }
    let changes = try list.update()
    #expect(changes.removed.contains(mapped.id))
    #expect(changes.mayHideReplacements)
    #expect(list.position(of: mapped.id) == nil)
    #expect(list.position(named: path) == nil)
  }

  @Test func `Identities are kept, in the loader's order`() throws {
    let paths = try Fixture.notedLibraries((0..<8).map { "order_\($0)" })
    var list = try ImageList.current()
    let libraries = try paths.map { try OpenLibrary($0) }
    try list.update()
    let positions = paths.compactMap { list.position(named: $0) }
    #expect(positions.count == 8)
    #expect(positions == positions.sorted())
    let ids = positions.map { list[$0].id }

    for index in stride(from: 0, to: 8, by: 2) { libraries[index].close() }
    let changes = try list.update()
    #expect(Set(changes.removed).isSuperset(of: stride(from: 0, to: 8, by: 2).map { ids[$0] }))
    for index in stride(from: 1, to: 8, by: 2) {
      let name = list.position(of: ids[index]).map { list[$0].name }
      #expect(name == paths[index])
    }
    let kept = (0..<list.count).map { list[$0].id }
    #expect(kept == kept.sorted())
    for library in libraries { library.close() }
  }

  @Test func `Another build at the same place is told apart or announced`() throws {
    let path = try Fixture.library(Fixture.noted("first"), as: "same.so")
    let next = try Fixture.library(Fixture.noted("later"), as: "same-next.so")
    let library = try OpenLibrary(path)
    var list = try ImageList.current()
    let position = try list.required(named: path)
    let id = list[position].id
    library.close()
    #expect(unsafe rename(next, path) == 0)
    let second = try OpenLibrary(path)
    defer { second.close() }
    let changes = try list.update()
    #expect(changes.removed.contains(id) || changes.mayHideReplacements)
    #expect(try list.copy(named: path).texts(in: "BeehiveMods").first == "later.FirstModule")
  }

  @Test func `What took the place of an image under another name is not copied for it`() throws {
    let names = ["leaving", "arrival"]
    let paths = try names.map { try Fixture.library(Fixture.noted($0), as: "\($0).so") }
    let hasTakenThePlace = try (0..<5000).contains { _ in
      let leaving = try OpenLibrary(paths[0])
      let list = try ImageList.current()
      let position = try list.required(named: paths[0])
      leaving.close()
      let arrival = try OpenLibrary(paths[1])
      defer { arrival.close() }
      let isGone = if case .gone = list.copy([position])[0] { true } else { false }
      #expect(isGone)
      let current = try ImageList.current()
      return current[try current.required(named: paths[1])].bias == list[position].bias
    }
    #expect(hasTakenThePlace, "the place stayed empty; this tested nothing")
  }

  @Test func `Many images are copied in the order that was asked for`() throws {
    let names = (10..<50).map { "many_\($0)" }
    let paths = try Fixture.notedLibraries(names)
    let libraries = try paths.map { try OpenLibrary($0) }
    let list = try ImageList.current()
    let positions = paths.reversed().compactMap { list.position(named: $0) }
    let images = list.copy(positions).compactMap { copy in
      if case .image(let image) = copy { image } else { nil }
    }
    #expect(images.map(\.identity.path) == paths.reversed())
    for (image, name) in zip(images, names.reversed()) {
      #expect(try image.texts(in: "BeehiveMods").first == "\(name).FirstModule")
    }
    for library in libraries { library.close() }
  }

  @Test func `The runtime's hook is null where the program exports no symbol`() throws {
    let source =
      Fixture.noted("lonely")
      + "\nint has_hook(void) { return beehive_image_event != 0; }\n"
    let path = try Fixture.library(source, as: "lonely.so")
    let library = try OpenLibrary(path)
    defer { library.close() }
    #expect(try library.call("has_hook") == 0)
    // The walk finds the library nevertheless.
    #expect(
      try ImageList.current().copy(named: path).texts(in: "BeehiveServices")
        == [#"{ "lonely.Home" : "lonely.HomeView" }"#])
  }
}
