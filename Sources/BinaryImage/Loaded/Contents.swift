internal import CImageList

/// The copied sections of one image and the texts that their pointers lead to.
///
/// Shared by all copies of a `LoadedImage` and never changed.
@safe final class Contents: @unchecked Sendable {
  /// A section, its bytes, and what its slots lead to where it holds pointers.
  struct Part: Sendable {
    let section: Section
    let bytes: Range<Int>
    let texts: Range<Int>
  }

  /// Sections in the order of `LoadedImage.sectionNames`, each ascending by address.
  let parts: [Part]
  /// What every slot leads to, in the order of the slots.
  let texts: [image_text]
  /// Whether every pointer leads into the image, and there are no typed records.
  let isSettled: Bool
  // Sound: the memory belongs to this object alone and is freed with it; the bytes lie inside it.
  private let memory: UnsafeMutablePointer<UInt8>?
  private let bytes: UnsafeBufferPointer<UInt8>
  /// Sections and texts, one after the other: where they are in what was copied of all images.
  private let piece: image_piece

  /// Nothing.
  static let none = Contents()

  private init() {
    (parts, texts, isSettled, piece) = ([], [], true, image_piece())
    unsafe memory = nil
    unsafe bytes = UnsafeBufferPointer(start: nil, count: 0)
  }

  /// Copies the bytes of a piece; where it is the only one, the memory is taken over from `copies`
  /// instead. Nil where memory runs out.
  init?(
    parts: [Part], texts: [image_text], hasRecords: Bool, _ piece: image_piece,
    of copies: inout image_copies, isOnlyOne: Bool
  ) {
    guard let memory = unsafe image_copies_piece(&copies, piece, isOnlyOne) else { return nil }
    (self.parts, self.texts, self.piece) = (parts, texts, piece)
    isSettled = !hasRecords && texts.allSatisfy { $0.kind != IMAGE_TEXT_OUTSIDE }
    unsafe self.memory = memory
    let start = isOnlyOne ? piece.offset : 0
    unsafe bytes = UnsafeBufferPointer(start: memory + start, count: piece.size)
  }

  deinit { unsafe image_bytes_free(memory) }

  /// Lends some of the bytes for the call's duration.
  func withBytes<Result>(_ range: Range<Int>, _ body: (Span<UInt8>) -> Result) -> Result {
    body(unsafe bytes.span.extracting(range))
  }

  /// Lends a text that was copied.
  func withText<Result>(_ text: image_text, _ body: (Span<UInt8>) -> Result) -> Result {
    withBytes(piece.place(of: image_piece(offset: text.offset, size: Int(text.size))), body)
  }
}

extension image_piece {
  /// The range of a piece inside this one, which holds it; empty for an empty one.
  func place(of piece: image_piece) -> Range<Int> {
    piece.size == 0 ? 0..<0 : piece.offset - offset..<piece.offset - offset + piece.size
  }
}

extension image_text {
  /// Whether there is a text, or why there is none.
  var kind: image_text_status { image_text_status(status) }
}
