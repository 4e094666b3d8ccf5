internal import CElf

/// How the loader finds the symbols of a file by their names: `DT_GNU_HASH`, else `DT_HASH`.
struct ELFSymbolHash {
  /// How many symbols can be found, those before them included.
  let count: UInt32
  /// Nil where only the old table is there, or none.
  private let table: Table?

  /// More symbols than any file has.
  private static let mostSymbols: UInt64 = 1 << 22

  /// Where the parts of `DT_GNU_HASH` are.
  private struct Table {
    var first, shift, filterSize: UInt32
    var filter, buckets, chains: [UInt8]
  }

  /// Reads the table of a file.
  init(of image: ELFFile) throws(ImageError) {
    guard let dynamic = try image.dynamic() else {
      (count, table) = (0, nil)
      return
    }
    // The old table says how many symbols there are; the new one only where the last one is.
    let old = image.header.machine == UInt16(EM_ALPHA) ? nil : dynamic.value(Int64(DT_HASH))
    let claimed = try old.map { address throws(ImageError) in
      try Self.checked(UInt64(image.number(address, 1)), of: image)
    }
    guard let address = dynamic.value(Int64(DT_GNU_HASH)) else {
      (count, table) = (claimed ?? 0, nil)
      return
    }
    let buckets = UInt64(try image.number(address, 0))
    let first = UInt64(try image.number(address, 1))
    let filterSize = UInt64(try image.number(address, 2))
    _ = try Self.checked(max(buckets, first, filterSize), of: image)
    func part(_ start: UInt64, _ size: UInt64) throws(ImageError) -> [UInt8] {
      size == 0
        ? []
        : try image.bytes(at: VirtualAddress(rawValue: address &+ start), count: Int(size))
    }
    let filter = try part(16, filterSize * UInt64(image.header.wordSize))
    let bucketStart = 16 + UInt64(filter.count)
    let bucketBytes = try part(bucketStart, 4 * buckets)
    var last: UInt64 = 0
    for bucket in 0..<Int(buckets) {
      let start: UInt32? = bucketBytes.span.integer(at: 4 * bucket, order: image.header.order)
      last = max(last, UInt64(start ?? 0))
    }
    let chainStart = bucketStart + 4 * buckets
    var end = first
    if last >= first {
      // The last one of a bucket has the lowest bit set.
      while try image.number(address &+ chainStart, last - first) & 1 == 0 {
        last = UInt64(try Self.checked(last + 1, of: image))
      }
      end = UInt64(try Self.checked(last + 1, of: image))
    }
    count = claimed ?? UInt32(end)
    table = Table(
      first: UInt32(first), shift: try image.number(address, 3), filterSize: UInt32(filterSize),
      filter: filter, buckets: bucketBytes,
      chains: try part(chainStart, 4 * (end - first)))
  }

  /// A number of symbols that a file may have.
  static func checked(_ count: UInt64, of image: ELFFile) throws(ImageError) -> UInt32 {
    try image.file.check(count <= mostSymbols, .malformed, "It claims \(count) symbols.")
    return UInt32(count)
  }

  /// The symbols that may have the name; nil where only reading all of them tells.
  func candidates(for name: String, in header: ELFHeader) -> [UInt32]? {
    guard let table else { return nil }
    var hash: UInt32 = 5381
    for byte in name.utf8 { hash = hash &* 33 &+ UInt32(byte) }
    let bits = UInt32(header.bits)
    if table.filterSize > 0 {
      let word = table.filter.span.word(
        at: Int((hash / bits) % table.filterSize) * header.wordSize, bits: header.bits,
        order: header.order)
      let mask: UInt64 = 1 << UInt64(hash % bits) | 1 << UInt64((hash >> (table.shift & 31)) % bits)
      guard let word, word & mask == mask else { return [] }
    }
    let buckets = UInt32(table.buckets.count / 4)
    guard buckets > 0,
      let start: UInt32 = table.buckets.span.integer(
        at: Int(hash % buckets) * 4, order: header.order), start >= table.first
    else { return [] }
    var found: [UInt32] = []
    var number = start
    while true {
      let chained: UInt32? = table.chains.span.integer(
        at: Int(number - table.first) * 4, order: header.order)
      guard let chained else { return found }
      if chained | 1 == hash | 1 { found.append(number) }
      if chained & 1 == 1 { return found }
      number += 1
    }
  }
}

extension ELFFile {
  /// The 32-bit number so many numbers behind an address.
  fileprivate func number(_ address: UInt64, _ index: UInt64) throws(ImageError) -> UInt32 {
    let place = VirtualAddress(rawValue: address &+ 4 &* index)
    return UInt32(header.order.number(of: try bytes(at: place, count: 4)[...]))
  }
}
