internal import CTestContracts
internal import Glibc

extension Host {
  /// Opening, closing and moving files: nothing here knows of a Hive.
  static let loaderSteps: [(String, Step)] = [
    ("open", { host, path in try host.open(path) }),
    ("open-global", { host, path in try host.open(path, RTLD_GLOBAL) }),
    ("open-deep", { host, path in try host.open(path, RTLD_DEEPBIND) }),
    ("open-memory", { host, path in try host.openInMemory(path) }),
    (
      "close",
      { host, path in
        guard let handle = host.handles[path]?.popLast() else { throw StepFailure("not open") }
        try handle.close()
      }
    ),
    // Three times whatever was opened once, as a host with a wrong count does: dlclose complains.
    (
      "close-thrice",
      { host, path in
        guard let handle = host.handles[path]?.popLast() else { throw StepFailure("not open") }
        for _ in 0..<3 { try? handle.close() }
      }
    ),
    (
      "mapped",
      { _, name in
        print("\(name) is \(try ProcessFacts.isMapped(name) ? "mapped" : "not mapped")")
      }
    ),
    ("chdir", { _, path in try check(unsafe chdir(path)) }),
    ("remove", { _, path in try check(unsafe unlink(path)) }),
    // `rename=new.so,plugin.so`: what was the first is the second from now on.
    (
      "rename",
      { _, paths in
        let names = paths.split(separator: ",").map(String.init)
        guard names.count == 2 else { throw StepFailure("two paths, please") }
        try check(unsafe rename(names[0], names[1]))
      }
    ),
    ("alarm", { _, seconds in contract_end_after(UInt32(seconds) ?? 3) }),
  ]

  private mutating func open(_ path: String, _ flags: CInt = RTLD_LOCAL) throws {
    handles[path, default: []].append(try Handle(opening: path, flags))
  }

  /// Opens a copy of the file that no directory knows.
  private mutating func openInMemory(_ path: String) throws {
    let memory = unsafe contract_copy_to_memory(path)
    try Self.check(memory < 0 ? -1 : 0)
    try open("/proc/self/fd/\(memory)")
    // The loader has it mapped: the descriptor, and with it the path, may go.
    Glibc.close(memory)
  }

  private static func check(_ result: CInt) throws {
    let code = errno
    guard result == 0 else { throw StepFailure("error \(code)") }
  }
}

/// What `dlopen` gave; closed by hand, as often as it was opened.
struct Handle {
  private let address: UInt

  /// Opens a library as anybody would.
  init(opening path: String, _ flags: CInt = RTLD_LOCAL) throws {
    guard let handle = unsafe dlopen(path, RTLD_NOW | flags) else {
      throw StepFailure(unsafe dlerror().map { unsafe String(cString: $0) } ?? "dlopen failed")
    }
    address = UInt(bitPattern: handle)
  }

  /// Closes it once.
  func close() throws {
    // Sound: the address came from dlopen. Closing once too often is an error that dlclose reports.
    guard let handle = unsafe UnsafeMutableRawPointer(bitPattern: address),
      unsafe dlclose(handle) == 0
    else { throw StepFailure("dlclose failed") }
  }
}
