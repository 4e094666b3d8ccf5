import BeeHive
import Glibc
import Synchronization

/// The libraries that `Fixtures/make` builds.
public struct Fixtures: Sendable {
  let folder: String

  /// Describes the libraries in `folder`.
  public init(folder: String) { self.folder = folder }

  /// Loads a library, or ends the process: a measurement without it would lie.
  @discardableResult
  func load(_ name: String) -> Library {
    guard let handle = unsafe dlopen("\(folder)/\(name).so", RTLD_NOW | RTLD_LOCAL) else {
      let reason = unsafe dlerror().map { unsafe String(cString: $0) } ?? "no reason given"
      stop("\(name) does not load: \(reason)")
    }
    return unsafe Library(handle: handle)
  }

  /// Copies a library to a new file, because the loader would answer with one that has registered and stays.
  func fresh(_ name: String) -> String {
    let copy = "\(name)-\(Self.copies.add(1, ordering: .relaxed).newValue)"
    let source = unsafe open("\(folder)/\(name).so", O_RDONLY)
    let target = unsafe open("\(folder)/\(copy).so", O_WRONLY | O_CREAT | O_TRUNC, 0o755)
    while sendfile(target, source, nil, 1 << 30) > 0 {}
    guard Glibc.close(source) == 0, Glibc.close(target) == 0 else {
      stop("\(name) cannot be copied")
    }
    return copy
  }

  private static let copies = Atomic(0)

  /// Removes a copy's entries, closes the copy and removes its file.
  func remove(_ copy: String, _ library: Library?) {
    let path = "\(folder)/\(copy).so"
    let isDone = Atomic(false)
    Task.detached {
      await Hive.process.remove(image: path)
      isDone.store(true, ordering: .releasing)
    }
    while !isDone.load(ordering: .acquiring) { usleep(50) }
    library?.close()
    unsafe unlink(path)
  }

  /// Returns the path of a copy of a library.
  func path(ofCopy number: Int, in folder: String) -> String {
    "\(self.folder)/\(Self.copy(number, of: folder)).so"
  }

  /// Returns the name of a copy.
  static func copy(_ number: Int, of folder: String) -> String {
    let digits = String(number)
    return folder + "/" + String(repeating: "0", count: 4 - digits.count) + digits
  }

  /// Loads the first copies of a library.
  func load(_ count: Int, of folder: String) {
    for number in 0..<count { load(Self.copy(number, of: folder)) }
  }
}

@safe struct Library: @unchecked Sendable {
  // Sound: the handle is only passed back to the loader.
  let handle: UnsafeMutableRawPointer

  func close() { unsafe _ = dlclose(handle) }
}

/// Ends a measurement that went wrong.
func stop(_ reason: String) -> Never {
  print("benchmark: \(reason)")
  exit(1)
}
