package import BinaryImage

/// Opens the image at any path, whatever its format.
///
/// Each format is a type that recognises its own files.
package enum ImageFile {
  private static var formats: [any FileImage.Type] { [ELFFile.self, MachOFile.self] }

  /// Formats that nothing here reads but that may well hold entries, by their first bytes.
  private static let unread: [(magic: [UInt8], what: String)] = [
    ([0x42, 0x43, 0xc0, 0xde], "LLVM's intermediate code; compile it without -flto"),
    ([0xde, 0xc0, 0x17, 0x0b], "LLVM's intermediate code; compile it without -flto"),
    ([0xbe, 0xba, 0xfe, 0xca], "a universal file with its header in the wrong byte order"),
    ([0xbf, 0xba, 0xfe, 0xca], "a universal file with its header in the wrong byte order"),
    (Array("dyld_v1 ".utf8), "a shared cache of dyld"),
    (Array("<bigaf>\n".utf8), "an archive of AIX"),
  ]

  /// Reads the headers of an open file that is an image.
  ///
  /// - Throws: ``ImageError`` with `notAnObject` if no format knows the file.
  package static func open(_ file: OpenedFile) throws(ImageError) -> any FileImage {
    for format in formats where format.recognises(file.head) { return try format.init(file) }
    for (magic, what) in unread where file.head.starts(with: magic) {
      throw file.error(.unsupported, "The file is not read: it is \(what).")
    }
    throw file.error(.notAnObject, "The file is no object file of a known format.")
  }
}

/// An image in a file, or the error, and the members and slices that lead to it, outermost first. The list is empty if
/// the file is the image.
package typealias FoundImage = (container: [String], image: Result<any FileImage, ImageError>)

extension ImageFile {
  /// The deepest nesting of containers. Real ones are two deep, archives in a universal file.
  private static var mostNested: Int { 4 }

  /// Returns whether a file that starts with these bytes holds other files.
  static func isContainer(_ head: [UInt8]) -> Bool {
    Archive.recognises(head) || isUniversal(head)
  }

  /// Hands over every image in the file at a path, in file order. These are the file itself, or members of an archive,
  /// slices of a universal file, and images in those.
  ///
  /// With an `architecture`, as `ImageIdentity.machine` names it, other images are left out. A file without such an
  /// image is `no-such-architecture`. A file or member that is no image is `not-an-object`, and so is an archive
  /// without images. An archive without members is no error.
  package static func forEachImage(
    pathBytes: [UInt8], name: String? = nil, architecture: String? = nil,
    _ body: (FoundImage) -> Void
  ) {
    var (others, isFound): (Set<String>, Bool) = ([], false)
    func isWanted(_ machine: String) -> Bool {
      if [nil, machine].contains(architecture) { return true }
      others.insert(machine)
      return false
    }
    do throws(ImageError) {
      let file = try OpenedFile(path: pathBytes, name: name)
      visit(file, isWanted) { found in
        let isOther =
          if case .failure(let error) = found.image { error.code == .notAnObject } else { false }
        // A member that is no image does not count.
        if !isOther || found.container.isEmpty { isFound = true }
        body(found)
      }
      if isFound || Archive.isEmpty(file) { return }
      guard let architecture else {
        throw file.error(.notAnObject, "The archive or universal file holds no object file.")
      }
      let made = others.isEmpty ? "" : "; it is made for \(others.sorted().joined(separator: ", "))"
      throw file.error(.noSuchArchitecture, "The file has no image for \(architecture)\(made).")
    } catch {
      body(([], .failure(error)))
    }
  }

  /// Hands over the images of a file that are for wanted machines.
  private static func visit(
    _ file: OpenedFile, _ isWanted: (String) -> Bool, _ body: (FoundImage) -> Void
  ) {
    do throws(ImageError) {
      guard isContainer(file.head) else {
        let image = try open(file)
        if isWanted(image.identity.machine) { body((file.container, .success(image))) }
        return
      }
      try file.check(
        file.container.count < mostNested, .malformed,
        "Containers are nested more than \(mostNested) deep.")
      let isArchive = Archive.recognises(file.head)
      func visitMember(_ member: Result<OpenedFile, ImageError>) {
        switch member {
        case .success(let member):
          // Slices are named after machines.
          if isArchive || isWanted(member.container.last ?? "") { visit(member, isWanted, body) }
        case .failure(let error): body((file.container, .failure(error)))
        }
      }
      if isArchive {
        Archive(file).forEachMember(visitMember)
      } else {
        try forEachSlice(of: file, visitMember)
      }
    } catch {
      body((file.container, .failure(error)))
    }
  }
}

/// Universal files: Mach-O files or archives for several machines, one after the other.
///
/// C: `struct fat_header`, `fat_arch` and `fat_arch_64` of `<mach-o/fat.h>`.
extension ImageFile {
  /// More slices than any file has. Compiled Java starts with the same magic, and has its version, 45 or more, instead
  /// of the number of slices.
  private static var mostSlices: UInt32 { 40 }

  /// Returns whether a file that starts with these bytes is a universal one.
  private static func isUniversal(_ head: [UInt8]) -> Bool {
    guard
      head.starts(with: [0xca, 0xfe, 0xba, 0xbe]) || head.starts(with: [0xca, 0xfe, 0xba, 0xbf])
    else { return false }
    guard let count: UInt32 = head.span.integer(at: 4, order: .big) else { return true }
    return count <= mostSlices || head[3] == 0xbf
  }

  /// Hands over every slice in turn, or its error.
  private static func forEachSlice(
    of file: OpenedFile, _ body: (Result<OpenedFile, ImageError>) -> Void
  ) throws(ImageError) {
    // All numbers are big-endian, whatever the slices are.
    let head = file.head
    guard let count: UInt32 = head.span.integer(at: 4, order: .big) else {
      throw file.error(.truncated, "The file ends inside the universal header.")
    }
    guard count > 0, count <= mostSlices else {
      throw file.error(.malformed, "A universal file cannot have \(count) slices.", at: 4)
    }
    let (bits, stride) = head[3] == 0xbf ? (64, 32) : (32, 20)
    let table = try file.read(at: 8, count: Int(count) * stride)
    let slices = (0..<Int(count)).map { index in
      let fields = MachOFields(bytes: table, start: index * stride, bits: bits, order: .big)
      let name = MachOHeader.machine(fields.single(0), subtype: fields.single(4))
      return (name: name, offset: fields.word(8), size: fields.word(8 + bits / 8))
    }
    // Slices that share bytes would make a small file large. A slice could even hold itself.
    var (end, overlapping): (UInt64, Set<Int>) = (8, [])
    for index in slices.indices.sorted(by: { slices[$0].offset < slices[$1].offset }) {
      if slices[index].offset < end { overlapping.insert(index) }
      end = max(end, slices[index].offset.saturating(adding: slices[index].size))
    }
    for (index, slice) in slices.enumerated() {
      func check(_ isRight: Bool, _ reason: String) throws(ImageError) {
        try file.check(
          isRight, .malformed, "The slice for \(slice.name) \(reason).", at: slice.offset)
      }
      body(
        Result { () throws(ImageError) in
          try check(!overlapping.contains(index), "shares bytes with another")
          let member = try OpenedFile(slice.name, of: file, at: slice.offset, size: slice.size)
          try check(
            MachOFile.recognises(member.head) || Archive.recognises(member.head),
            "is neither a Mach-O file nor an archive")
          return member
        })
    }
  }
}
