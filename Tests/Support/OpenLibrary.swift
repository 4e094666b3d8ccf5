import Foundation

/// A library that the test has loaded into its own process. It is open until the test ends or closes it.
@safe public final class OpenLibrary {
  /// The loader refuses the library, or the library lacks a function.
  public struct Failure: Error, CustomStringConvertible {
    /// The loader's message.
    public var description: String
  }

  // Sound: from dlopen, and closed once.
  private var handle: UnsafeMutableRawPointer?

  /// Loads a library.
  ///
  /// - Parameter path: Its path.
  /// - Throws: ``Failure`` if the loader refuses it.
  public init(_ path: String) throws {
    unsafe handle = dlopen(path, RTLD_NOW | RTLD_LOCAL)
    guard unsafe handle != nil else {
      throw Failure(description: unsafe String(cString: dlerror()))
    }
  }

  deinit { close() }

  /// Loads a library for the rest of the process. A library with Swift inside must stay loaded.
  public static func keep(_ path: String) throws { unsafe try OpenLibrary(path).handle = nil }

  /// Calls a function of the library that takes nothing and returns an `int`.
  public func call(_ function: String) throws -> Int32 {
    typealias Function = @convention(c) () -> Int32
    guard let handle = unsafe handle, let symbol = unsafe dlsym(handle, function) else {
      throw Failure(description: "\(function) is not in the library")
    }
    return unsafe unsafeBitCast(symbol, to: Function.self)()
  }

  /// Closes the library, once.
  public func close() {
    if let handle = unsafe handle { unsafe _ = dlclose(handle) }
    unsafe handle = nil
  }
}
