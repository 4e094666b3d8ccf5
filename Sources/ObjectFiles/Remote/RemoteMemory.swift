package import BinaryImage

/// The memory of another process, or what a core file kept of it.
protocol RemoteMemory {
  /// The bytes at an address, as many as there are, at most `count`.
  func read(at address: UInt64, count: Int) throws(ImageError) -> [UInt8]
}

/// An image that another process has mapped, and what became of its file since.
package struct RemoteMapping: Sendable {
  /// The path that the process knows it by.
  package var path: String
  /// The bytes of a path that is not UTF-8.
  package var pathBytes: [UInt8]?
  /// The address of its header.
  package var base: UInt64
  /// Whether the file has no name any more.
  package var isDeleted = false
  /// Whether another file has its name now.
  package var isReplaced = false
  /// What is mapped of it, ascending.
  package var ranges: [MappedRange]
  /// Where the file itself may be found, likeliest first.
  var files: [String]
}

extension RemoteMapping {
  /// Throws an error that names the image where something is not as it has to be.
  func check(
    _ isRight: Bool, _ code: ImageError.Code, _ message: @autoclosure () -> String,
    section: Section? = nil
  ) throws(ImageError) {
    if !isRight { throw error(code, message(), section: section) }
  }

  /// An error that names the image.
  func error(_ code: ImageError.Code, _ message: String, section: Section? = nil) -> ImageError {
    ImageError(code, image: path, section: section?.name, message: message)
  }

  /// Whether its file is there and starts as ELF does.
  var hasELFFile: Bool {
    files.contains { path in
      (try? OpenedFile(path: path, name: path)).map { ELFFile.recognises($0.head) } ?? false
    }
  }

  /// The images among what a process has mapped, in the order of their addresses.
  ///
  /// An image begins with the start of its file, and some of it may run; a file that is mapped to be
  /// read is none.
  static func images(in ranges: [MappedRange]) -> [RemoteMapping] {
    var images: [[MappedRange]] = []
    for range in ranges {
      if range.offset > 0, let first = images.last?.first, first.path == range.path,
        first.fileID == range.fileID
      {
        images[images.count - 1].append(range)
      } else {
        images.append([range])
      }
    }
    return images.compactMap { ranges in
      guard let first = ranges.first, first.offset == 0, ranges.contains(where: \.isExecutable)
      else { return nil }
      return RemoteMapping(
        path: first.path, pathBytes: first.pathBytes, base: first.start, ranges: ranges,
        files: [first.path])
    }
  }

  /// Drops what the system writes behind the path of a file that has no name any more; false where it has written
  /// nothing.
  mutating func dropMark() -> Bool {
    let mark = MappedRange.deletedMark
    guard path.hasSuffix(mark) else { return false }
    path.removeLast(mark.count)
    pathBytes?.removeLast(mark.utf8.count)
    isDeleted = true
    return true
  }
}
