// Text of an entry: fields end at bytes of ASCII, so each can be validated alone, before it is copied.

extension Span<UInt8> {
  /// The position of the first byte that keeps this from being UTF-8; nil where nothing does.
  var invalidUTF8: Int? {
    if isASCII { return nil }
    do throws(UTF8.ValidationError) {
      _ = try UTF8Span(validating: self)
      return nil
    } catch {
      return error.byteOffsets.lowerBound
    }
  }

  /// Throws unless this is UTF-8; `what` is what the message calls it.
  func checkUTF8(_ what: String, of name: String? = nil) throws(Refusal) {
    guard let offset = invalidUTF8 else { return }
    throw Refusal(
      .invalidUTF8, name: name,
      "\(what) is not UTF-8 from its byte \(offset) on; save the source as UTF-8")
  }
}

extension String {
  /// A copy of bytes that were found to be UTF-8.
  init(checked bytes: Span<UInt8>) {
    // Sound: the buffer is only used inside the call. What were no UTF-8 would be replaced.
    self = unsafe bytes.withUnsafeBufferPointer { unsafe String(decoding: $0, as: UTF8.self) }
  }
}
