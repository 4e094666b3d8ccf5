internal import Registration

/// A digest of what may be large, where many are kept.
///
/// Two things that differ have one digest as good as never, and no file can bring it about: hashes are
/// seeded anew for each run.
struct Digest: Hashable {
  private var halves: SIMD2<Int>

  /// A digest of one value.
  init(of content: some Hashable) {
    var maker = Maker()
    maker.add(content)
    self = maker.digest
  }

  /// Takes in what a digest is made of, piece by piece.
  struct Maker {
    private var hashers = (Hasher(), Hasher())

    init() { hashers.1.combine(1) }

    mutating func add(_ content: some Hashable) {
      hashers.0.combine(content)
      hashers.1.combine(content)
    }

    /// Many bytes at a time: one by one they would take twenty times as long.
    mutating func add(bytes: [UInt8]) {
      // Sound: the hashers read the bytes during the call.
      unsafe bytes.withUnsafeBytes { bytes in
        unsafe hashers.0.combine(bytes: bytes)
        unsafe hashers.1.combine(bytes: bytes)
      }
    }

    var digest: Digest { Digest(halves: SIMD2(hashers.0.finalize(), hashers.1.finalize())) }
  }

  private init(halves: SIMD2<Int>) { self.halves = halves }
}

/// What nothing could tell apart, small enough to keep many.
typealias Identity = Digest

extension Identity {
  /// Those of an entry: a route has as many as its pattern has forms.
  static func all(of record: Record) -> [Self] {
    EntryIdentity.all(of: record).map { Self(of: $0) }
  }
}
