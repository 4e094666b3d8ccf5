package import BinaryImage

/// A format of files that hold other files: an archive, a universal file.
protocol ContainerFormat {
  /// Whether a file that starts with these bytes is of this format.
  static func recognises(_ head: [UInt8]) -> Bool

  /// Reads what is before the members of an open file.
  init(_ file: OpenedFile) throws(ImageError)

  /// Every member in turn that may be an image or hold some, or why there are no more.
  ///
  /// A member that cannot be opened hides no other; where one cannot be told from the next, it is
  /// the last.
  func forEachMember(_ body: (Result<OpenedFile, ImageError>) -> Void)
}

/// An image in a file, or why there is none.
package struct FoundImage {
  /// The members and slices that lead to it, outermost first; empty where the file is the image.
  package var container: [String]
  /// The image.
  package var image: Result<any FileImage, ImageError>
}

extension ImageFile {
  private static var containers: [any ContainerFormat.Type] { [Archive.self, UniversalFile.self] }

  /// Containers in containers; real ones are two deep, archives in a universal file.
  private static var mostNested: Int { 4 }

  /// Whether a file that starts with these bytes holds others.
  static func isContainer(_ head: [UInt8]) -> Bool {
    containers.contains { $0.recognises(head) }
  }

  /// Every image in the file at a path, in file order: itself, or the members of an archive, the
  /// slices of a universal file, and what those hold.
  ///
  /// With an `architecture`, as `ImageIdentity.machine` names it, the others are left out, and a file
  /// that has none is `no-such-architecture`. What is no image is `not-an-object`, in archives too, and so is an
  /// archive that holds none. One without members has no image, and nothing is wrong with it.
  package static func forEachImage(
    pathBytes: [UInt8], name: String? = nil, architecture: String? = nil,
    _ body: (FoundImage) -> Void
  ) {
    var hasFound = false
    do throws(ImageError) {
      let name = name ?? String(decoding: pathBytes, as: UTF8.self)
      let file = try OpenedFile(path: pathBytes, name: name)
      visit(file, architecture, &hasFound, body)
      guard !hasFound, !Archive.isEmpty(file) else { return }
      guard let architecture else {
        throw file.error(.notAnObject, "The file is to hold others, and holds no object file.")
      }
      throw file.error(.noSuchArchitecture, "The file has no image for \(architecture).")
    } catch {
      body(FoundImage(container: [], image: .failure(error)))
    }
  }

  /// Hands over the images of a file that are for an architecture; `hasFound` becomes true where
  /// something is, or may be, what is looked for.
  private static func visit(
    _ file: OpenedFile, _ architecture: String?, _ hasFound: inout Bool,
    _ body: (FoundImage) -> Void
  ) {
    func tell(_ error: ImageError) {
      if error.code != .notAnObject || file.container.isEmpty { hasFound = true }
      body(FoundImage(container: file.container, image: .failure(error)))
    }
    do throws(ImageError) {
      guard let format = containers.first(where: { $0.recognises(file.head) }) else {
        let image = try open(file)
        guard architecture == nil || image.identity.machine == architecture else { return }
        hasFound = true
        return body(FoundImage(container: file.container, image: .success(image)))
      }
      try file.check(
        file.container.count < mostNested, .malformed,
        "Containers are nested more than \(mostNested) deep.")
      try format.init(file).forEachMember { member in
        switch member {
        case .success(let member):
          // Slices are named after machines.
          if architecture == nil || format != UniversalFile.self
            || member.container.last == architecture
          {
            visit(member, architecture, &hasFound, body)
          }
        case .failure(let error): tell(error)
        }
      }
    } catch {
      tell(error)
    }
  }
}
