internal import CImageList

/// The copied sections of one image and the texts that their pointers lead to.
///
/// Shared by all copies of a `LoadedImage` and never changed.
final class Contents: Sendable {
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
  /// Sections and texts, one after the other.
  private let bytes: [UInt8]
  /// Where these are in what was copied of all images.
  private let piece: image_piece

  /// Nothing.
  static let none = Contents(parts: [], texts: [], hasRecords: false, [], of: image_piece())

  /// Takes over what was copied of a piece.
  init(
    parts: [Part], texts: [image_text], hasRecords: Bool, _ bytes: [UInt8], of piece: image_piece
  ) {
    (self.parts, self.texts, self.bytes, self.piece) = (parts, texts, bytes, piece)
    isSettled = !hasRecords && texts.allSatisfy { $0.kind != IMAGE_TEXT_OUTSIDE }
  }

  /// Lends some of the bytes for the call's duration.
  func withBytes<Result>(_ range: Range<Int>, _ body: (Span<UInt8>) -> Result) -> Result {
    let bytes = bytes
    return body(bytes.span.extracting(range))
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
