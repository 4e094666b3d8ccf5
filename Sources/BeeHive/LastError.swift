internal import LibC
internal import Threads

/// The last error of one thread, for callers in C.
///
/// Makes its text at the first request, because nobody asks for most errors.
@safe final class LastError {
  private var error: (any Error)? {
    didSet {
      unsafe free(copy)
      unsafe copy = nil
    }
  }
  private var copy: UnsafeMutablePointer<CChar>?

  deinit { unsafe free(copy) }

  /// The text for the calling thread, valid until its next call; "" if its last call succeeded.
  static var pointer: UnsafePointer<CChar>? {
    let last = here
    if unsafe last.copy == nil { unsafe last.copy = strdup(last.error.map { "\($0)" } ?? "") }
    return unsafe UnsafePointer(last.copy)
  }

  /// The same text as a string of its own.
  static var text: String { unsafe pointer.text ?? "" }

  /// Runs `body` so that nobody can cancel it, and remembers its error for this thread.
  static func reported<Value>(_ body: () throws -> Value) -> Value? {
    do {
      let value = try uncancelled(body)
      forget()
      return value
    } catch {
      here.error = error
      return nil
    }
  }

  /// Remembers an error for this thread.
  static func note(_ error: Problem) { here.error = error }

  /// Forgets the last error.
  static func forget() { here.error = nil }

  private static var here: LastError {
    if let known = unsafe pthread_getspecific(key) {
      return unsafe Unmanaged<LastError>.fromOpaque(known).takeUnretainedValue()
    }
    let made = LastError()
    _ = unsafe pthread_setspecific(key, Unmanaged.passRetained(made).toOpaque())
    return made
  }

  /// The key of each thread's `LastError`, which is released when the thread ends.
  private static let key: pthread_key_t = {
    var key = pthread_key_t()
    unsafe pthread_key_create(&key) { pointer in
      if let pointer = unsafe pointer { unsafe Unmanaged<LastError>.fromOpaque(pointer).release() }
    }
    return key
  }()
}

extension UnsafePointer<CChar>? {
  /// The text, copied; nil if there is none.
  var text: String? { unsafe map { unsafe String(cString: $0) } }
}

/// C strings that stay at their addresses as long as this object lives.
@safe package final class CTexts {
  // Sound: each buffer is allocated here, and freed when nothing leads to it any more.
  private var buffers: [UnsafeMutablePointer<CChar>]

  /// Creates it without strings.
  package init() { unsafe buffers = [] }

  deinit { for index in unsafe buffers.indices { unsafe buffers[index].deallocate() } }

  /// Copies a text.
  package func copy(_ text: String) -> UnsafePointer<CChar> {
    let bytes = Array(text.utf8CString)
    let buffer = UnsafeMutablePointer<CChar>.allocate(capacity: bytes.count)
    unsafe buffer.initialize(from: bytes, count: bytes.count)
    unsafe buffers.append(buffer)
    return unsafe UnsafePointer(buffer)
  }
}
