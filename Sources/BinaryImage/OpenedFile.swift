internal import LibC

/// A regular file that is open for reading, or a part of one; closed when the last reference goes.
///
/// Everything is read with `pread`, nothing is mapped: a file that shrinks is an error, no SIGBUS.
package final class OpenedFile {
  /// What errors call it: `libshop.a(cart.o)` is a part of `libshop.a`.
  package let name: String
  /// What the whole file is called.
  package let path: String
  /// The members and slices that lead to this part of the file, outermost first.
  package let container: [String]
  /// The size when it was opened, in bytes.
  package let size: UInt64
  /// How much of it the file system really stores; smaller than `size` in sparse files.
  package let allocatedSize: UInt64
  /// What tells its contents from others, as of when it was opened.
  private let state: State
  /// The descriptor, for libelf.
  package let descriptor: Int32

  /// The file that this is a part of, which keeps the descriptor open.
  private let whole: OpenedFile?
  /// Where in the whole file this part starts.
  package let base: UInt64

  /// What the system calls the whole file, where that is not `path`.
  private let pathBytes: [UInt8]?
  /// The first bytes: of most files, all headers that the loader reads.
  package let head: [UInt8]
  /// How many bytes were read behind the head, repeated ones as often as they were.
  private(set) var bytesRead: UInt64 = 0

  private static func head(
    of descriptor: Int32, at base: UInt64, _ size: UInt64
  ) throws(Shortage) -> [UInt8] {
    try read(descriptor, at: base, count: Int(min(size, 960)))
  }

  /// Opens the regular file at `path`; errors and identities call it `name`.
  ///
  /// Nothing else is opened, since opening alone acts on some devices; unless the loader has mapped
  /// the file at this path, which makes a look before opening it needless.
  package convenience init(path: String, name: String, wasMapped: Bool = false) throws(ImageError) {
    try self.init(
      OpenedPath(path, wasMapped: wasMapped), name: name, path: name,
      bytes: path == name ? nil : Array(path.utf8), container: [])
  }

  /// Opens the regular file at a path that need not be UTF-8.
  package convenience init(path: [UInt8], name: String) throws(ImageError) {
    try self.init(OpenedPath(path), name: name, path: name, bytes: path, container: [])
  }

  /// Opens a file that a thin archive names `member`.
  package convenience init(path: [UInt8], member: String, of archive: OpenedFile) throws(ImageError)
  {
    try self.init(
      OpenedPath(path), name: "\(archive.name)(\(member))", path: archive.path, bytes: path,
      container: archive.container + [member])
  }

  private init(
    _ opened: OpenedPath, name: String, path: String, bytes: [UInt8]?, container: [String]
  ) throws(ImageError) {
    guard case .file(let descriptor, let status) = opened else {
      throw ImageError(.unreadable, image: name, message: opened.refusal)
    }
    self.descriptor = descriptor
    (self.name, self.path, self.container) = (name, path, container)
    (whole, base, pathBytes) = (nil, 0, bytes)
    // Should the path lead elsewhere by now, these are only bounds: every read is checked.
    size = UInt64(max(0, status.st_size))
    allocatedSize = UInt64(max(0, status.st_blocks)) &* 512
    state = State(status)
    do throws(Shortage) { head = try Self.head(of: descriptor, at: 0, size) } catch {
      close(descriptor)
      throw error.imageError(in: name, at: 0)
    }
  }

  /// The part of an open file that a container calls `member`.
  package init(
    _ member: String, of file: OpenedFile, at offset: UInt64, size: UInt64
  ) throws(ImageError) {
    guard file.holds(offset, size) else {
      throw file.error(
        .truncated, "The file ends before the \(size) bytes of \(member) do.", at: offset)
    }
    (name, path, container) = ("\(file.name)(\(member))", file.path, file.container + [member])
    (whole, base, self.size, pathBytes) = (file, file.base + offset, size, nil)
    (descriptor, allocatedSize) = (file.descriptor, file.allocatedSize)
    state = file.state
    do throws(Shortage) { head = try Self.head(of: descriptor, at: base, size) } catch {
      throw error.imageError(in: name, at: base)
    }
  }

  deinit { if whole == nil { close(descriptor) } }

  /// Whether libelf may look at the descriptor, since this is no part of a larger file.
  package var isWhole: Bool { whole == nil }

  /// Which bytes of which file these are.
  package var part: FilePart {
    FilePart(path: whole?.part.path ?? pathBytes ?? Array(path.utf8), offset: base, size: size)
  }

  /// What the system calls the file; nil for a part of one.
  package var systemPath: [UInt8]? { isWhole ? pathBytes ?? Array(path.utf8) : nil }

  /// The `count` bytes at `offset`, all of them.
  package func read(at offset: UInt64, count: Int) throws(ImageError) -> [UInt8] {
    Array(try slice(at: offset, count: count))
  }

  /// The same without a copy where the head has them.
  package func slice(at offset: UInt64, count: Int) throws(ImageError) -> ArraySlice<UInt8> {
    let (end, overflow) = offset.addingReportingOverflow(UInt64(max(0, count)))
    guard count >= 0, !overflow, end <= size else { throw endsBefore(offset, count) }
    if end <= UInt64(head.count) { return head[Int(offset)..<Int(end)] }
    bytesRead &+= UInt64(count)
    do throws(Shortage) {
      return try Self.read(descriptor, at: base + offset, count: count)[...]
    } catch {
      throw error.imageError(in: name, at: base + offset)
    }
  }

  /// Why not all bytes came.
  private enum Shortage: Error {
    /// The file ends before them.
    case end(count: Int)
    /// The system says so.
    case system(errno: Int32)

    func imageError(in file: String, at offset: UInt64) -> ImageError {
      let (code, message) =
        switch self {
        case .end(let count):
          (
            ImageError.Code.truncated,
            "The file ends before the \(count) bytes that should stand here."
          )
        case .system(let number): (.unreadable, "\(systemMessage(number)).")
        }
      return ImageError(
        code, image: file, offset: FileOffset(rawValue: offset), message: message)
    }
  }

  private static func read(
    _ descriptor: Int32, at offset: UInt64, count: Int
  ) throws(Shortage) -> [UInt8] {
    // All empty arrays are one object, and appending none to it would write its count.
    guard count > 0 else { return [] }
    var bytes: [UInt8] = []
    var failure: Shortage?
    bytes.append(addingCapacity: count) { span in
      unsafe span.withUnsafeMutableBufferPointer { buffer, filled in
        while filled < count, let start = buffer.baseAddress {
          // Sound: the buffer holds `count` bytes, of which `filled` have been written.
          let got = unsafe pread(
            descriptor, start + filled, count - filled, off_t(offset) + off_t(filled))
          if got < 0, errno == EINTR { continue }
          if got <= 0 {
            failure = got < 0 ? .system(errno: errno) : .end(count: count)
            return
          }
          filled += got
        }
      }
    }
    if let failure { throw failure }
    return bytes
  }

  // MARK: - Changes

  /// What differs once somebody wrote to a file, or put another in its place.
  private struct State: Equatable {
    let seconds, nanoseconds: Int
    let size: Int64
    let inode: UInt64

    init(_ status: stat) {
      let changed = status.st_mtim
      (seconds, nanoseconds) = (Int(changed.tv_sec), Int(changed.tv_nsec))
      (size, inode) = (Int64(status.st_size), UInt64(status.st_ino))
    }
  }

  /// Throws where somebody wrote to the file since it was opened: what was read of it may never have
  /// stood there together. Ask when all was read.
  ///
  /// The file system's clock ticks every few milliseconds: what is written within the tick of the
  /// last change before, and leaves the size alone, is not seen.
  package func checkUnchanged() throws(ImageError) {
    var status = stat()
    guard unsafe fstat(descriptor, &status) == 0, State(status) == state else {
      throw error(.unreadable, "The file was changed while it was read; read it again.")
    }
  }

  /// Does what reads the file; what is found wrong in one that was changed meanwhile is told as that.
  package func tellingChanges<Result>(
    _ body: () throws(ImageError) -> Result
  ) throws(ImageError) -> Result {
    do throws(ImageError) {
      return try body()
    } catch {
      try checkUnchanged()
      throw error
    }
  }

  /// An error that names this file; `offset` is one of this part, the error's one of the whole.
  package func error(
    _ code: ImageError.Code, _ message: String, section: String? = nil, at offset: UInt64? = nil
  ) -> ImageError {
    ImageError(
      code, image: name, section: section, offset: offset.map(self.offset),
      message: message)
  }

  /// The error for bytes that a structure promises and the file does not have.
  package func endsBefore(_ offset: UInt64, _ count: Int) -> ImageError {
    Shortage.end(count: count).imageError(in: name, at: base &+ offset)
  }
}

/// The system's text for an error number.
package func systemMessage(_ number: Int32) -> String {
  // Sound: strerror answers a NUL-terminated string that lives until this thread's next call.
  guard let text = unsafe strerror(number) else { return "error \(number)" }
  return unsafe String(cString: text)
}
