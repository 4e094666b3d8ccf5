/// The hash under which names are looked for: of their bytes, and of the kind of what they name.
///
/// Names that `String` takes for equal have one hash, however their accents are encoded.
package enum NameHash {
  /// The hash of a name, as a record spells it.
  package static func of(_ name: Span<UInt8>, _ kind: RecordKind) -> UInt32 {
    var hash = UInt64(kind.rawValue) &* 0x9E37_79B9_7F4A_7C15 ^ UInt64(name.count)
    var (start, bits) = (0, UInt64(0))
    while start + 8 <= name.count {
      let word = name.word(at: start)
      hash = mixed(hash, word)
      bits |= word
      start += 8
    }
    if start < name.count {
      // The last eight bytes, some of them for the second time; a short name byte by byte.
      let word = name.count >= 8 ? name.word(at: name.count - 8) : name.shortWord
      hash = mixed(hash, word)
      bits |= word
    }
    let isASCII = bits & 0x8080_8080_8080_8080 == 0
    return UInt32(truncatingIfNeeded: isASCII ? hash : equivalent(name, kind))
  }

  private static func equivalent(_ name: Span<UInt8>, _ kind: RecordKind) -> UInt64 {
    var hasher = Hasher()
    hasher.combine(String(checked: name))
    hasher.combine(kind)
    return UInt64(truncatingIfNeeded: hasher.finalize())
  }

  @inline(__always)
  private static func mixed(_ hash: UInt64, _ word: UInt64) -> UInt64 {
    // Both halves of the product: the low one depends on the low bits alone.
    let product = (hash ^ word).multipliedFullWidth(by: 0xD6E8_FEB8_6659_FD93)
    return product.high ^ product.low
  }
}
