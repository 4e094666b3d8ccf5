internal import BinaryImage
internal import LibC

/// The digest of FIPS 180-4, by which a policy lists files.
struct SHA256 {
  private var state = Self.primes.prefix(8).map { Self.fraction(of: $0.squareRoot()) }

  /// The digest of an open file's bytes.
  ///
  /// - Throws: ``ImageError`` where they cannot be read.
  static func digest(of file: OpenedFile) throws(ImageError) -> [UInt8] {
    var sum = SHA256()
    var offset: UInt64 = 0
    while file.size - offset >= 64 {
      let count = min(1 << 16, (file.size - offset) & ~63)
      sum.add(try file.read(at: offset, count: Int(count)))
      offset += count
    }
    return sum.finished(
      with: try file.read(at: offset, count: Int(file.size - offset)), of: file.size)
  }

  /// Adds whole blocks of 64 bytes.
  private mutating func add(_ bytes: [UInt8]) {
    for start in stride(from: 0, to: bytes.count, by: 64) { mix(bytes[start..<start + 64]) }
  }

  private func finished(with rest: [UInt8], of size: UInt64) -> [UInt8] {
    var sum = self
    var last = rest + [0x80]
    last += [UInt8](repeating: 0, count: (120 - last.count % 64) % 64)
    last += (0..<8).map { UInt8(truncatingIfNeeded: (size &* 8) >> UInt64(56 - 8 * $0)) }
    sum.add(last)
    return sum.state.flatMap { word in
      (0..<4).map { UInt8(truncatingIfNeeded: word >> UInt32(24 - 8 * $0)) }
    }
  }

  private mutating func mix(_ block: ArraySlice<UInt8>) {
    var words = (0..<16).map { index in
      block[(block.startIndex + 4 * index)..<(block.startIndex + 4 * index + 4)]
        .reduce(0) { $0 << 8 | UInt32($1) }
    }
    for index in 16..<64 {
      let (early, late) = (words[index - 15], words[index - 2])
      let first = early.rotated(7) ^ early.rotated(18) ^ early >> 3
      let second = late.rotated(17) ^ late.rotated(19) ^ late >> 10
      words.append(words[index - 16] &+ first &+ words[index - 7] &+ second)
    }
    var (a, b, c, d) = (state[0], state[1], state[2], state[3])
    var (e, f, g, h) = (state[4], state[5], state[6], state[7])
    for index in 0..<64 {
      let choice = e & f ^ ~e & g
      let majority = a & b ^ a & c ^ b & c
      let first =
        h &+ (e.rotated(6) ^ e.rotated(11) ^ e.rotated(25)) &+ choice
        &+ Self.constants[index] &+ words[index]
      let second = (a.rotated(2) ^ a.rotated(13) ^ a.rotated(22)) &+ majority
      (h, g, f, e) = (g, f, e, d &+ first)
      (d, c, b, a) = (c, b, a, first &+ second)
    }
    for (index, word) in [a, b, c, d, e, f, g, h].enumerated() { state[index] &+= word }
  }

  // The constants come from the roots of the first 64 primes.
  private static let primes = (2...311).filter { number in
    (2..<number).allSatisfy { number % $0 > 0 }
  }.map(Double.init)
  private static let constants = primes.map { fraction(of: cbrt($0)) }

  /// The first 32 bits behind the point.
  private static func fraction(of number: Double) -> UInt32 {
    UInt32((number - number.rounded(.down)) * 0x1p32)
  }
}

extension UInt32 {
  fileprivate func rotated(_ count: UInt32) -> UInt32 { self >> count | self << (32 - count) }
}
