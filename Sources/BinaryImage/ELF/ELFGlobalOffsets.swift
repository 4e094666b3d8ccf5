internal import CElf

/// The global offset table of MIPS, which the loader relocates without entries: first local words,
/// then one for each symbol from some number on.
struct ELFGlobalOffsets {
  /// Where the file has it.
  let extent: FileExtent
  /// Its linked address.
  let address: UInt64
  /// `DT_MIPS_LOCAL_GOTNO`: the words that are relative, with those that the loader reserves.
  let locals: UInt64
  /// `DT_MIPS_GOTSYM`.
  let firstSymbol: UInt64

  /// Finds the table of a file; nil where its machine or its dynamic section has none.
  init?(
    of file: OpenedFile, _ header: ELFHeader, _ segments: ELFSegments,
    value: (_ tag: Int64) -> UInt64?
  ) throws(ImageError) {
    guard header.machine == UInt16(EM_MIPS), let start = value(Int64(DT_PLTGOT)),
      let locals = value(Int64(DT_MIPS_LOCAL_GOTNO))
    else { return nil }
    firstSymbol = value(Int64(DT_MIPS_GOTSYM)) ?? 0
    let symbols = value(Int64(DT_MIPS_SYMTABNO)) ?? 0
    let globals = symbols > firstSymbol ? symbols - firstSymbol : 0
    let count = locals.saturating(adding: globals)
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
    // The resolver's word, and with GNU's linker one for the module, which its highest bit tells.
    var reserved: UInt64 = 1
    if table.locals > 1 {
      let second = try ELFTable(.addresses, table.extent, of: file, format).row(1)
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
