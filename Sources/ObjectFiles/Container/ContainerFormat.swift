package import BinaryImage

/// A format of files that hold other files: an archive, a universal file.
protocol ContainerFormat {
  /// Whether a file that starts with these bytes is of this format.
  static func recognises(_ head: [UInt8]) -> Bool

  /// Reads what stands before the members of an open file.
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

  /// Containers in containers; real ones stand two deep, archives in a universal file.
  private static var mostNested: Int { 4 }

  /// Whether a file that starts with these bytes holds others.
  static func isContainer(_ head: [UInt8]) -> Bool {
    containers.contains { $0.recognises(head) }
  }

  /// Every image in the file at a path, in file order: itself, or the members of an archive, the
  /// slices of a universal file, and what those hold.
  ///
  /// With an `architecture`, as `ImageIdentity.machine` names it, the others are left out, and a file
  /// that has none is `no-such-architecture`. What is no image is `not-an-object`, in archives too.
  package static func forEachImage(
    pathBytes: [UInt8], name: String? = nil, architecture: String? = nil,
    _ body: (FoundImage) -> Void
  ) {
    var search = ImageSearch(architecture: architecture)
    do throws(ImageError) {
      let name = name ?? String(decoding: pathBytes, as: UTF8.self)
      let file = try OpenedFile(path: pathBytes, name: name)
      visit(file, &search, body)
      guard search.isFruitless else { return }
      throw file.error(
        .noSuchArchitecture, "The file has no image for \(architecture ?? "this machine").")
    } catch {
      body(FoundImage(container: [], image: .failure(error)))
    }
  }

  private static func visit(
    _ file: OpenedFile, _ search: inout ImageSearch, _ body: (FoundImage) -> Void
  ) {
    do throws(ImageError) {
      guard let format = containers.first(where: { $0.recognises(file.head) }) else {
        let image = try open(file)
        if search.takes(image) {
          body(FoundImage(container: file.container, image: .success(image)))
        }
        return
      }
      guard file.container.count < mostNested else {
        throw file.error(.malformed, "Containers stand more than \(mostNested) deep in each other.")
      }
      try format.init(file).forEachMember { member in
        switch member {
        case .success(let member):
          if search.mayWant(member, of: format) { visit(member, &search, body) }
        case .failure(let error):
          search.meets(error, in: file.container)
          body(FoundImage(container: file.container, image: .failure(error)))
        }
      }
    } catch {
      search.meets(error, in: file.container)
      body(FoundImage(container: file.container, image: .failure(error)))
    }
  }
}

/// What is looked for in a file, and whether it was there.
private struct ImageSearch {
  let architecture: String?
  private var hasFound = false

  init(architecture: String?) { self.architecture = architecture }

  /// Whether images were asked for that the file has none of.
  var isFruitless: Bool { architecture != nil && !hasFound }

  /// Whether a member can lead to what is looked for; slices are named after machines.
  func mayWant(_ member: OpenedFile, of format: any ContainerFormat.Type) -> Bool {
    architecture == nil || format != UniversalFile.self || member.container.last == architecture
  }

  /// Whether an image is one that is looked for.
  mutating func takes(_ image: any FileImage) -> Bool {
    guard architecture == nil || image.identity.machine == architecture else { return false }
    hasFound = true
    return true
  }

  /// Takes note of what cannot be read: it may be what is looked for, unless it is no image.
  mutating func meets(_ error: ImageError, in container: [String]) {
    if error.code != .notAnObject || container.isEmpty { hasFound = true }
  }
}
