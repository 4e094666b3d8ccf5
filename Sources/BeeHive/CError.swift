#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Darwin
#endif

/// What went wrong, in words, for callers that know no other errors.
struct CError: Error, CustomStringConvertible {
  let description: String

  init(_ description: String) { self.description = description }

  /// The last error of the calling thread; "" where its last call went well.
  static var last: UnsafePointer<CChar>? {
    if unsafe pthread_getspecific(key) == nil { remember("") }
    return unsafe pthread_getspecific(key).map {
      unsafe UnsafePointer($0.assumingMemoryBound(to: CChar.self))
    }
  }

  /// Runs `body` and remembers what it throws, for this thread.
  static func reported<Value>(_ body: () throws -> Value) -> Value? {
    do {
      let value = try body()
      remember("")
      return value
    } catch {
      remember("\(error)")
      return nil
    }
  }

  private static func remember(_ text: String) {
    unsafe free(pthread_getspecific(key))
    _ = unsafe pthread_setspecific(key, strdup(text))
  }

  /// The text of each thread, given back when the thread ends.
  private static let key: pthread_key_t = {
    var key = pthread_key_t()
    unsafe pthread_key_create(&key) { unsafe free($0) }
    return key
  }()
}
