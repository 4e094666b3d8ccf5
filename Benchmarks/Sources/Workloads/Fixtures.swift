import Glibc

/// The libraries that `Fixtures/make` builds.
public struct Fixtures: Sendable {
  let folder: String

  /// Those in `folder`.
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

  /// Where a copy of a library is.
  func path(ofCopy number: Int, in folder: String) -> String {
    "\(self.folder)/\(Self.copy(number, of: folder)).so"
  }

  /// The name of a copy.
  static func copy(_ number: Int, of folder: String) -> String {
    let digits = String(number)
    return folder + "/" + String(repeating: "0", count: 4 - digits.count) + digits
  }

  /// Loads the first copies of a library.
  func load(_ count: Int, of folder: String) {
    for number in 0..<count { load(Self.copy(number, of: folder)) }
  }
}

/// A loaded library.
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
