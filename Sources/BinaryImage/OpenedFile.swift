internal import CImageList
internal import LibC

/// A regular file that is open for reading, or a part of one; closed when the last reference goes.
///
/// Reads everything with `pread` and maps nothing: a file that shrinks is an error, not SIGBUS.
package final class OpenedFile {
  /// The name in errors: `libshop.a(cart.o)` is a part of `libshop.a`.
  package let name: String
  /// The name of the whole file.
  package let path: String
  /// The members and slices that lead to this part of the file, outermost first.
  package let container: [String]
  /// The size when it was opened, in bytes.
  package let size: UInt64
  /// The number of bytes that the file system really stores; smaller than `size` in sparse files.
  package let allocatedSize: UInt64
  /// A stamp of the contents, as of when the file was opened.
  package let stamp: FileStamp
  /// The owner and the permissions of the whole file.
  package let access: FileAccess
  /// The descriptor, for libelf.
  package let descriptor: Int32

  /// The file that this is a part of. It keeps the descriptor open.
  private let whole: OpenedFile?
  /// The start of this part in the whole file.
  package let base: UInt64

  /// The system's path of the whole file.
  private let systemBytes: [UInt8]
  /// The first bytes; in most files they hold all headers that the loader reads.
  package let head: [UInt8]
  package static let usualHead = 960
  /// The stretches after the head that were read last.
  var window = FileWindow()
  /// The number of bytes that were read after the head; repeated reads count again.
  private(set) var bytesRead: UInt64 = 0

  /// Opens the regular file at `path`; errors and identities call it `name`, or else the path.
  ///
  /// Looks at the file before it opens it, because merely opening some devices acts on them. That is needless if the
  /// loader has mapped the file at this path. Reads a file of at most `readWhole` bytes at once.
  package convenience init(
    path: String, name: String? = nil, wasMapped: Bool = false, readWhole: Int = usualHead
  ) throws(ImageError) {
    try self.init(path: Array(path.utf8), name: name, wasMapped: wasMapped, readWhole: readWhole)
  }

  /// Opens the regular file at a path that need not be UTF-8, or the file that a thin archive calls `name`.
  ///
  /// Without a name, errors and identities call it by its path, with replacement characters.
  package init(
    path: [UInt8], name: String? = nil, memberOf archive: OpenedFile? = nil,
    wasMapped: Bool = false,
    readWhole: Int = usualHead
  ) throws(ImageError) {
    let name = name ?? String(decoding: path, as: UTF8.self)
    let fullName = archive.map { "\($0.name)(\(name))" } ?? name
    let (descriptor, status) = try Self.opened(path, fullName, wasMapped)
    self.descriptor = descriptor
    (self.name, self.path) = (fullName, archive?.path ?? name)
    container = archive.map { $0.container + [Self.shortened(name)] } ?? []
    (whole, base, systemBytes) = (nil, 0, path)
    // Should the path lead elsewhere by now, these are only bounds: every read is checked.
    size = UInt64(max(0, status.st_size))
    allocatedSize = UInt64(max(0, status.st_blocks)) &* 512
    (stamp, access) = (FileStamp(status), FileAccess(status))
    let count = Int(size <= UInt64(readWhole) ? size : min(size, UInt64(Self.usualHead)))
    let failure: Int32
    (head, failure) = readBytes(of: descriptor, at: 0, count: count)
    try checkRead(head.count, of: count, failure, at: 0)
  }

  /// Opens a path if it leads to a regular file.
  private static func opened(
    _ path: [UInt8], _ name: String, _ wasMapped: Bool
  ) throws(ImageError) -> (Int32, stat) {
    guard !path.isEmpty, !path.contains(0) else {
      throw ImageError(
        .unreadable, image: name,
        message: "The path is empty or holds a NUL; give the path of a file.")
    }
    var status = stat()
    if !wasMapped {
      guard let found = fileStatus(of: path, followingLinks: true) else {
        throw ImageError(system: errno, name)
      }
      try found.checkRegular(name)
      status = found
    }
    let descriptor = unsafe path.withCText {
      unsafe open($0, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)
    }
    guard descriptor >= 0 else { throw ImageError(system: errno, name) }
    // Should the path lead elsewhere by now, the status is only a bound.
    guard wasMapped else { return (descriptor, status) }
    do throws(ImageError) {
      guard unsafe fstat(descriptor, &status) == 0 else { throw ImageError(system: errno, name) }
      try status.checkRegular(name)
    } catch {
      close(descriptor)
      throw error
    }
    return (descriptor, status)
  }

  /// Opens the part of an open file that a container calls `member`.
  package init(
    _ member: String, of file: OpenedFile, at offset: UInt64, size: UInt64
  ) throws(ImageError) {
    try file.check(
      file.holds(offset, size), .truncated,
      "The file ends before the \(size) bytes of \(member) do.", at: offset)
    let member = Self.shortened(member)
    (name, path, container) = ("\(file.name)(\(member))", file.path, file.container + [member])
    (whole, base, self.size, systemBytes) = (file, file.base + offset, size, file.systemBytes)
    (descriptor, allocatedSize) = (file.descriptor, file.allocatedSize)
    (stamp, access) = (file.stamp, file.access)
    let count = Int(min(size, UInt64(Self.usualHead)))
    let failure: Int32
    (head, failure) = readBytes(of: descriptor, at: Int(base), count: count)
    try checkRead(head.count, of: count, failure, at: 0)
  }

  /// Returns a member's name for reports, at most as long as any file's: reports repeat it for each entry.
  private static func shortened(_ member: String) -> String {
    member.utf8.count > 255
      ? String(decoding: member.utf8.prefix(255), as: UTF8.self) + "…" : member
  }

  deinit { if whole == nil { close(descriptor) } }

  /// Whether libelf may use the descriptor, because this is no part of a larger file.
  package var isWhole: Bool { whole == nil }

  /// The file and the range of bytes that this is.
  package var part: FilePart { FilePart(path: systemBytes, offset: base, size: size) }

  /// The system's path of the file; nil for a part of a file.
  package var systemPath: [UInt8]? { isWhole ? systemBytes : nil }

  /// Returns the `count` bytes at `offset`, all of them.
  package func read(at offset: UInt64, count: Int) throws(ImageError) -> [UInt8] {
    Array(try slice(at: offset, count: count))
  }

  /// Returns the same, without a copy if the head has them.
  package func slice(at offset: UInt64, count: Int) throws(ImageError) -> ArraySlice<UInt8> {
    let (end, overflow) = offset.addingReportingOverflow(UInt64(max(0, count)))
    guard count >= 0, !overflow, end <= size else { throw endsBefore(offset, count) }
    if end <= UInt64(head.count) { return head[Int(offset)..<Int(end)] }
    bytesRead &+= UInt64(count)
    let (bytes, failure) = readBytes(of: descriptor, at: Int(base + offset), count: count)
    try checkRead(bytes.count, of: count, failure, at: offset)
    return bytes[...]
  }

  /// Fills `room` with the bytes at `offset`.
  ///
  /// - Throws: ``ImageError`` if the file has fewer, or cannot be read.
  func read(at offset: UInt64, into room: UnsafeMutableRawBufferPointer) throws(ImageError) {
    let (end, overflow) = offset.addingReportingOverflow(UInt64(room.count))
    guard !overflow, end <= size else { throw endsBefore(offset, room.count) }
    if end <= UInt64(head.count) {
      unsafe room.copyBytes(from: head[Int(offset)..<Int(end)])
    } else if let (bytes, position) = window.known(offset, end) {
      unsafe room.copyBytes(from: bytes[position..<position + room.count])
    } else {
      bytesRead &+= UInt64(room.count)
      let start = Int(base + offset)
      // Sound: the rest that is passed on is inside the room.
      let (filled, failure) = unsafe fill(room) { rest, filled in
        unsafe pread(descriptor, rest.baseAddress, rest.count, off_t(start &+ filled))
      }
      try checkRead(filled, of: room.count, failure, at: offset)
    }
  }

  /// Throws if the system read fewer bytes than were wanted, or refused the rest for some reason.
  private func checkRead(
    _ filled: Int, of count: Int, _ failure: Int32, at offset: UInt64
  ) throws(ImageError) {
    try check(failure == 0, .unreadable, "\(systemMessage(failure)).", at: offset)
    if filled < count { throw endsBefore(offset, count) }
  }

  /// Whether the kernel does not map the file for running it: `ST_NOEXEC`.
  package var isOnNoexecMount: Bool {
    var status = statvfs()
    return unsafe fstatvfs(descriptor, &status) == 0 && status.f_flag & 8 != 0
  }

  /// Whether who starts the file gets more rights by it: set-user-ID, set-group-ID, capabilities.
  package var givesRights: Bool {
    var status = stat()
    return unsafe fstat(descriptor, &status) == 0 && status.st_mode & 0o6000 != 0
      || image_has_capabilities(descriptor)
  }

  // MARK: - Changes

  /// Throws if somebody wrote to the file since it was opened: the bytes that were read may never have been there
  /// together. Call it after reading everything.
  ///
  /// The file system's clock ticks every few milliseconds. A write within the tick of the change before it is not seen,
  /// if it leaves the size alone.
  package func checkUnchanged() throws(ImageError) {
    var status = stat()
    let isThere = unsafe fstat(descriptor, &status) == 0
    // A name or mode that is another is no change of this sort.
    let now = FileStamp(status)
    try check(
      isThere && (now.modified, now.size) == (stamp.modified, stamp.size), .unreadable,
      "The file was changed while it was read; read it again.")
  }

  /// Calls `body`, which reads the file. If it fails, and the file was changed meanwhile, reports the change instead.
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

  /// Returns an error that names this file. `offset` is in this part; the error has the offset in the whole file.
  package func error(
    _ code: ImageError.Code, _ message: String, section: String? = nil, at offset: UInt64? = nil
  ) -> ImageError {
    ImageError(
      code, image: name, section: section, offset: offset.map(self.offset),
      message: message)
  }

  /// Returns the error for bytes that a structure promises and the file does not have.
  package func endsBefore(_ offset: UInt64, _ count: Int) -> ImageError {
    error(
      .truncated, "The file ends before the \(count.counted("byte")) that should be here.",
      at: offset)
  }

  // MARK: - The errors that several readers tell

  /// Throws an error that names this file if something is not right.
  @inline(__always)
  package func check(
    _ isRight: Bool, _ code: ImageError.Code, _ message: @autoclosure () -> String,
    section: @autoclosure () -> String? = nil, at offset: @autoclosure () -> UInt64? = nil
  ) throws(ImageError) {
    if !isRight { throw error(code, message(), section: section(), at: offset()) }
  }

  /// Returns the error for a text that goes on for too long.
  package func unterminated(_ limit: Int, at offset: UInt64?) -> ImageError {
    error(
      .unterminated, "No NUL ends the text within \(limit) bytes or before its mapping ends.",
      at: offset)
  }

  /// Returns the error for a target without a text in this file.
  package func noText(at target: PointerValue.Target) -> ImageError {
    let reason =
      switch target {
      case .null: "A null pointer leads to no text."
      case .imported(let symbol, let addend):
        "The text is '\(PointerValue.name(ofImport: symbol, addend: addend))' of another image."
      case .foreign(let address):
        "\(UInt64(address.rawValue).hexadecimal) is an address of a process."
      case .unresolvable(let reason): reason
      case .address, .section: "The pointer leads out of the file."
      }
    return error(.outOfImage, reason)
  }

  /// Returns the error for an address that no segment of the file has bytes for.
  package func outsideSegments(_ address: VirtualAddress) -> ImageError {
    error(.outOfImage, "No segment holds bytes of the file at \(address.rawValue.hexadecimal).")
  }
}
