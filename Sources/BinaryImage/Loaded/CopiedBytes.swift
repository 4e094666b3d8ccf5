internal import CImageList

/// Bytes that were copied from an image, and are never changed.
@safe struct CopiedBytes: ~Copyable, @unchecked Sendable {
  // Sound: the memory belongs to this value alone and is freed with it; the piece lies inside it.
  private let memory: UnsafeMutablePointer<UInt8>?
  private let piece: UnsafeBufferPointer<UInt8>

  /// No bytes.
  init() {
    unsafe memory = nil
    unsafe piece = UnsafeBufferPointer(start: nil, count: 0)
  }

  /// The bytes of a piece, copied; where it is the only one, the memory is taken over from `copies`
  /// instead. Nil where memory runs out.
  init?(_ piece: image_piece, of copies: inout image_copies, isOnlyOne: Bool) {
    guard let memory = unsafe image_copies_piece(&copies, piece, isOnlyOne) else { return nil }
    unsafe self.memory = memory
    let start = isOnlyOne ? piece.offset : 0
    unsafe self.piece = UnsafeBufferPointer(start: memory + start, count: piece.size)
  }

  deinit { unsafe image_bytes_free(memory) }

  /// Lends the bytes for the call's duration.
  func withSpan<Result>(_ body: (Span<UInt8>) -> Result) -> Result { body(unsafe piece.span) }
}
