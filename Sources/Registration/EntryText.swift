/// A range of bytes that was taken for text: the text, or the byte that is no UTF-8.
///
/// Fields end at ASCII bytes, so each can be validated alone, while it is copied, exactly once.
enum EntryText {
  case text(String)
  case invalid(at: Int)

  init(copying bytes: Span<UInt8>) {
    do throws(UTF8.ValidationError) {
      self = .text(String(copying: try UTF8Span(validating: bytes)))
    } catch {
      self = .invalid(at: error.byteOffsets.lowerBound)
    }
  }

  /// The sentence that a rejection prints of bytes that are no UTF-8.
  static func invalidMessage(_ what: String, at offset: Int) -> String {
    "\(what) is not UTF-8 from its byte \(offset) on; save the source as UTF-8"
  }
}
