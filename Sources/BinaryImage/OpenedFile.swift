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
  package let stamp: FileStamp
  /// Whom the whole file belongs to, and who may do what with it.
  package let access: FileAccess
  /// The descriptor, for libelf.
  package let descriptor: Int32

  /// The file that this is a part of, which keeps the descriptor open.
  private let whole: OpenedFile?
  /// Where in the whole file this part starts.
  package let base: UInt64

  /// What the system calls the whole file, as text and where that is not all as bytes.
  private let systemName: (text: String, bytes: [UInt8]?)
  /// The first bytes: of most files, all headers that the loader reads.
  package let head: [UInt8]
  package static let usualHead = 960
  /// The stretches behind the head that were read last.
  var window = FileWindow()
  /// How many bytes were read behind the head, repeated ones as often as they were.
  private(set) var bytesRead: UInt64 = 0

  /// Opens the regular file at `path`; errors and identities call it `name`.
  ///
  /// Nothing else is opened, since opening alone acts on some devices; unless the loader has mapped
  /// the file at this path, which makes a look before opening it needless. A file of at most `readWhole` bytes is
  /// read at once.
  package convenience init(
    path: String, name: String, wasMapped: Bool = false, readWhole: Int = usualHead
  ) throws(ImageError) {
    try self.init(
      OpenedPath(path, wasMapped: wasMapped), name: name, path: name, systemName: (path, nil),
      container: [], readWhole: readWhole)
  }

  /// Opens the regular file at a path that need not be UTF-8.
  package convenience init(
    path: [UInt8], name: String, wasMapped: Bool = false
  ) throws(ImageError) {
    try self.init(
      OpenedPath(path, wasMapped: wasMapped), name: name, path: name, systemName: (name, path),
      container: [])
  }

  /// Opens a file that a thin archive names `member`.
  package convenience init(path: [UInt8], member: String, of archive: OpenedFile) throws(ImageError)
  {
    try self.init(
      OpenedPath(path, wasMapped: false), name: "\(archive.name)(\(member))", path: archive.path,
      systemName: (member, path), container: archive.container + [member])
  }

  private init(
    _ opened: OpenedPath, name: String, path: String, systemName: (text: String, bytes: [UInt8]?),
    container: [String], readWhole: Int = usualHead
  ) throws(ImageError) {
    guard case .file(let descriptor, let status) = opened else {
      throw ImageError(.unreadable, image: name, message: opened.refusal)
    }
    self.descriptor = descriptor
    (self.name, self.path, self.container) = (name, path, container)
    (whole, base, self.systemName) = (nil, 0, systemName)
    // Should the path lead elsewhere by now, these are only bounds: every read is checked.
    size = UInt64(max(0, status.st_size))
    allocatedSize = UInt64(max(0, status.st_blocks)) &* 512
    (stamp, access) = (FileStamp(status), FileAccess(status))
    do throws(ImageError) {
      let count = size <= UInt64(readWhole) ? size : min(size, UInt64(Self.usualHead))
      head = try Self.read(descriptor, at: 0, count: Int(count), of: name)
    } catch {
      close(descriptor)
      throw error
    }
  }

  /// The part of an open file that a container calls `member`.
  package init(
    _ member: String, of file: OpenedFile, at offset: UInt64, size: UInt64
  ) throws(ImageError) {
    try file.check(
      file.holds(offset, size), .truncated,
      "The file ends before the \(size) bytes of \(member) do.", at: offset)
    (name, path, container) = ("\(file.name)(\(member))", file.path, file.container + [member])
    (whole, base, self.size, systemName) = (file, file.base + offset, size, file.systemName)
    (descriptor, allocatedSize) = (file.descriptor, file.allocatedSize)
    (stamp, access) = (file.stamp, file.access)
    let count = Int(min(size, UInt64(Self.usualHead)))
    head = try Self.read(descriptor, at: base, count: count, of: name)
  }

  deinit { if whole == nil { close(descriptor) } }

  /// Whether libelf may look at the descriptor, since this is no part of a larger file.
  package var isWhole: Bool { whole == nil }

  /// Which bytes of which file these are.
  package var part: FilePart { FilePart(path: systemBytes, offset: base, size: size) }

  /// What the system calls the file; nil for a part of one.
  package var systemPath: [UInt8]? { isWhole ? systemBytes : nil }

  private var systemBytes: [UInt8] { systemName.bytes ?? Array(systemName.text.utf8) }

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
    return try Self.read(descriptor, at: base + offset, count: count, of: name)[...]
  }

  /// Fills `room` with the bytes at `offset`.
  ///
  /// - Throws: ``ImageError`` if the file has fewer, or cannot be read.
  func read(at offset: UInt64, into room: UnsafeMutableRawBufferPointer) throws(ImageError) {
    let count = room.count
    let (end, overflow) = offset.addingReportingOverflow(UInt64(count))
    guard !overflow, end <= size else { throw endsBefore(offset, count) }
    if end <= UInt64(head.count) {
      unsafe room.copyBytes(from: head[Int(offset)..<Int(end)])
      return
    }
    if let (bytes, position) = window.known(offset, end) {
      unsafe room.copyBytes(from: bytes[position..<position + count])
      return
    }
    bytesRead &+= UInt64(count)
    var filled = 0
    while filled < count {
      // Sound: the room holds `count` bytes, of which `filled` are written.
      let rest = unsafe UnsafeMutableRawBufferPointer(rebasing: room[filled...])
      let more = unsafe pread(
        descriptor, rest.baseAddress, rest.count, off_t(base + offset) + off_t(filled))
      if more < 0, errno == EINTR { continue }
      if more < 0 { throw unreadable(errno, at: offset) }
      guard more > 0 else { throw endsBefore(offset, count) }
      filled += more
    }
  }

  private func unreadable(_ failure: Int32, at offset: UInt64) -> ImageError {
    error(.unreadable, "\(systemMessage(failure)).", at: offset)
  }

  private static func read(
    _ descriptor: Int32, at offset: UInt64, count: Int, of name: String
  ) throws(ImageError) -> [UInt8] {
    let (bytes, failure) = readBytes(of: descriptor, at: Int(offset), count: count)
    if failure == 0, bytes.count == count { return bytes }
    guard failure != 0 else { throw endsBefore(offset, count, in: name) }
    throw ImageError(
      .unreadable, image: name, offset: FileOffset(rawValue: offset),
      message: "\(systemMessage(failure)).")
  }

  // MARK: - Changes

  /// Throws where somebody wrote to the file since it was opened: what was read of it may never have
  /// stood there together. Ask when all was read.
  ///
  /// The file system's clock ticks every few milliseconds: what is written within the tick of the
  /// last change before, and leaves the size alone, is not seen.
  package func checkUnchanged() throws(ImageError) {
    var status = stat()
    let isThere = unsafe fstat(descriptor, &status) == 0
    // A name or mode that is another is no change of this sort.
    let now = FileStamp(status)
    try check(
      isThere && (now.modified, now.size) == (stamp.modified, stamp.size), .unreadable,
      "The file was changed while it was read; read it again.")
  }

  /// Does what reads the file; what is found wrong in one that was changed meanwhile is told as that.
  package func tellingChanges<Result: ~Copyable>(
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
    Self.endsBefore(base &+ offset, count, in: name)
  }

  private static func endsBefore(_ offset: UInt64, _ count: Int, in name: String) -> ImageError {
    ImageError(
      .truncated, image: name, offset: FileOffset(rawValue: offset),
      message: "The file ends before the \(count) bytes that should be here.")
  }
}
