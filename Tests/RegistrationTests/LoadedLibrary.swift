import BinaryImage
import Foundation
import TestSupport

/// A library that is built, loaded for the rest of the process, and read both ways.
struct LoadedLibrary {
  struct Failure: Error {
    var description: String
  }

  /// The image that the loader mapped.
  let image: LoadedImage
  /// The file, already removed from its folder.
  let file: ELFFile

  init(_ source: String, _ arguments: String...) throws {
    let folder = try Folder()
    defer { folder.remove() }
    let library = folder.place("loaded.so").path
    try Compiler.compile(
      source, as: "loaded.so", in: folder.url,
      ["-shared", "-fPIC", "-O2", "-w", "-I", Repository.headers] + arguments)
    try OpenLibrary.keep(library)
    var list = ImageList()
    try list.update()
    let position = (0..<list.count).first { list[$0].name == library }
    guard let position, case .image(let image) = list.copy([position])[0] else {
      throw Failure(description: "the library cannot be copied")
    }
    self.image = image
    file = try ELFFile(path: library)
  }
}
