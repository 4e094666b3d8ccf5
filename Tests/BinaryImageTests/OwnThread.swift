import Foundation

/// A thread with a working directory and privileges of its own.
enum OwnThread {
  private final class Box<Value>: @unchecked Sendable {
    // Sound: written by the thread, read after it has signalled its end.
    var result: Result<Value, any Error>?
  }

  /// Runs `body` on a new thread and returns its result.
  ///
  /// With a directory, only this thread works there. Without privileges, the thread may read only what any user may.
  static func run<Value>(
    in directory: String? = nil, privileged: Bool = true,
    _ body: @escaping @Sendable () throws -> Value
  ) throws -> Value {
    let box = Box<Value>()
    let ended = DispatchSemaphore(value: 0)
    let thread = Thread {
      box.result = Result {
        if let directory {
          try call("unshare", 0x200)  // CLONE_FS
          guard unsafe chdir(directory) == 0 else { throw failure("chdir") }
        }
        if !privileged { try dropCapabilities() }
        return try body()
      }
      ended.signal()
    }
    thread.stackSize = 1 << 23
    thread.start()
    ended.wait()
    guard let result = box.result else { throw failure("thread") }
    return try result.get()
  }

  /// Whether a privileged thread may open files by their mapped addresses. Root may, unless restricted.
  static let followsMappings: Bool = {
    let directory = "/proc/self/map_files"
    let names = (try? FileManager.default.contentsOfDirectory(atPath: directory)) ?? []
    return names.contains { name in
      let descriptor = unsafe open("\(directory)/\(name)", O_RDONLY | O_CLOEXEC)
      if descriptor >= 0 { close(descriptor) }
      return descriptor >= 0
    }
  }()

  /// Opens a file without a path (`memfd_create`) at a free descriptor number.
  static func memoryFile(_ bytes: [UInt8], as number: Int32) throws -> Int32 {
    typealias Create = @convention(c) (UnsafePointer<CChar>, UInt32) -> Int32
    guard let symbol = unsafe dlsym(nil, "memfd_create") else { throw failure("memfd_create") }
    let file = unsafe unsafeBitCast(symbol, to: Create.self)("beehive-test", 0)
    defer { close(file) }
    let descriptor = fcntl(file, F_DUPFD, number)
    guard descriptor == number, unsafe write(descriptor, bytes, bytes.count) == bytes.count else {
      throw failure("memfd_create")
    }
    return descriptor
  }

  private static func call(_ name: String, _ argument: Int32) throws {
    typealias Function = @convention(c) (Int32) -> Int32
    guard let symbol = unsafe dlsym(nil, name),
      unsafe unsafeBitCast(symbol, to: Function.self)(argument) == 0
    else { throw failure(name) }
  }

  /// Drops the capabilities of this thread. Other threads keep theirs.
  private static func dropCapabilities() throws {
    typealias Function = @convention(c) (UnsafePointer<UInt32>, UnsafePointer<UInt32>) -> Int32
    let header: [UInt32] = [0x2008_0522, 0]  // version 3, this thread
    let none = [UInt32](repeating: 0, count: 6)
    guard let symbol = unsafe dlsym(nil, "capset"),
      unsafe unsafeBitCast(symbol, to: Function.self)(header, none) == 0
    else { throw failure("capset") }
  }

  private static func failure(_ call: String) -> Fixture.Failure {
    Fixture.Failure(description: "\(call): \(unsafe String(cString: strerror(errno)))")
  }
}
