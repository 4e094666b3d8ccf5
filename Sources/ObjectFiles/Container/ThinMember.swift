internal import BinaryImage
internal import LibC

/// The files that a thin archive names instead of holding them.
enum ThinMember {
  /// Opens the file that `archive` names, which must not lie outside the archive's directory.
  ///
  /// An archive may come from anybody; it must not be a way to read what its giver cannot.
  static func open(
    _ name: String, of archive: OpenedFile, at offset: UInt64
  ) throws(ImageError) -> OpenedFile {
    func refused(_ reason: String) -> ImageError {
      archive.error(.unreadable, "The member \(name) \(reason).", at: offset)
    }
    guard let path = archive.systemPath else {
      throw refused("is beside an archive that is no file of its own")
    }
    guard !name.hasPrefix("/"), !name.split(separator: "/").contains("..") else {
      throw refused("is said to be outside the archive's directory, and is not opened")
    }
    let slash = UInt8(ascii: "/")
    let directory = path.lastIndex(of: slash).map { Array(path[...$0]) } ?? Array("./".utf8)
    guard let inside = resolved(directory), let member = resolved(directory + Array(name.utf8))
    else { throw refused("is not beside the archive") }
    guard member.starts(with: inside.last == slash ? inside : inside + [slash]) else {
      throw refused("leads outside the archive's directory, and is not opened")
    }
    return try OpenedFile(path: member, member: name, of: archive)
  }

  /// The path without links, dots and doubled slashes; nil where nothing is there.
  private static func resolved(_ path: [UInt8]) -> [UInt8]? {
    // Sound: the text ends in NUL and outlives the call; the answer is freed once it is copied.
    guard !path.contains(0), let answer = unsafe realpath(path.cText, nil) else { return nil }
    defer { unsafe free(answer) }
    return Array(unsafe String(cString: answer).utf8)
  }
}
