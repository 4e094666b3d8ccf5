/// Texts as C reads them, which stay where they are until this goes.
@safe package final class CTexts {
  // Sound: each buffer is allocated here, and freed when nothing leads to it any more.
  private var buffers: [UnsafeMutablePointer<CChar>]

  /// Holds no text.
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
