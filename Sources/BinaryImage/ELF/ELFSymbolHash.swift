internal import CElf

/// The table that leads the loader from names to symbols of a file: `DT_GNU_HASH`, else `DT_HASH`.
///
/// libelf converts the words of both tables, but has no call that looks a name up in them.
struct ELFSymbolHash {
  /// The number of symbols that can be found, together with the symbols before them.
  let count: UInt32
  /// Whether a table leads to any symbol of the file: without one the loader finds none.
  let isUsed: Bool
  /// Nil if there is only the old table, or none.
  private let table: Table?
  /// The rows of chains that may still be walked: a hostile file has all symbols in one chain.
  private var budget = 1 << 20
  /// The additional rows for each name that is looked up; linkers make chains of a few symbols.
  private static let rowsPerName = 128

  /// The parts of `DT_GNU_HASH`.
  private struct Table {
    var first, shift, filterSize: UInt32
    var filter: ELFTable<UInt64>
    var buckets, chains: ELFTable<UInt32>
  }

  /// Reads the table of a file.
  init(of image: ELFFile) throws(ImageError) {
    guard let dynamic = try image.dynamic() else {
      (count, isUsed, table) = (0, false, nil)
      return
    }
    // The old table has the number of symbols; the new one only leads to the last symbol.
    let claimed = try dynamic.value(Int64(DT_HASH)).map { address throws(ImageError) in
      // Its words are as wide as an address on two machines.
      let isWide = [EM_ALPHA, EM_S390].contains(Int32(image.header.machine))
      return try image.checked(
        symbols: isWide
          ? image.rows(.addresses, at: address).row(1)
          : UInt64(image.rows(.words, at: address).row(1)))
    }
    guard let address = dynamic.value(Int64(DT_GNU_HASH)) else {
      (count, isUsed, table) = (claimed ?? 0, claimed ?? 0 > 0, nil)
      return
    }
    // Buckets, the first symbol, words of the filter, its shift; the filter, the buckets, and the chains.
    let head = try image.rows(.words, at: address)
    let (buckets, first) = (try head.row(0), try head.row(1))
    let (filterSize, shift) = (try head.row(2), try head.row(3))
    _ = try image.checked(symbols: UInt64(max(buckets, first, filterSize)))
    let filterStart = address &+ 4 * UInt64(MemoryLayout<UInt32>.size)
    let bucketStart = filterStart &+ UInt64(filterSize) * UInt64(image.header.wordSize)
    let chainStart = bucketStart &+ UInt64(buckets) * UInt64(MemoryLayout<UInt32>.size)
    let bucketTable = try image.rows(.words, at: bucketStart, count: Int(buckets))
    var last: UInt32 = 0
    for index in 0..<bucketTable.count { last = max(last, try bucketTable.row(index)) }
    isUsed = last > 0
    var end = UInt64(first)
    let chains = last >= first ? try image.rows(.words, at: chainStart) : nil
    if let chains {
      // The last symbol of a bucket has the lowest bit set.
      while try chains.row(Int(last - first)) & 1 == 0 {
        last = try image.checked(symbols: UInt64(last) + 1)
      }
      end = UInt64(try image.checked(symbols: UInt64(last) + 1))
    }
    count = claimed ?? UInt32(end)
    table = Table(
      first: first, shift: shift, filterSize: filterSize,
      filter: try image.rows(.addresses, at: filterStart, count: Int(filterSize)),
      buckets: bucketTable,
      chains: try image.rows(.words, at: chainStart, count: Int(end - UInt64(first))))
  }

  /// Returns the symbols that may have the name; nil if only reading all symbols tells.
  mutating func candidates(for name: String, in image: ELFFile) throws(ImageError) -> [UInt32]? {
    guard let table else { return nil }
    budget += Self.rowsPerName
    var hash: UInt32 = 5381
    for byte in name.utf8 { hash = hash &* 33 &+ UInt32(byte) }
    let bits = UInt32(image.header.bits)
    if table.filterSize > 0 {
      let word = try table.filter.row(Int((hash / bits) % table.filterSize))
      let mask: UInt64 = 1 << UInt64(hash % bits) | 1 << UInt64((hash >> (table.shift & 31)) % bits)
      guard word & mask == mask else { return [] }
    }
    guard table.buckets.count > 0 else { return [] }
    let start = try table.buckets.row(Int(hash) % table.buckets.count)
    guard start >= table.first else { return [] }
    var found: [UInt32] = []
    var number = start
    while Int(number - table.first) < table.chains.count {
      budget -= 1
      try image.file.check(
        budget >= 0, .malformed,
        "Too many symbols share a chain of the hash table (DT_GNU_HASH); link the file again.")
      let chained = try table.chains.row(Int(number - table.first))
      if chained | 1 == hash | 1 { found.append(number) }
      if chained & 1 == 1 { break }
      number += 1
    }
    return found
  }
}

extension ELFFile {
  /// Returns the rows at an address: `count`, or all to the end of the segment.
  fileprivate func rows<Row>(
    _ rows: ELFRows<Row>, at address: UInt64, count: Int? = nil
  ) throws(ImageError) -> ELFTable<Row> {
    guard count != 0 else {
      return ELFTable(rows, .inflated([]), of: file, header.format)
    }
    let place = VirtualAddress(rawValue: address)
    let size = UInt64(rows.size(in: header.format))
    let extent = try segments().extent(from: place)
    guard let extent, count.map({ UInt64($0) <= extent.size / size }) ?? true else {
      throw file.outsideSegments(place)
    }
    return ELFTable(
      rows,
      .stored(
        FileExtent(offset: extent.offset, size: count.map { UInt64($0) * size } ?? extent.size)),
      of: file, header.format)
  }
}
