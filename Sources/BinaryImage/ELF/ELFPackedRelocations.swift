internal import CElf

/// The encodings that libelf has no rows for. `DT_RELR` and `SHT_CREL` are newer than libelf, only Android uses its
/// packings, and versions of libelf disagree about the `r_info` of mips64el. libelf still gives the words in the right
/// order.
extension ELFRelocationCollector {
  /// Decodes `DT_RELR`: an even word is an address, an odd one a bitmap of the words after it.
  mutating func collectBitmaps(_ table: ELFRelocationTable) throws(ImageError) {
    let bits = UInt64(format.bits)
    let word = bits / 8
    let covered = word * (bits - 1)
    var next: UInt64?
    let rows = ELFTable(.addresses, table.bytes, of: file, format)
    for index in 0..<rows.count {
      let value = try rows.row(index)
      if value & 1 == 0 {
        consider(value, symbol: 0, type: 0, 0, .relr)
        next = value &+ word
        continue
      }
      guard let base = next else {
        throw file.error(
          .malformed, "The packed relocations start with a bitmap.", at: table.bytes.offset)
      }
      next = base &+ covered
      guard
        ranges.mayOverlap(base, base &+ covered)
          || survey?.mayConcern(base, base &+ covered) == true
      else { continue }
      var bitmap = value >> 1
      while bitmap != 0 {
        let index = UInt64(bitmap.trailingZeroBitCount)
        consider(base &+ index * word, symbol: 0, type: 0, 0, .relr)
        bitmap &= bitmap - 1
      }
    }
  }

  /// Decodes entries whose `r_info` is read as it is in the file: place, what to write, addend.
  mutating func collectRaw(_ table: ELFRelocationTable) throws(ImageError) {
    let isExplicit = table.encoding == .rela
    let width = isExplicit ? 3 : 2
    let rows = ELFTable(.addresses, table.bytes, of: file, format)
    for index in 0..<rows.count / width {
      let start = index * width
      let (place, info) = (try rows.row(start), try rows.row(start + 1))
      let (symbol, type) = machine.split(raw: info)
      consider(
        place, symbol: symbol, type: type, isExplicit ? try rows.row(start + 2) : 0,
        isExplicit ? .rela : .rel)
    }
  }

  /// Decodes `SHT_CREL`: a count, then for each entry its differences from the entry before.
  mutating func collectDifferences(_ table: ELFRelocationTable) throws(ImageError) {
    var reader = LEBReader(try packedBytes(table), of: file, "the packed relocations")
    let header = try reader.unsigned()
    let isExplicit = header & 4 != 0
    let flagBits: UInt64 = isExplicit ? 3 : 2
    let shift = header & 3
    var (place, addend): (UInt64, UInt64) = (0, 0)
    var (symbol, type): (UInt32, UInt32) = (0, 0)
    var left = header >> 3
    while left > 0 {
      left -= 1
      let first = UInt64(try reader.byte())
      place &+= first >> flagBits
      if first >= 0x80 {
        place &+= (try reader.unsigned() << (7 - flagBits)) &- (0x80 >> flagBits)
      }
      if first & 1 != 0 { symbol &+= UInt32(truncatingIfNeeded: try reader.difference()) }
      if first & 2 != 0 { type &+= UInt32(truncatingIfNeeded: try reader.difference()) }
      if isExplicit, first & 4 != 0 { addend &+= try reader.difference() }
      consider(place << shift, symbol: symbol, type: type, addend, isExplicit ? .rela : .rel)
    }
  }

  /// Decodes `DT_ANDROID_RELA` and `DT_ANDROID_REL`: groups of entries with fields in common.
  mutating func collectGroups(_ table: ELFRelocationTable) throws(ImageError) {
    let bytes = try packedBytes(table)
    try file.check(
      bytes.starts(with: "APS2".utf8), .malformed, "The packed relocations lack their magic.",
      at: table.bytes.offset)
    var reader = LEBReader(bytes, of: file, "the packed relocations", at: 4)
    var left = try reader.signed()
    var place = try reader.difference()
    var (info, addend): (UInt64, UInt64) = (0, 0)
    // A group needs no byte per entry, but every entry writes a word of the file.
    try file.check(
      0...Int64(most) ~= left, .malformed,
      "\(left) packed relocations are more than the file can have.", at: table.bytes.offset)
    while left > 0 {
      let size = try reader.signed()
      let flags = try reader.signed()
      let (sharesInfo, sharesStep) = (flags & 1 != 0, flags & 2 != 0)
      let (sharesAddend, hasAddend) = (flags & 4 != 0, flags & 8 != 0)
      try file.check(
        size > 0 && size <= left, .malformed,
        "A group of packed relocations is too large or empty.")
      left -= size
      let step = sharesStep ? try reader.difference() : 0
      if sharesInfo { info = try reader.difference() }
      if sharesAddend, hasAddend { addend &+= try reader.difference() }
      if !hasAddend { addend = 0 }
      for _ in 0..<size {
        place &+= sharesStep ? step : try reader.difference()
        if !sharesInfo { info = try reader.difference() }
        if hasAddend, !sharesAddend { addend &+= try reader.difference() }
        let (symbol, type) = machine.split(raw: info)
        consider(
          place, symbol: symbol, type: type, addend,
          table.encoding == .androidRela ? .rela : .rel)
      }
    }
  }

  private func packedBytes(_ table: ELFRelocationTable) throws(ImageError) -> [UInt8] {
    switch table.bytes {
    case .inflated(let bytes): return bytes
    case .stored(let extent):
      try file.check(
        extent.size <= 1 << 28 && file.stores(extent.size), .malformed,
        "The packed relocations claim \(extent.size) bytes.", at: extent.offset)
      return try file.read(at: extent.offset, count: Int(extent.size))
    }
  }
}

/// The global offset table of MIPS, which the loader relocates without entries: first local words,
/// then one for each symbol from some number on.
struct ELFGlobalOffsets {
  /// Its location in the file.
  let extent: FileExtent
  /// Its linked address.
  let address: UInt64
  /// `DT_MIPS_LOCAL_GOTNO`: the words that are relative, with those that the loader reserves.
  let locals: UInt64
  /// `DT_MIPS_GOTSYM`.
  let firstSymbol: UInt64
  /// The numbers of the symbols that have a word.
  let symbols: Range<UInt64>

  /// Finds the table of a file; nil if its machine or its dynamic section has none.
  init?(
    of file: OpenedFile, _ header: ELFHeader, _ segments: ELFSegments,
    value: (_ tag: Int64) -> UInt64?
  ) throws(ImageError) {
    guard header.machine == UInt16(EM_MIPS), let start = value(Int64(DT_PLTGOT)),
      let locals = value(Int64(DT_MIPS_LOCAL_GOTNO))
    else { return nil }
    firstSymbol = value(Int64(DT_MIPS_GOTSYM)) ?? 0
    symbols = firstSymbol..<max(firstSymbol, value(Int64(DT_MIPS_SYMTABNO)) ?? 0)
    let count = locals.saturating(adding: symbols.upperBound - firstSymbol)
    let (size, overflow) = count.multipliedReportingOverflow(by: UInt64(header.wordSize))
    guard !overflow,
      let extent = segments.extent(from: VirtualAddress(rawValue: start), size: size),
      file.holds(extent.offset, size), file.stores(size)
    else {
      throw file.error(
        .truncated,
        "The dynamic section names a global offset table of \(count) words at "
          + "\(start.hexadecimal), which no segment of the file holds.")
    }
    (self.locals, self.extent, address) = (locals, extent, start)
  }
}

extension ELFRelocationCollector {
  /// Makes a relocation of each wanted word, as the loader does.
  mutating func collect(_ table: ELFGlobalOffsets) throws(ImageError) {
    guard let types = machine.relocationTypes else { return }
    let word = UInt64(format.bits / 8)
    // The resolver's word is reserved. GNU's linker reserves one for the module too, marked by its highest bit.
    var reserved: UInt64 = 1
    if table.locals > 1 {
      let second = try ELFTable(.addresses, .stored(table.extent), of: file, format).row(1)
      if second >> UInt64(format.bits - 1) != 0 { reserved = 2 }
    }
    var index = reserved
    while index < table.extent.size / word {
      let place = table.address &+ index * word
      if ranges.contains(place) {
        let isLocal = index < table.locals
        let symbol = isLocal ? 0 : table.firstSymbol &+ (index - table.locals)
        consider(
          place, symbol: UInt32(truncatingIfNeeded: symbol),
          type: (isLocal ? types.relative : types.table).first,
          0, .rel)
      }
      index += 1
    }
  }
}
